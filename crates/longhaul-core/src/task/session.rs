//! One session as the task sees it: while it runs, what was read of it, and how it ended.
//!
//! The facts come from the keeper's files and the agent's reader; nothing here looks at either.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Cause, CheckOutput, FileEffects, FileHash, Opening, Saved};
use crate::ids::{SessionId, TaskId};
use crate::time::Time;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Writes the plan.
    Plan,
    /// Takes the plan's steps.
    Work,
    /// Fixes what the checks found.
    Fix,
    /// Runs one check; not the agent's.
    Check,
    /// Runs the setup command in a new worktree; not the agent's.
    Setup,
}

impl Purpose {
    /// Whether the agent runs, and not a command of ours.
    pub fn is_agent(self) -> bool {
        match self {
            Purpose::Plan | Purpose::Work | Purpose::Fix => true,
            Purpose::Check | Purpose::Setup => false,
        }
    }
}

spelled!(Purpose: Plan = "plan", Work = "work", Fix = "fix", Check = "check", Setup = "setup");

/// A session that was committed and has not been observed to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRun {
    /// Spawned once, ever.
    pub id: SessionId,
    /// Counts from 1 within the task.
    pub number: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// Which agent runs; empty for a check.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// Counts from 1 for each piece of work: a session that takes up an interrupted one is its next try.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// How it begins.
    #[serde(default, skip_serializing_if = "is_fresh")]
    pub opening: Opening,
    /// The agent's own conversation that this session was asked to resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<String>,
    /// The agent's own conversation, once its id is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// When its start was committed.
    pub started: Time,
    /// How far its output was read, and the reader's memory at that byte.
    pub read: ReadTo,
    /// What it used so far.
    pub usage: Usage,
    /// The files it started on; none where there is no git to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The command of a check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How long its keeper lets it run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
    /// Counters of the agent's reader from the session before.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub carry: Value,
    /// How much the agent has reported, in bytes, as far as that is bounded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reported: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_first(attempt: &u32) -> bool {
    *attempt == 1
}

fn is_start(offset: &Offset) -> bool {
    *offset == Offset::default()
}

fn is_fresh(opening: &Opening) -> bool {
    *opening == Opening::Fresh
}

impl SessionRun {
    /// A session that has not run yet.
    pub fn new(id: SessionId, number: u32, purpose: Purpose, started: Time) -> SessionRun {
        SessionRun {
            id,
            number,
            purpose,
            agent: String::new(),
            attempt: 1,
            opening: Opening::Fresh,
            resumes: None,
            conversation: None,
            started,
            read: ReadTo::default(),
            usage: Usage::default(),
            tree: None,
            command: None,
            wall_ms: None,
            carry: Value::Null,
            reported: 0,
        }
    }

    /// What its prompt is marked with, so that it can be found again in the agent's own transcript.
    pub fn mark(&self, task: TaskId) -> String {
        format!("{task}/{}.{}", self.number, self.attempt)
    }
}

/// A place in a log: segment and byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Offset {
    /// The segment of the log.
    pub segment: u32,
    /// The byte in that segment.
    pub byte: u64,
}

impl Offset {
    /// Behind every place in a log.
    pub const END: Offset = Offset { segment: u32::MAX, byte: u64::MAX };
}

/// How far a session's output was read; an adopting worker continues at exactly this byte.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTo {
    /// The next byte of its output.
    pub offset: Offset,
    /// The next byte of its complaints.
    #[serde(default, skip_serializing_if = "is_start")]
    pub errors: Offset,
    /// The agent reader's own small memory.
    pub reader: Value,
}

