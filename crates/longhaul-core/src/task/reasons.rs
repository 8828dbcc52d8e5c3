//! Why a task waits, needs a person, is blocked or stopped: the data inside the states.
//! Made by `decide` and the recovery table; shown to people through `Display`, never matched by its text.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Amount, Limit};
use crate::ids::TaskId;
use crate::names::TaskName;
use crate::span;
use crate::time::Time;

/// Why a task waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// A usage limit.
    Limit,
    /// A failed session is tried again later.
    Backoff,
    /// The pause between two sessions.
    Delay,
    /// Another task has to be verified first.
    After(TaskId),
    /// Sessions start in certain hours of the day only.
    Hours,
}

/// Why only a person can help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HelpReason {
    /// So many sessions in a row failed.
    KeepsFailing {
        /// How many.
        sessions: u32,
        /// How the last one ended.
        last: String,
    },
    /// So many sessions in a row completed without progress.
    NoProgress {
        /// How many.
        sessions: u32,
    },
    /// The planning sessions left no usable plan.
    NoPlan {
        /// What was wrong with the last one.
        why: String,
    },
    /// The agent wants a login or another configuration.
    AgentRefuses {
        /// What it said.
        why: String,
    },
    /// The agent wanted something that only a person can allow or answer.
    Permission {
        /// What it wanted.
        what: String,
    },
    /// The agent has reached its usage limit, and the task is to ask then.
    UsageLimit {
        /// Which agent.
        agent: String,
        /// Until when, if it said.
        until: Option<Time>,
    },
    /// The agent's usage limit ends later than the task may wait, or the agent reported a time that makes no sense.
    LimitTooLong {
        /// Which agent.
        agent: String,
        /// When it ends, as the agent reported it.
        until: Time,
        /// The longest wait.
        longest_ms: u64,
    },
    /// Nothing is left for the agent to use, and no time brings it back.
    Exhausted {
        /// Which agent.
        agent: String,
        /// What it said.
        why: String,
    },
    /// The checks do not pass, and the fixing sessions are used up.
    VerificationFailed {
        /// What failed.
        why: String,
        /// Fixing sessions that were tried.
        fixes: u32,
    },
    /// The task that was to be verified first never will be.
    AfterUnverified {
        /// Which task.
        task: TaskId,
        /// How that one ended.
        how: String,
    },
}

/// What is missing outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The workspace is gone, not a directory, or not ours to write.
    Workspace {
        /// What exactly.
        why: String,
    },
    /// Git could not run for lack of memory, processes, descriptors or time, or was killed.
    Git {
        /// What exactly.
        why: String,
    },
    /// The task directory in the workspace is not what we made.
    TaskDirectory {
        /// What exactly.
        why: String,
    },
    /// The agent's program cannot be started.
    Program {
        /// What exactly.
        why: String,
    },
    /// A variable that was set when the agent was chosen is missing now.
    Variable {
        /// Its name.
        name: String,
    },
    /// The existing shell runner holds this task directory.
    OtherRunner {
        /// Its process; none while its lock names none yet.
        pid: Option<u32>,
    },
    /// Too little free space.
    Disk {
        /// Where.
        path: String,
        /// Bytes that are free.
        free: u64,
        /// Bytes that have to be.
        floor: u64,
    },
    /// Too little free memory.
    Memory {
        /// Bytes that are free.
        free: u64,
        /// Bytes that have to be.
        floor: u64,
    },
}

impl Cause {
    /// Whether the owner waits until it is available again; else a person has to fix it.
    pub fn is_probed(&self) -> bool {
        match self {
            Cause::Disk { .. } | Cause::Memory { .. } => true,
            Cause::Workspace { .. }
            // Blocks only after it was tried again and again.
            | Cause::Git { .. }
            | Cause::TaskDirectory { .. }
            | Cause::Program { .. }
            | Cause::Variable { .. }
            | Cause::OtherRunner { .. } => false,
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Limit => f.write_str("usage limit"),
            Wait::Backoff => f.write_str("backoff"),
            Wait::Delay => f.write_str("delay between sessions"),
            Wait::Hours => f.write_str("outside its hours"),
            Wait::After(task) => write!(f, "task {task} must be verified first"),
        }
    }
}

impl fmt::Display for HelpReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HelpReason::KeepsFailing { sessions: 1, last } => write!(f, "the session failed: {last}"),
            HelpReason::KeepsFailing { sessions, last } => {
                write!(f, "{sessions} sessions in a row failed; the last one: {last}")
            }
            HelpReason::NoProgress { sessions: 1 } => f.write_str("the session ended without progress"),
            HelpReason::NoProgress { sessions } => write!(f, "{sessions} sessions in a row ended without progress"),
            HelpReason::NoPlan { why } => write!(f, "no usable plan: {why}"),
            HelpReason::AgentRefuses { why } => write!(f, "the agent refuses to work: {why}"),
            HelpReason::Permission { what } => write!(f, "permission denied: {what}"),
            HelpReason::UsageLimit { agent, until: Some(until) } => {
                write!(f, "{agent} hit its usage limit; it resets at {}", until.rfc3339())
            }
            HelpReason::UsageLimit { agent, until: None } => write!(f, "{agent} hit its usage limit"),
            HelpReason::LimitTooLong { agent, until, longest_ms } => {
                let longest = span::show(Duration::from_millis(*longest_ms));
                write!(
                    f,
                    "{agent} reported a usage limit until {}, longer than the task may wait ({longest}, limits.longest_wait)",
                    until.rfc3339()
                )
            }
            HelpReason::Exhausted { agent, why } => write!(f, "{agent} has no usage left: {why}"),
            HelpReason::VerificationFailed { why, fixes } => {
                write!(f, "verification failed after {fixes} fixing sessions: {why}")
            }
            HelpReason::AfterUnverified { task, how } => {
                write!(f, "it depends on task {task}, which is {how}")
            }
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Workspace { why } => write!(f, "workspace: {why}"),
            Cause::Git { why } => write!(f, "git could not run: {why}"),
            Cause::TaskDirectory { why } => write!(f, "task directory: {why}"),
            Cause::Program { why } => write!(f, "agent program: {why}"),
            Cause::Variable { name } => {
                write!(f, "environment variable `{name}` was set when the agent was chosen but is missing now")
            }
            Cause::OtherRunner { pid: Some(pid) } => write!(f, "another runner (pid {pid}) holds the task directory"),
            Cause::OtherRunner { pid: None } => f.write_str(
                "another runner is starting in the task directory: its .runner.lock names no process yet; if none runs, \
                 remove that directory",
            ),
            Cause::Disk { path, free, floor } => {
                write!(f, "disk: {} free at {path}, {} needed", Amount::Bytes(*free), Amount::Bytes(*floor))
            }
            Cause::Memory { free, floor } => {
                write!(f, "memory: {} free, {} needed", Amount::Bytes(*free), Amount::Bytes(*floor))
            }
        }
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Which.
    pub limit: Limit,
    /// How much was used.
    pub used: u64,
    /// How much was allowed.
    pub cap: u64,
    /// The task whose limit it is, where that one and all tasks below it are counted together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<TaskId>,
    /// The name of that task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family_name: Option<TaskName>,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.limit == Limit::Usage {
            return f.write_str("the agent's usage limit was reached");
        }
        let amount = |number| self.limit.amount(number);
        write!(f, "{} {} of {} used", self.limit.flag(), amount(self.used), amount(self.cap))?;
        match &self.family_name {
            Some(name) => write!(f, " by task {name} and its children"),
            None => Ok(()),
        }
    }
}
