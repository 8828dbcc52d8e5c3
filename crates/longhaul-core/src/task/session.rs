//! One session as the task sees it: while it runs, what was read of it, and how it ended.
//!
//! The facts come from the keeper's files and the agent's reader; nothing here looks at either.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::SessionId;
use crate::time::Time;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Writes the plan.
    Plan,
    /// Takes the plan's steps.
    Work,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Purpose::Plan => "plan",
            Purpose::Work => "work",
        })
    }
}

/// A session that was committed and has not been observed to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRun {
    /// Spawned once, ever.
    pub id: SessionId,
    /// Counts from 1 within the task.
    pub number: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// The agent's own conversation that this session was told to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<String>,
    /// The agent's own conversation, as soon as it told its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// When its start was committed.
    pub started: Time,
    /// How far its output was read, and the reader's memory at that byte.
    pub read: ReadTo,
    /// What it used so far.
    pub usage: Usage,
}

/// A place in a log: segment and byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Offset {
    /// The segment of the log.
    pub segment: u32,
    /// The byte in that segment.
    pub byte: u64,
}

/// How far a session's output was read; an adopting worker goes on at exactly this byte.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTo {
    /// The next byte to read.
    pub offset: Offset,
    /// The agent reader's own small memory.
    pub reader: Value,
}

/// Tokens used; `None` is unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to the model.
    pub input: Option<u64>,
    /// Tokens the model wrote.
    pub output: Option<u64>,
}

impl Usage {
    /// Both together; an unknown part adds nothing, both unknown stays unknown.
    pub fn plus(self, other: Usage) -> Usage {
        Usage { input: add(self.input, other.input), output: add(self.output, other.output) }
    }

    /// All tokens, when any are known.
    pub fn total(self) -> Option<u64> {
        add(self.input, self.output)
    }
}

fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    }
}

/// How a session ended, as observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The status that was waited for.
    pub exit: Exit,
    /// Who ended it.
    pub stopped_by: StoppedBy,
    /// What the agent's reader makes of exit and output.
    pub outcome: Outcome,
    /// Processes of its tree that were left over and had to be killed.
    pub leftovers: u32,
    /// Output that did not reach the log.
    pub gap: Gap,
    /// Sum of its time, for the task's working time.
    pub lasted_ms: u64,
}

/// The status of a session's program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with a code.
    Code(i32),
    /// A signal killed it.
    Signal(i32),
    /// It could not be started, and why.
    NotExecutable(String),
    /// The keeper never let it start; the session is revoked.
    NeverStarted,
    /// Nobody could wait for it. Never success.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(number) => write!(f, "killed by signal {number}"),
            Exit::NotExecutable(why) => write!(f, "not started: {why}"),
            Exit::NeverStarted => f.write_str("never started"),
            Exit::Unknown => f.write_str("exit unknown"),
        }
    }
}

/// Who ended a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// It ended by itself, or by something outside.
    Itself,
    /// The task asked for it.
    Task,
    /// Its keeper was told to stop, and not by the task: a shutdown.
    Shutdown,
    /// It was silent for too long.
    Silence,
    /// It ran for too long.
    Wall,
}

/// Output that did not reach the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Every byte is there.
    None,
    /// So many bytes are missing.
    Bytes(u64),
    /// The keeper died: what it had read and not written is gone, and nobody knows how much.
    UnknownSize,
}

/// What a session came to, judged by its agent's reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent finished its turn. Says nothing about the goal.
    Completed,
    /// It did not, and why.
    Failed(Failure),
}

/// Why a session failed: the closed list that recovery decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// It died without a verdict of its own.
    Crashed,
    /// The agent reported an error that may pass.
    Retryable(String),
    /// A usage limit, until when if it said so.
    Limited(Option<Time>),
    /// The login is gone.
    Auth(String),
    /// The agent refuses its command line or configuration: trying again changes nothing.
    Configuration(String),
    /// The conversation is full.
    ContextFull,
    /// The conversation to resume does not exist.
    BadConversation,
}
