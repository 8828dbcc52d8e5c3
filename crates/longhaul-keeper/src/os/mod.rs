//! Everything that differs between operating systems, and the only unsafe code of the project.
//!
//! `launch` (fork, signal handlers, sessions) is the same on every Unix. `linux` knows `/proc`, pidfds, the subreaper
//! and `openat2`. `other` builds everywhere else with the same interface: it opens files as safely, but says
//! "unsupported" to everything about foreign processes, so a keeper there refuses to start an agent.
#![expect(unsafe_code, reason = "fork, exec and signal handlers have no safe interface")]

mod launch;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
mod walk;

pub(crate) use launch::{
    Gated, Inherited, Launch, Signals, Stage, Streams, detach, dumped_core, fork_behind_gate, pass_on,
    raise_descriptor_limit, read_complaint, settle,
};
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

/// One process as a scan saw it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// Which process it is.
    pub(crate) process: crate::tree::process::Process,
    /// Its parent at that moment.
    pub(crate) parent: u32,
    /// False for a zombie that only waits to be reaped.
    pub(crate) alive: bool,
    /// Stopped by a signal: it can not answer until it is continued.
    pub(crate) stopped: bool,
}
