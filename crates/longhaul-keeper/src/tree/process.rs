//! Who a process is: number, start time and boot together, because a number alone is used again.
//!
//! Called by keepers and workers. Nothing here ever signals by number.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::os;

/// One process of one boot: a later process with the same number has another start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub start: u64,
}

/// Returns the name of this boot; with another one all process numbers on record are void.
pub fn boot_id() -> io::Result<String> {
    // Tests can not reboot; a release build does not look.
    match std::env::var("LONGHAUL_TEST_BOOT_ID") {
        Ok(pretended) if cfg!(debug_assertions) => Ok(pretended),
        _ => os::boot_id(),
    }
}

/// Returns who the calling process is.
pub fn own_identity() -> io::Result<Process> {
    let pid = std::process::id();
    let start = start_time(pid)?.ok_or_else(|| io::Error::other("the calling process is not listed"))?;
    Ok(Process { pid, start })
}

/// Returns when a process started; none if there is no such process.
pub fn start_time(pid: u32) -> io::Result<Option<u64>> {
    Ok(os::process(pid)?.map(|seen| seen.process.start))
}

/// Returns how long a process has lived; none if there is no such process.
pub fn age(pid: u32) -> io::Result<Option<Duration>> {
    Ok(os::process(pid)?.map(|seen| os::since_boot().saturating_sub(os::start_since_boot(&seen.process))))
}

/// A process that works in a directory or below it, if one of this user does.
pub fn works_in(directory: &std::path::Path) -> Option<u32> {
    let seen = os::processes().unwrap_or_default();
    let pids = seen.iter().map(|seen| seen.process.pid);
    pids.filter(|pid| os::working_directory(*pid).is_some_and(|inside| inside.starts_with(directory))).min()
}

/// Whether exactly this process of that boot lives; a zombie does not.
pub fn is_alive(process: &Process, boot: &str) -> io::Result<bool> {
    if boot != boot_id()? {
        return Ok(false);
    }
    Ok(os::process(process.pid)?.is_some_and(|seen| seen.process == *process && seen.alive))
}

/// Opens exactly this process of the current boot; none if it is gone or a zombie.
pub(crate) fn hold(process: &Process) -> io::Result<Option<os::ProcessHandle>> {
    let Some(handle) = os::ProcessHandle::open(process.pid)? else { return Ok(None) };
    // Compared after opening: from here on the handle means this process even if the number is used again.
    let same = os::process(process.pid)?.is_some_and(|seen| seen.process == *process && seen.alive);
    Ok(same.then_some(handle))
}

/// Whether a process sees the same files, network, processes and users as the calling one.
pub fn shares_namespaces(pid: u32) -> io::Result<bool> {
    os::shares_namespaces(pid)
}

/// A descriptor that becomes readable when a child has ended. A child that was not waited for keeps its number, so it is no other's.
pub fn descriptor_of(child: &Child) -> io::Result<OwnedFd> {
    let handle = os::ProcessHandle::open(child.id())?.ok_or_else(|| io::Error::other("the child was waited for"))?;
    Ok(handle.into_descriptor())
}

/// Sends a signal to exactly this process of the current boot; false if it is gone.
pub(crate) fn signal(process: &Process, signal: Signal) -> io::Result<bool> {
    match hold(process)? {
        Some(handle) => handle.signal(signal),
        None => Ok(false),
    }
}

/// Kills exactly this process of the current boot; false if it was gone.
pub fn kill(process: &Process) -> io::Result<bool> {
    signal(process, Signal::KILL)
}

/// Whether a process is stopped (SIGSTOP) and so cannot answer; false if it does not exist.
pub fn is_stopped(pid: u32) -> bool {
    os::process(pid).ok().flatten().is_some_and(|seen| seen.stopped)
}

/// Whether a process has exited, or does so within this time. For tests of processes that are nobody's child here.
pub fn exits_within(pid: u32, patience: Duration) -> io::Result<bool> {
    let Some(handle) = os::ProcessHandle::open(pid)? else { return Ok(true) };
    let descriptor = handle.into_descriptor();
    let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
    Ok(poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&patience))? == 1)
}
