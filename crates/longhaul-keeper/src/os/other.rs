//! Everything but Linux: builds, opens files safely, and refuses what it can not do.
//!
//! Unsupported: foreign processes (listing, handles, environments) and the boot id, so a keeper starts no agent here.
//! Weaker: the executable is reached by its path, so replacing it while a worker runs is noticed by the next keeper.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::libc;
use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;

use super::Seen;
use super::walk::open_step_by_step;
use crate::tree::process::Process;

/// What cannot be done here, and what is never known: each function ignores its arguments.
macro_rules! answers {
    ($($name:ident($($argument:ty),*) -> $type:ty = $answer:expr;)+) => {
        $(pub(crate) fn $name($(_: $argument),*) -> $type {
            $answer
        })+
    };
}

answers! {
    boot_id() -> io::Result<String> = Err(unsupported());
    adopt_orphans() -> io::Result<()> = Err(unsupported());
    rank_for_memory(u32) -> io::Result<()> = Err(unsupported());
    forbid_inspection() -> io::Result<()> = Err(unsupported());
    processes() -> io::Result<Vec<Seen>> = Err(unsupported());
    process(u32) -> io::Result<Option<Seen>> = Err(unsupported());
    control_groups(u32) -> Option<String> = None;
    pid_namespace(u32) -> Option<u64> = None;
    working_directory(u32) -> Option<PathBuf> = None;
    children() -> Vec<u32> = Vec::new();
    since_boot() -> Duration = Duration::ZERO;
    start_since_boot(&Process) -> Duration = Duration::ZERO;
    processor_time(u32) -> Option<Duration> = None;
    processor_time_of_children() -> Duration = Duration::ZERO;
    environment(u32) -> Option<Vec<u8>> = None;
    command_line(u32) -> Option<Vec<u8>> = None;
    is_starting(u32) -> bool = false;
    // There are no namespaces.
    shares_namespaces(u32) -> io::Result<bool> = Ok(true);
}

/// Can not be done: there are no control groups.
///
/// # Safety
///
/// Does nothing.
pub(crate) unsafe fn fork_into(_group: BorrowedFd<'_>) -> Option<i32> {
    None
}

/// The number of the calling process.
pub(crate) fn own_number() -> u32 {
    std::process::id()
}

/// Closes the descriptors a program is at all likely to have inherited.
pub(crate) fn close_strange_descriptors() -> io::Result<()> {
    for descriptor in 3..1024 {
        // SAFETY: called first thing in a fresh process, which owns no descriptor object yet.
        unsafe { libc::close(descriptor) };
    }
    Ok(())
}

/// A pipe (read end, write end) that no exec inherits.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe()?;
    fcntl_setfd(&read, FdFlags::CLOEXEC)?;
    fcntl_setfd(&write, FdFlags::CLOEXEC)?;
    Ok((read, write))
}

/// Unsupported: can not be made.
#[derive(Debug)]
pub(crate) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Unsupported.
    pub(crate) fn open(_pid: u32) -> io::Result<Option<ProcessHandle>> {
        Err(unsupported())
    }

    /// Unsupported.
    pub(crate) fn signal(&self, _signal: Signal) -> io::Result<bool> {
        Err(unsupported())
    }

    /// The descriptor.
    pub(crate) fn into_descriptor(self) -> OwnedFd {
        self.0
    }
}

/// Opens our own executable by its path.
pub(crate) fn own_executable() -> io::Result<File> {
    File::open(std::env::current_exe()?)
}

/// The path under which a child of ours executes that file.
pub(crate) fn path_of_executable(_file: &File, opened: &Path) -> PathBuf {
    opened.to_owned()
}

/// The path under which another process executes that file.
pub(crate) fn path_for_others(_file: &File, opened: &Path) -> PathBuf {
    opened.to_owned()
}

/// The path of a file in a directory; there is no shorter one.
pub(crate) fn short_path(_directory: &File, path: &Path, name: &str) -> PathBuf {
    path.join(name)
}

/// Opens `path` below `directory`: never outside, never through a symbolic link.
pub(crate) fn open_beneath(directory: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    open_step_by_step(directory, path, flags, mode)
}

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "sessions run only on Linux so far")
}
