//! How to launch and read each coding agent, as data and pure functions. One file per agent, one line in [`AGENTS`].
//!
//! The worker asks for a [`Launch`] and feeds lines; nothing here starts a process, reads a file or asks the time.

mod agent;
mod demo;

pub use agent::{About, Agent, Launch, LaunchSpec, Reader, Reading, Shown, StopSignal, StopStep, UnknownAgent};

/// Every agent. Help, completions and the docs table grow from it.
pub const AGENTS: &[&dyn Agent] = &[&demo::Demo];

/// The agent of this name, or the names there are.
pub fn find(name: &str) -> Result<&'static dyn Agent, UnknownAgent> {
    agent::find(AGENTS, name)
}
