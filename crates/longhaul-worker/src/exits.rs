//! Waiting for the exit of a process that is nobody's child here. For the unit tests beside it only.
//! Never looks again and again: the kernel tells.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Whether a process has exited, or does so within this time.
pub(crate) fn exits(pid: &str, patience: Duration) -> bool {
    let pid = pid.trim().parse().ok().and_then(Pid::from_raw).expect("the number of a process");
    // One that is not there any more cannot be opened; one that is tells its exit.
    let Ok(exit) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let patience = Timespec::try_from(patience).expect("a short time");
    poll(&mut [PollFd::new(&exit, PollFlags::IN)], Some(&patience)).expect("a descriptor can be asked") == 1
}

#[test]
fn the_living_have_not_exited() {
    assert!(!exits(&std::process::id().to_string(), Duration::ZERO));
}
