//! The keeper's life from start to end record: `longhaul keep <session-dir>`.
//!
//! Order is everything here: lock, then fork, then `identity` on disk, then exec; wait, then `exit` on disk, then the
//! end of the tree, then logs synced, then `end`. It must be the first thing its process does, and it prints nothing:
//! what it has to say is in the session directory and in its exit code.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use longhaul_core::causes::with_causes;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::clock::now;
use crate::contract::{
    CONTRACT_VERSION, Containment, EndRecord, ExitRecord, ExitStatus, Identity, RecordError, Spec, Why, record_bytes,
};
use crate::fail_point::reach;
use crate::files::{replace, wants_resources, wants_room, write_once};
use crate::launch::{LaunchError, open_input, prepare};
use crate::layout::{BadSessionDir, END, EXIT, IDENTITY, LOCK, REVOKED, SessionDir};
use crate::log::writer::{LogTotals, Logs};
use crate::os::{self, Gated, Inherited, Launch, Signals, Stage, Streams};
use crate::pump::{Outputs, Pump};
use crate::tree::cgroup::Cgroup;
use crate::tree::contain::Tree;
use crate::tree::process::{Process, boot_id, own_identity, start_time};

/// Exit code: the session was kept to its end.
pub const KEPT: u8 = 0;
/// Exit code: something failed that could not be written down; the files tell how far it came.
pub const FAILED: u8 = 1;
/// Exit code: the session was revoked or had been run before; nothing was executed.
pub const LEFT_ALONE: u8 = 3;
/// Exit code: the program could not be executed; the exit record says why.
pub const NOT_STARTED: u8 = 4;
/// Exit code: the machine has no room for it now (processes, memory, descriptors, disk); nothing was executed or recorded,
/// so that a later session can try.
pub const DEFERRED: u8 = 5;

/// Keeps the session in this directory to its end. Call it first in a process with one thread and nothing open.
pub fn keep(directory: &Path) -> ExitCode {
    ExitCode::from(run(directory).unwrap_or(FAILED))
}

