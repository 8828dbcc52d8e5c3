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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// A usage limit.
    #[error("usage limit")]
    Limit,
    /// A failed session is tried again later.
    #[error("backoff")]
    Backoff,
    /// The pause between two sessions.
    #[error("delay between sessions")]
    Delay,
    /// Another task has to be verified first.
    #[error("task {0} must be verified first")]
    After(TaskId),
    /// Another landing on the same branch is first.
    #[error("task {0} lands on the same branch first")]
    Landing(TaskId),
    /// Sessions start in certain hours of the day only.
    #[error("outside its hours")]
    Hours,
}

/// Why only a person can help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum HelpReason {
    /// So many sessions in a row failed.
    #[error("{}: {last}", in_a_row(*.sessions, "failed", "; the last one"))]
    KeepsFailing {
        /// How many.
        sessions: u32,
        /// How the last one ended.
        last: String,
    },
    /// So many sessions in a row completed without progress.
    #[error("{}", in_a_row(*.sessions, "ended without progress", ""))]
    NoProgress {
        /// How many.
        sessions: u32,
    },
    /// The planning sessions left no usable plan.
    #[error("no usable plan: {why}")]
    NoPlan {
        /// What was wrong with the last one.
        why: String,
    },
    /// The agent wants a login or another configuration.
    #[error("the agent refuses to work: {why}")]
    AgentRefuses {
        /// What it said.
        why: String,
    },
    /// The agent wanted something that only a person can allow or answer.
    #[error("permission denied: {what}")]
    Permission {
        /// What it wanted.
        what: String,
    },
    /// The agent has reached its usage limit, and the task is to ask then.
    #[error("{agent} hit its usage limit{}", until.map_or_else(String::new, |until| format!("; it resets at {}", until.rfc3339())))]
    UsageLimit {
        /// Which agent.
        agent: String,
        /// Until when, if it said.
        until: Option<Time>,
    },
    /// The agent's usage limit ends later than the task may wait, or the agent reported a time that makes no sense.
    #[error(
        "{agent} reported a usage limit until {}, longer than the task may wait ({}, limits.longest_wait)",
        until.rfc3339(),
        span::show(Duration::from_millis(*.longest_ms))
    )]
    LimitTooLong {
        /// Which agent.
        agent: String,
        /// When it ends, as the agent reported it.
        until: Time,
        /// The longest wait.
        longest_ms: u64,
    },
    /// Nothing is left for the agent to use, and no time brings it back.
    #[error("{agent} has no usage left: {why}")]
    Exhausted {
        /// Which agent.
        agent: String,
        /// What it said.
        why: String,
    },
    /// The checks do not pass, and the fixing sessions are used up.
    #[error("verification failed after {fixes} fixing sessions: {why}")]
    VerificationFailed {
        /// What failed.
        why: String,
        /// Fixing sessions that were tried.
        fixes: u32,
    },
    /// The agent asked.
    #[error("the agent asks: {question}{}", hint.as_ref().map_or_else(String::new, |hint| format!(" (to continue: {hint})")))]
    Asked {
        /// What.
        question: String,
        /// What would let it continue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// A check ended as a shell ends when a command cannot be run, which no session of an agent can fix.
    #[error("{check} ended with exit code {code}: the command may be missing")]
    CheckCannotRun {
        /// The check as messages name it.
        check: String,
        /// 126 or 127.
        code: i32,
    },
    /// Merged work is to be read before it lands.
    #[error("read it before it lands: {why}")]
    ReviewLanding {
        /// Why.
        why: String,
    },
    /// The branch has the same trouble without the work that is to land.
    #[error("{checks} fails on `{onto}` too, without this work")]
    FailsOnTarget {
        /// Which checks.
        checks: String,
        /// The branch.
        onto: String,
    },
    /// The setup command failed in the task's worktree, so no agent starts there.
    #[error("{why}")]
    SetupFailed {
        /// The command, and how it ended.
        why: String,
    },
    /// The task that was to be verified first never will be.
    #[error("it depends on task {task}, which is {how}")]
    AfterUnverified {
        /// Which task.
        task: TaskId,
        /// How that one ended.
        how: String,
    },
}

/// What is missing outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The workspace is gone, not a directory, or not ours to write.
    #[error("workspace: {why}")]
    Workspace {
        /// What exactly.
        why: String,
    },
    /// Git could not run for lack of memory, processes, descriptors or time, or was killed.
    #[error("git could not run: {why}")]
    Git {
        /// What exactly.
        why: String,
    },
    /// The task directory in the workspace is not what we made.
    #[error("task directory: {why}")]
    TaskDirectory {
        /// What exactly.
        why: String,
    },
    /// The agent's program cannot be started.
    #[error("agent program: {why}")]
    Program {
        /// What exactly.
        why: String,
    },
    /// A variable that was set when the agent was chosen is missing now.
    #[error("environment variable `{name}` was set when the agent was chosen but is missing now")]
    Variable {
        /// Its name.
        name: String,
    },
    /// The existing shell runner holds this task directory.
    #[error("{}", other_runner(*.pid))]
    OtherRunner {
        /// Its process; none while its lock names none yet.
        pid: Option<u32>,
    },
    /// Too little free space.
    #[error("disk: {} free at {path}, {} needed", Amount::Bytes(*.free), Amount::Bytes(*.floor))]
    Disk {
        /// Where.
        path: String,
        /// Bytes that are free.
        free: u64,
        /// Bytes that have to be.
        floor: u64,
    },
    /// Too little free memory.
    #[error("memory: {} free, {} needed", Amount::Bytes(*.free), Amount::Bytes(*.floor))]
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

fn in_a_row(sessions: u32, did: &str, more: &str) -> String {
    match sessions {
        1 => format!("the session {did}"),
        many => format!("{many} sessions in a row {did}{more}"),
    }
}

fn other_runner(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("another runner (pid {pid}) holds the task directory"),
        None => "another runner is starting in the task directory: its .runner.lock names no process yet; if none runs, remove that \
                 directory"
            .to_owned(),
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
