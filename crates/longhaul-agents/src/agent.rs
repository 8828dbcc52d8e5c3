//! What every agent file provides: a description, a launch plan, and a reader of its output. Called by the worker only.
//! Agents plan and read; they never act, so every one of them is tested with recorded lines alone.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use longhaul_core::task::{Exit, Outcome, Usage};

/// One agent program.
pub trait Agent: Sync {
    /// Its name, what it is, and what it needs.
    fn about(&self) -> &'static About;

    /// How one session of it is started: data, no spawning.
    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch;

    /// What one line of its output says. Unknown lines are counted in the reader, never fatal.
    fn read_line(&self, reader: &mut Reader, line: &[u8]) -> Reading;

    /// What the session came to, from all that was read and how it ended.
    fn read_end(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome;
}

/// What is fixed about an agent.
#[derive(Debug)]
pub struct About {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Variables it takes its login and configuration from: names, never values.
    pub env: &'static [&'static str],
}

/// What a launch depends on.
#[derive(Debug, Clone)]
pub struct LaunchSpec<'a> {
    /// What stands for this very binary in argv.
    pub own_program: &'a str,
    /// The agent's own conversation to go on with.
    pub resumes: Option<&'a str>,
    /// The model asked for.
    pub model: Option<&'a str>,
    /// A directory outside of where the agent starts that it must be able to write.
    pub writable: Option<PathBuf>,
}

/// How one session is started. The prompt always comes by stdin, which then ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Fixed settings that are no secrets.
    pub env_set: Vec<(String, String)>,
    /// Variables the agent must not see.
    pub env_unset: Vec<String>,
    /// How it is stopped, in order; the tree is killed after the last step.
    pub stop: Vec<StopStep>,
}

/// One step of stopping an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopStep {
    /// The signal to send.
    pub signal: StopSignal,
    /// How long it then has.
    pub grace_ms: u64,
}

/// Signals an agent understands as "stop".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// A reader's small memory. It is committed with the offset, so an adopting worker goes on where the last one was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader {
    /// The last verdict the agent gave of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Outcome>,
    /// Lines that were not understood.
    #[serde(default)]
    pub unknown_lines: u64,
    /// Whatever else the agent's file needs to remember.
    #[serde(default)]
    pub memory: Value,
}

/// What one line says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The agent's own conversation id.
    pub conversation: Option<String>,
    /// Tokens used since the last report.
    pub usage: Usage,
    /// What a person would want to see, unfiltered: escapes are taken out where it is printed.
    pub shown: Vec<Shown>,
}

/// Something for people to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// What the agent said.
    Text(String),
    /// What it did.
    Tool {
        /// With which tool.
        name: String,
        /// On what.
        detail: String,
    },
    /// Something about the session itself.
    Notice(String),
}

/// There is no agent of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent `{name}`; known: {}", known.join(", "))]
pub struct UnknownAgent {
    /// What was asked for.
    pub name: String,
    /// What there is, nearest first.
    pub known: Vec<&'static str>,
}

pub(crate) fn find(agents: &'static [&'static dyn Agent], name: &str) -> Result<&'static dyn Agent, UnknownAgent> {
    agents.iter().copied().find(|agent| agent.about().name == name).ok_or_else(|| {
        let mut known: Vec<&'static str> = agents.iter().map(|agent| agent.about().name).collect();
        known.sort_by_key(|candidate| distance(candidate, name));
        UnknownAgent { name: name.to_owned(), known }
    })
}

/// How many characters stand in one name and not in the same place of the other; enough to order a handful of names.
fn distance(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).filter(|(x, y)| x == y).count();
    a.len().max(b.len()) - same
}
