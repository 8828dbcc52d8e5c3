//! A program that leads its own process group: whether it has ended, and how to end all of it.
//! Used by effects that run a program and may have to give it up. Starts nothing, and waits for nothing but a killed program.

use std::io;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Looks without reaping: until then nobody else can get its number, which is also its group's.
pub(super) fn has_ended(leader: &Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(leader)), options)?.is_some())
}

/// Kills what is left of the group, and reaps its leader.
pub(super) fn end(leader: &mut Child) -> io::Result<ExitStatus> {
    kill_process_group(Pid::from_child(leader), Signal::KILL).ok();
    leader.wait()
}
