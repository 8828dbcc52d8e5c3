//! The worker's side after a start: what became of a session, and how to stop its keeper.
//!
//! Called by adopting owners and by the spawner after its keeper exited; read verbs never come here, because looking
//! takes the lock. Whoever gets the lock decides: it stays with the caller as a guard until the rest of the tree is
//! ended.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

pub use crate::tree::contain::Swept;
use crate::tree::contain::{Kin, Tree};
use longhaul_core::ids::SessionId;

use crate::contract::{EndRecord, ExitRecord, Identity, RecordError};
use crate::files::write_once;
use crate::layout::{LOCK, REVOKED, SessionDir};
use crate::tree::cgroup::Cgroup;
use crate::tree::process::{Process, boot_id, hold, signal};

/// What became of a session.
#[derive(Debug)]
pub enum SessionStatus {
    /// Somebody holds the lock: a keeper, or another who looks. Ask again later.
    Alive(LiveKeeper),
    /// No keeper ever got so far as to execute anything, and none ever will: the session is revoked.
    NeverStarted(SessionGuard),
    /// The program's end is known. Without `end` its tree may live on: call `end_tree`.
    Ended {
        /// How the program ended.
        exit: ExitRecord,
        /// The keeper's last word, if it came so far.
        end: Option<EndRecord>,
        /// Who was who, if the program was executed at all.
        identity: Option<Identity>,
        /// The lock.
        guard: SessionGuard,
    },
    /// Nobody keeps it, and its records can not be understood: damaged, or of a newer version. Its tree may live on: call
    /// `end_tree`.
    Unreadable {
        /// Which record, and why.
        error: RecordError,
        /// The lock.
        guard: SessionGuard,
    },
    /// The keeper died first: the program's end is unknown and its tree may live on: call `end_tree`.
    Lost {
        /// Who was who.
        identity: Identity,
        /// The lock.
        guard: SessionGuard,
    },
}

/// Why nothing can be said about a session.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// The lock can not be tried or the revocation not written.
    #[error("failed to use `{path}`")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Looks what became of a session, without waiting.
pub fn inspect_session(directory: &SessionDir) -> Result<SessionStatus, InspectError> {
    directory.reclaim();
    let path = directory.path().join(LOCK);
    let io = |source| InspectError::Io { path: path.clone(), source };
    let lock = OpenOptions::new().read(true).write(true).open(&path).map_err(io)?;
    match lock.try_lock() {
        Ok(()) => {}
        // A keeper whose identity we can not read is still a keeper: it may be of a newer version.
        Err(TryLockError::WouldBlock) => {
            return Ok(SessionStatus::Alive(LiveKeeper { identity: directory.identity().ok().flatten() }));
        }
        Err(TryLockError::Error(source)) => return Err(io(source)),
    }
    let guard = SessionGuard { _lock: lock, directory: directory.clone() };
    match records(directory) {
        Err(error) => Ok(SessionStatus::Unreadable { error, guard }),
        Ok((Some(exit), end, identity)) => Ok(SessionStatus::Ended { exit, end, identity, guard }),
        Ok((None, _, Some(identity))) => Ok(SessionStatus::Lost { identity, guard }),
        Ok((None, _, None)) => {
            revoke(directory).map_err(|source| InspectError::Io { path: directory.path().join(REVOKED), source })?;
            remove_group(directory.session());
            Ok(SessionStatus::NeverStarted(guard))
        }
    }
}

type Records = (Option<ExitRecord>, Option<EndRecord>, Option<Identity>);

fn records(directory: &SessionDir) -> Result<Records, RecordError> {
    Ok((directory.exit()?, directory.end()?, directory.identity()?))
}

/// A session whose lock is held by somebody.
#[derive(Debug)]
pub struct LiveKeeper {
    /// Who it is; not there yet if it has just begun.
    pub identity: Option<Identity>,
}

impl LiveKeeper {
    /// A descriptor that becomes readable when the keeper dies; none if it is not known or dead already.
    pub fn pidfd(&self) -> io::Result<Option<OwnedFd>> {
        match &self.identity {
            Some(identity) if identity.boot == boot_id()? => {
                Ok(hold(&identity.keeper)?.map(crate::os::ProcessHandle::into_descriptor))
            }
            _ => Ok(None),
        }
    }
}

/// The lock of a session without a keeper; nobody else can decide about it meanwhile.
#[derive(Debug)]
pub struct SessionGuard {
    _lock: File,
    directory: SessionDir,
}

impl SessionGuard {
    /// Ends what a dead keeper left behind: all in its control group, the program if it is still the same process, all
    /// below it, all marked strays.
    pub fn end_tree(&self, identity: Option<&Identity>) -> io::Result<Swept> {
        let boot = boot_id()?;
        let identity = identity.filter(|identity| identity.boot == boot);
        let session = self.directory.session();
        let recorded = identity.and_then(|identity| identity.cgroup.as_deref());
        let cgroup = recorded.and_then(|path| Cgroup::open(path, session)).or_else(|| Cgroup::find(session));
        let swept = Tree::new(session, identity.map(|identity| identity.child), cgroup).end(|| Kin::Unknown);
        crate::tree::cgroup::remove_forgotten();
        swept
    }
}

/// Ends what carries the marker of a session whose directory is gone or unusable, so that there is no lock to hold.
pub fn end_strays(session: SessionId) -> io::Result<Swept> {
    Tree::new(session, None, Cgroup::find(session)).end(|| Kin::Unknown)
}

/// Who carries the marker of a session, or is below someone who does. Neither the caller nor those above it are counted.
pub fn carriers(session: SessionId) -> io::Result<Vec<Process>> {
    Tree::new(session, None, None).living_members()
}

/// How a keeper is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// By the recipe of its spec (TERM).
    Graceful,
    /// By ending the whole tree at once (INT).
    Immediate,
}

/// What became of a signal to a keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The keeper got it.
    Sent,
    /// The keeper is dead, or of an earlier boot; nobody got it.
    Gone,
}

/// A signal that could not be sent to a living keeper.
#[derive(Debug, thiserror::Error)]
#[error("failed to signal keeper `{pid}`")]
pub struct SignalError {
    /// The keeper.
    pid: u32,
    /// What the system said.
    #[source]
    source: io::Error,
}

/// Asks a keeper to stop its session; harmless to repeat.
pub fn signal_keeper(identity: &Identity, stop: Stop) -> Result<Delivery, SignalError> {
    let failed = |source| SignalError { pid: identity.keeper.pid, source };
    if identity.boot != boot_id().map_err(failed)? {
        return Ok(Delivery::Gone);
    }
    let number = match stop {
        Stop::Graceful => Signal::TERM,
        Stop::Immediate => Signal::INT,
    };
    let sent = signal(&identity.keeper, number).map_err(failed)?;
    Ok(if sent { Delivery::Sent } else { Delivery::Gone })
}

/// Removes the control group of a keeper that died before it could write down who it is.
fn remove_group(session: SessionId) {
    let Some(group) = Cgroup::find(session) else { return };
    // All that can be in it is a fork that waits at a gate nobody will open, and then exits on its own.
    if group.wait_until_empty(Duration::from_secs(1)) {
        let _stays_empty = group.remove();
    }
}

fn revoke(directory: &SessionDir) -> io::Result<()> {
    match write_once(directory.path(), REVOKED, b"") {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