/// Tokens and money used; `None` is unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to the model.
    pub input: Option<u64>,
    /// Tokens the model wrote.
    pub output: Option<u64>,
    /// Money, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// Both together; an unknown part adds nothing, both unknown stays unknown.
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: add(self.input, other.input),
            output: add(self.output, other.output),
            cost_micros: add(self.cost_micros, other.cost_micros),
        }
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
    /// The files it left; none where there is no git to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// What was done to keep its work.
    pub saved: Saved,
    /// Disk or memory had run out when it failed: then the end says nothing about the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starved: Option<Cause>,
    /// The boot of the machine under which the end was observed; none where that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// The expected files after a check in a clean checkout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<FileHash>,
    /// What a check printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<CheckOutput>,
    /// What a check did to the files.
    #[serde(default, skip_serializing_if = "FileEffects::is_empty")]
    pub files: FileEffects,
    /// Whether the agent's own transcript contains its prompt.
    pub delivered: Delivered,
    /// What the agent wanted and was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Counters of the agent's reader for the next session of the conversation.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub carry: Value,
    /// The account the agent worked with; none when another process than the one that started it saw the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl Ended {
    /// An end of which nothing but this is known.
    pub fn new(exit: Exit, outcome: Outcome) -> Ended {
        Ended {
            exit,
            stopped_by: StoppedBy::Itself,
            outcome,
            leftovers: 0,
            gap: Gap::None,
            lasted_ms: 0,
            tree: None,
            saved: Saved::NoGit,
            starved: None,
            boot: None,
            expected: Vec::new(),
            printed: None,
            files: FileEffects::default(),
            delivered: Delivered::Unknown,
            denied: Vec::new(),
            carry: Value::Null,
            account: None,
        }
    }
}

/// The status of a session's program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with a code.
    #[error("exit code {0}")]
    Code(i32),
    /// A signal killed it.
    #[error("killed by signal {0}")]
    Signal(i32),
    /// It could not be started, and why.
    #[error("not started: {0}")]
    NotExecutable(String),
    /// The keeper never let it start; the session is revoked.
    #[error("never started")]
    NeverStarted,
    /// Nobody could wait for it. Never success.
    #[error("exit unknown")]
    Unknown,
}

/// Who ended a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// It ended on its own, or by something outside.
    Itself,
    /// The task asked for it.
    Task,
    /// Its keeper was asked to stop, and not by the task: a shutdown.
    Shutdown,
    /// It was silent for too long.
    Silence,
    /// It ran for too long.
    Wall,
    /// Its turn was over, or continuing was pointless, and it did not exit on its own.
    #[serde(rename = "over")]
    Lingered,
}

/// Output that did not reach the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Nothing is missing.
    None,
    /// So many bytes are missing.
    Bytes(u64),
    /// The keeper died: an unknown amount that it had read and not written is gone.
    UnknownSize,
}

/// The outcome of a session, judged by its agent's reader.
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
    /// It died without reporting why.
    Crashed,
    /// The agent reported an error that may pass.
    Retryable(String),
    /// A usage limit, and until when if known.
    Limited(Option<Time>),
    /// Nothing is left to use, and no time brings it back: somebody has to pay or to change the plan.
    Exhausted(String),
    /// The login is gone.
    Auth(String),
    /// The agent refuses its command line or configuration: trying again changes nothing.
    Configuration(String),
    /// It wanted something that only a person can allow or answer, and ended over it.
    Permission(String),
    /// The conversation is full.
    ContextFull,
    /// The conversation to resume does not exist.
    BadConversation,
}

/// Whether the agent's own transcript contains a session's prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivered {
    /// It does.
    Yes,
    /// The transcript exists, without the prompt.
    No,
    /// There is no transcript: the conversation was never stored, or is gone.
    NoTranscript,
    /// Nobody can tell.
    #[default]
    Unknown,
}

/// One step of stopping a program; after the last one its tree is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopStep {
    /// What to send to the program's process group.
    pub signal: StopSignal,
    /// How long to wait before the next step.
    pub grace_ms: u64,
}

/// A signal that programs understand as "stop".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSignal {
    /// SIGINT.
    #[serde(rename = "int")]
    Interrupt,
    /// SIGTERM.
    #[serde(rename = "term")]
    Terminate,
    /// SIGKILL.
    #[serde(rename = "kill")]
    Kill,
    /// SIGHUP.
    #[serde(rename = "hup")]
    HangUp,
}