/// Why there is nothing to write into the session directory any more.
#[derive(Debug, thiserror::Error)]
enum KeepError {
    #[error(transparent)]
    BadDirectory(#[from] BadSessionDir),
    #[error("a system call failed")]
    Io(#[from] io::Error),
}

/// Why the program was not executed.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("the spec cannot be used")]
    Record(#[from] RecordError),
    #[error("the spec is missing")]
    NoSpec,
    #[error("the spec is for session `{session}`")]
    ForeignSpec { session: String },
    #[error("the program cannot be prepared")]
    Launch(#[from] LaunchError),
    #[error("failed to set up the session")]
    Io(#[from] io::Error),
}

fn run(directory: &Path) -> Result<u8, KeepError> {
    let inherited = os::settle()?;
    let directory = SessionDir::at(directory)?;
    let lock = OpenOptions::new().read(true).write(true).open(directory.path().join(LOCK))?;
    lock.lock()?;
    reach("keeper.locked");
    if [REVOKED, IDENTITY, EXIT].iter().any(|name| directory.path().join(name).symlink_metadata().is_ok()) {
        return Ok(LEFT_ALONE);
    }
    match start(&directory, &lock, inherited) {
        Ok(running) => running.keep_to_the_end(&directory),
        Err(StartError::Io(error)) if may_pass(&error) => Ok(DEFERRED),
        Err(error) => {
            record_failed_start(&directory, &error)?;
            Ok(NOT_STARTED)
        }
    }
}

struct Running {
    pump: Pump,
    complaint: OwnedFd,
    launch: Launch,
}

fn start(directory: &SessionDir, lock: &File, inherited: Inherited) -> Result<Running, StartError> {
    os::adopt_orphans()?;
    let spec = read_spec(directory)?;
    let launch_by = |containment| prepare(&spec, std::env::vars_os().collect(), inherited, containment);
    let grouped = launch_by(Containment::Cgroup)?;
    let input = open_input(directory, &spec)?;
    let logs = Logs::create(directory, &spec.caps, crate::log::filter::make(directory, &spec.secret_names))?;
    let (out, output) = os::pipe()?;
    let (err, error) = os::pipe()?;
    for end in [&out, &err] {
        fcntl_setfl(end, fcntl_getfl(end).map_err(io::Error::from)? | OFlags::NONBLOCK).map_err(io::Error::from)?;
    }
    // Before the fork: from now on TERM and INT are heard, not died of.
    let signals = Signals::install()?;
    let streams = Streams { input, output, error };
    let cgroup = Cgroup::create(spec.session, spec.caps.pids_max);
    reach("keeper.grouped");
    let (gated, cgroup, launch) = match cgroup.and_then(|group| fork_into(group, &grouped, &streams, lock)) {
        Some((gated, group)) => (gated, Some(group), grouped),
        None => {
            let loose = launch_by(Containment::Walk)?;
            (os::fork_behind_gate(&loose, &streams, lock.as_fd(), None)?, None, loose)
        }
    };
    drop(streams);
    reach("keeper.forked");
    protect(&gated);
    let identity = match identify(directory, &spec, &gated, cgroup.as_ref()) {
        Ok(identity) => identity,
        Err(error) => {
            drop(gated);
            cgroup.iter().for_each(leave);
            return Err(error.into());
        }
    };
    reach("keeper.identified");
    let complaint = gated.open()?;
    reach("keeper.released");
    let tree = Tree::new(spec.session, Some(identity.keeper), cgroup);
    let pump = Pump::new(&spec, identity.child, Outputs { out, err }, logs, signals, tree);
    Ok(Running { pump, complaint, launch })
}

/// Forks the program into its group, one way or the other. Where neither works there is no group: the child that was forked for it
/// ends at its gate.
fn fork_into(group: Cgroup, launch: &Launch, streams: &Streams, lock: &File) -> Option<(Gated, Cgroup)> {
    let forked = os::fork_behind_gate(launch, streams, lock.as_fd(), Some(group.as_fd()));
    match forked.ok().filter(|gated| gated.is_in_group || group.admit(gated.pid).is_ok()) {
        Some(gated) => Some((gated, group)),
        None => {
            leave(&group);
            None
        }
    }
}

fn leave(group: &Cgroup) {
    group.wait_until_empty(Duration::from_secs(1));
    let _stays_empty = group.remove();
}

/// Puts the program before us when memory runs out, and our memory out of others' sight.
fn protect(gated: &Gated) {
    // Neither is worth a session: lowering our own rank needs a right that most do not have.
    let _ranked = os::rank_for_memory(gated.pid);
    let _hidden = os::forbid_inspection();
}

/// Whether a failed start says something of the machine at this moment, not of the session.
fn may_pass(error: &io::Error) -> bool {
    wants_room(error) || wants_resources(error)
}

fn read_spec(directory: &SessionDir) -> Result<Spec, StartError> {
    let spec = directory.spec()?.ok_or(StartError::NoSpec)?;
    if spec.session == directory.session() {
        Ok(spec)
    } else {
        Err(StartError::ForeignSpec { session: spec.session.to_string() })
    }
}

fn identify(directory: &SessionDir, spec: &Spec, gated: &Gated, cgroup: Option<&Cgroup>) -> io::Result<Identity> {
    let start = start_time(gated.pid)?.ok_or_else(|| io::Error::other("the forked child is not listed"))?;
    let identity = Identity {
        version: CONTRACT_VERSION,
        boot: boot_id()?,
        keeper: own_identity()?,
        child: Process { pid: gated.pid, start },
        session: spec.session,
        epoch: spec.epoch,
        at: now(),
        cgroup: cgroup.map(|group| group.path().to_owned()),
    };
    write_once(directory.path(), IDENTITY, &record_bytes(&identity)?)?;
    Ok(identity)
}

impl Running {
    fn keep_to_the_end(mut self, directory: &SessionDir) -> Result<u8, KeepError> {
        let (waited, why) = match self.pump.run_to_exit() {
            Ok(ended) => ended,
            Err(error) => {
                // A keeper that can no longer watch must not leave an agent behind.
                self.pump.end_tree();
                return Err(error.into());
            }
        };
        let failure = os::read_complaint(&self.complaint).map(|complaint| self.failed_exec(complaint));
        let code = if failure.is_some() { NOT_STARTED } else { KEPT };
        let ran_ms = failure.is_none().then(|| self.pump.ran_ms());
        let exit = ExitRecord { version: CONTRACT_VERSION, status: failure.unwrap_or(waited), why, ran_ms, at: now() };
        reach("keeper.waited");
        let recorded = self.pump.write_with_ballast(|| write_exit(directory, &exit));
        reach("keeper.exited");
        self.pump.drain();
        let (killed_leftovers, tree_empty) = self.pump.end_tree();
        reach("keeper.swept");
        let totals = self.pump.finish();
        if recorded.is_err() {
            // Without this record the end is unknown for good.
            self.pump.write_when_there_is_room(|| write_exit(directory, &exit))?;
        }
        let end = end_record(self.pump.containment(), killed_leftovers, tree_empty, totals);
        self.pump.write_when_there_is_room(|| write_end(directory, &end))?;
        self.pump.remove_reserve();
        reach("keeper.ended");
        Ok(code)
    }

    fn failed_exec(&self, (stage, errno): (Stage, i32)) -> ExitStatus {
        let reason = io::Error::from_raw_os_error(errno);
        let message = match stage {
            Stage::Prepare => format!("failed to set up the process: {reason}"),
            Stage::Directory => format!("failed to enter directory {:?}: {reason}", self.launch.directory),
            Stage::Exec => format!("failed to execute {:?}: {reason}", self.launch.program),
        };
        ExitStatus::ExecFailed { errno: Some(errno), message }
    }
}

fn write_exit(directory: &SessionDir, exit: &ExitRecord) -> io::Result<()> {
    directory.reclaim();
    write_once(directory.path(), EXIT, &record_bytes(exit)?)
}

fn end_record(containment: Containment, killed_leftovers: u32, tree_empty: bool, totals: LogTotals) -> EndRecord {
    EndRecord {
        version: CONTRACT_VERSION,
        out_len: totals.out_len,
        err_len: totals.err_len,
        index_len: totals.index_len,
        killed_leftovers,
        tree_empty,
        gap_bytes: totals.gap_bytes,
        log_error: totals.error,
        sync_failed: totals.sync_failed,
        containment,
        at: now(),
    }
}

fn write_end(directory: &SessionDir, end: &EndRecord) -> io::Result<()> {
    directory.reclaim();
    replace(directory.path(), END, &record_bytes(end)?)
}

fn record_failed_start(directory: &SessionDir, error: &StartError) -> io::Result<()> {
    let status = ExitStatus::ExecFailed { errno: errno_of(error), message: with_causes(error) };
    write_exit(directory, &ExitRecord { version: CONTRACT_VERSION, status, why: Why::Own, ran_ms: None, at: now() })?;
    // Nothing was executed, so the tree is empty and the logs have nothing in them.
    write_end(directory, &end_record(Containment::Walk, 0, true, LogTotals::default()))
}

fn errno_of(error: &StartError) -> Option<i32> {
    match error {
        StartError::Io(error) | StartError::Launch(LaunchError::Prompt(error)) => error.raw_os_error(),
        StartError::Launch(LaunchError::NotFound { .. }) => Some(rustix::io::Errno::NOENT.raw_os_error()),
        _ => None,
    }
}
