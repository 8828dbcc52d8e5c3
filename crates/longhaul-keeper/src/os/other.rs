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

/// Unsupported.
pub(crate) fn boot_id() -> io::Result<String> {
    Err(unsupported())
}

/// Unsupported.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Err(unsupported())
}

/// Can not be done: there are no control groups.
///
/// # Safety
///
/// Does nothing.
pub(crate) unsafe fn fork_into(_group: BorrowedFd<'_>) -> Option<i32> {
    None
}

/// Unsupported.
pub(crate) fn rank_for_memory(_program: u32) -> io::Result<()> {
    Err(unsupported())
}

/// Unsupported.
pub(crate) fn forbid_inspection() -> io::Result<()> {
    Err(unsupported())
}

/// Never readable.
pub(crate) fn control_groups(_pid: u32) -> Option<String> {
    None
}

/// There are no such namespaces.
pub(crate) fn pid_namespace(_pid: u32) -> Option<u64> {
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

/// Unsupported.
pub(crate) fn processes() -> io::Result<Vec<Seen>> {
    Err(unsupported())
}

/// Never known.
pub(crate) fn working_directory(_pid: u32) -> Option<std::path::PathBuf> {
    None
}

/// Never known.
pub(crate) fn children() -> Vec<u32> {
    Vec::new()
}

/// Unsupported.
pub(crate) fn process(_pid: u32) -> io::Result<Option<Seen>> {
    Err(unsupported())
}

/// Never known.
pub(crate) fn since_boot() -> Duration {
    Duration::ZERO
}

/// Never known.
pub(crate) fn start_since_boot(_process: &Process) -> Duration {
    Duration::ZERO
}

/// Never known.
pub(crate) fn processor_time(_pid: u32) -> Option<Duration> {
    None
}

/// Never known.
pub(crate) fn processor_time_of_children() -> Duration {
    Duration::ZERO
}

/// Never readable.
pub(crate) fn environment(_pid: u32) -> Option<Vec<u8>> {
    None
}

/// Nobody can tell.
pub(crate) fn is_starting(_pid: u32) -> bool {
    false
}

/// Never readable.
pub(crate) fn command_line(_pid: u32) -> Option<Vec<u8>> {
    None
}

/// There are no namespaces.
pub(crate) fn shares_namespaces(_pid: u32) -> io::Result<bool> {
    Ok(true)
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
