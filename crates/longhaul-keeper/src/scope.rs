//! Scopes of the systemd user manager: a process in its own scope is not part of the login that started it, so it outlives that login.
//!
//! Workers start keepers, and the binary starts workers, through [`Executable::spawn`]. A scope is never needed: where one cannot be
//! had the program is started plainly. Without a user manager nothing is asked and nothing is started besides.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::bounded::{Bounded, Keep};
use crate::environment::find_program;
use crate::os;
use crate::spawn::Executable;

/// How long the user manager may take for one scope, and loginctl for an answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Its sockets in the user's runtime directory; either will do.
const SOCKETS: &[&str] = &["systemd/private", "bus"];

/// Which scope a process gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The scope of its parent.
    Plain,
    /// Its own scope, where that is possible.
    OwnScope,
}

/// Whether scopes can be had here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scopes {
    /// Yes.
    Usable,
    /// No user manager answers.
    NoManager,
    /// There is no systemd-run in PATH.
    NoProgram,
    /// The user does not linger. Then a scope is worse than none: the user manager ends with the last login and takes its scopes
    /// along, while what stays in a login's own scope may continue.
    NoLinger,
    /// One was asked for by this process and not given.
    Failed,
}

/// One failure is enough: a manager that does not answer is not asked again by this process.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Whether scopes can be had here; looked up once in the life of a process.
pub fn scopes() -> Scopes {
    match (runner(), FAILED.load(Ordering::Relaxed)) {
        (Ok(_), true) => Scopes::Failed,
        (Ok(_), false) => Scopes::Usable,
        (Err(why), _) => *why,
    }
}

/// Closes every descriptor above the standard three. Call it first in a process that [`Executable::spawn`] started: its starter
/// waits for that.
pub fn close_inherited() -> io::Result<()> {
    os::close_strange_descriptors()
}

impl Executable {
    /// Starts it detached, in a scope of this name if that is wanted and can be had, else plainly. The process is a child of ours
    /// either way. `prepare` sets what the command needs besides; it is called for each command that is tried.
    pub fn spawn(
        &self,
        standing: Standing,
        unit: &str,
        arguments: &[&OsStr],
        prepare: impl Fn(&mut Command) -> io::Result<()>,
    ) -> io::Result<Child> {
        if standing == Standing::OwnScope
            && scopes() == Scopes::Usable
            && let Ok(runner) = runner()
        {
            match self.spawn_in_scope(runner, unit, arguments, &prepare) {
                Ok(child) => return Ok(child),
                Err(_) => FAILED.store(true, Ordering::Relaxed),
            }
        }
        let mut command = self.command(arguments);
        prepare(&mut command)?;
        command.spawn()
    }

    /// With `--scope` systemd-run executes the program itself, so the child stays the same process.
    fn spawn_in_scope(
        &self,
        runner: &Path,
        unit: &str,
        arguments: &[&OsStr],
        prepare: &impl Fn(&mut Command) -> io::Result<()>,
    ) -> io::Result<Child> {
        let (begun, told) = os::pipe()?;
        let mut command = Command::new(runner);
        command.args(["--user", "--scope", "--quiet", "--collect", "--property=Delegate=yes"]);
        command.arg(format!("--unit={unit}")).arg("--").arg(self.path_for_others()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        os::detach(&mut command);
        os::pass_on(&mut command, told);
        prepare(&mut command)?;
        let mut child = command.spawn()?;
        // Our own copy of the pipe's end goes with the command; the other one goes when the program begins, or with its process.
        drop(command);
        if waits_out(&begun) && self.is_run_by(child.id()) {
            return Ok(child);
        }
        child.kill().ok();
        child.wait()?;
        Err(io::Error::other("systemd-run created no scope"))
    }
}

/// Whether everybody has closed the other end within the time.
fn waits_out(begun: &OwnedFd) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(left) = Timespec::try_from(left) else { return false };
        match poll(&mut [PollFd::new(begun, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(ready) => return ready > 0,
            Err(_) => return false,
        }
    }
}

/// The program that makes scopes, or why there are none.
fn runner() -> &'static Result<PathBuf, Scopes> {
    static RUNNER: OnceLock<Result<PathBuf, Scopes>> = OnceLock::new();
    RUNNER.get_or_init(|| {
        if !cfg!(target_os = "linux") || !has_manager() {
            return Err(Scopes::NoManager);
        }
        let program = find_program("systemd-run").ok_or(Scopes::NoProgram)?;
        if lingers() { Ok(program) } else { Err(Scopes::NoLinger) }
    })
}

fn has_manager() -> bool {
    let Some(directory) = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) else { return false };
    let is_socket = |name: &&str| directory.join(name).metadata().is_ok_and(|meta| meta.file_type().is_socket());
    directory.is_absolute() && SOCKETS.iter().any(is_socket)
}

fn lingers() -> bool {
    let Some(program) = find_program("loginctl") else { return false };
    let user = rustix::process::geteuid().as_raw().to_string();
    let mut command = Command::new(program);
    command.args(["show-user", &user, "--property=Linger"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let asked = Bounded::start(&mut command, Vec::new(), [Keep::First(usize::MAX); 2]);
    let answer = asked.and_then(|mut asked| asked.wait_for(PATIENCE)).ok().flatten();
    answer.is_some_and(|answer| answer.status.success() && answer.out.trim_ascii() == b"Linger=yes")
}
