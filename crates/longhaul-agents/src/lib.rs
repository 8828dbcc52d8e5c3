//! How to launch and read each coding agent, as data and pure functions. One file per agent, one line in [`AGENTS`].
//!
//! The worker asks for a [`Launch`] and feeds lines; nothing here starts a process, reads a file or asks the time.

mod about;
mod agent;
mod chosen;
mod claude;
mod clock_text;
mod codex;
mod custom;
mod declared;
mod demo;
mod gemini;
mod json_line;
mod launch;
mod mark;
mod opencode;
mod outcome;
mod pi;
mod reading;
#[cfg(test)]
mod tests;
mod text;

pub use about::{About, AgentHome, Cost, Ids, Login, Mode, Modes, Version, Words};
pub use agent::{Agent, ProviderKeys, Transcript};
pub use chosen::{Chosen, UnknownAgent, account, choose, find};
pub use custom::PLACEHOLDERS;
pub use declared::{BUILT_IN_KEYS, BadDeclaration, CUSTOM_KEYS, Declared, DeclaredKey, Takes};
pub use launch::{Interactive, Launch, LaunchSpec, Network, SessionServer, Stdin, User};
pub use reading::{End, Moment, Reader, Reading, Shown, TurnEnd};
pub use text::conversation_id;

/// Every agent. Help, completions and the docs table are made from it.
pub const AGENTS: &[&dyn Agent] =
    &[&codex::Codex, &claude::Claude, &opencode::OpenCode, &pi::Pi, &gemini::Gemini, &demo::Demo];
