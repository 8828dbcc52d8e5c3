//! The states of a task: one closed enum, data inside the variants, no second status anywhere.
//!
//! Read by `decide`, `apply` and `due`, and by the store for its columns. Nothing here moves a task.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::SessionRun;
use crate::ids::SessionId;
use crate::time::Time;

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// Wants a worker. Left by a claim.
    Queued {
        /// What comes after the claim.
        back_to: BackTo,
    },
    /// The owner looks at workspace and plan before a session. Left by what it finds.
    Preparing {
        /// Which session comes next.
        back_to: BackTo,
    },
    /// A session writes the plan. Left by its observed end.
    Planning {
        /// The live session.
        session: SessionRun,
    },
    /// A session takes steps. Left by its observed end.
    Working {
        /// The live session.
        session: SessionRun,
    },
    /// The session was told to stop. Left only by its observed end, so a resume can never start a second agent.
    Stopping {
        /// The live session.
        session: SessionRun,
        /// Whether it is ended at once or by its stop recipe.
        haste: super::Haste,
        /// What follows.
        then: Then,
    },
    /// Waits for a time. Left by the clock.
    Waiting {
        /// Why it waits.
        why: Wait,
        /// Until when.
        until: Time,
        /// What comes after.
        back_to: BackTo,
    },
    /// Trying again by itself is pointless. Left by a person's `resume --reason` or cancel.
    NeedsHelp {
        /// Why.
        reason: HelpReason,
        /// What comes after.
        back_to: BackTo,
    },
    /// A person paused it. Left by a person.
    Paused {
        /// What comes after.
        back_to: BackTo,
    },
    /// Something outside is missing. Left by a person once it is there again.
    Blocked {
        /// What is missing.
        cause: Cause,
        /// What comes after.
        back_to: BackTo,
    },
    /// Finished. Final.
    Done {
        /// What is known of the result.
        verdict: Verdict,
    },
    /// Given up by a person. Final.
    Cancelled {
        /// Who did it.
        by: String,
        /// Why, if told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// Where a task goes on after an interruption, so that states never nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackTo {
    /// Which kind of session is next.
    pub phase: Phase,
    /// A usage limit lasts until then; kept over pause and resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
}

impl BackTo {
    /// Goes on with this phase at once.
    pub fn phase(phase: Phase) -> BackTo {
        BackTo { phase, not_before: None }
    }
}

/// The part of its life a task is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No plan is accepted yet.
    Plan,
    /// The plan's steps are taken.
    Work,
}

/// What follows once a stopping session has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Paused.
    Pause,
    /// Cancelled, by whom and why.
    Cancel {
        /// Who asked.
        by: String,
        /// Why, if told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The pause was taken back: the next session.
    GoOn,
}

/// Why a task waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// A usage limit.
    Limit,
    /// A failed session is tried again later.
    Backoff,
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
    /// So many sessions in a row completed without a new tick.
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
    /// A variable that was set at submit is missing now.
    Variable {
        /// Its name.
        name: String,
    },
    /// The existing shell runner holds this task directory.
    OtherRunner {
        /// Its process id.
        pid: u32,
    },
}

/// What is known of a finished task's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every step is ticked; no check was run.
    Unverified,
}

impl State {
    /// The stored and documented spelling.
    pub fn name(&self) -> &'static str {
        match self {
            State::Queued { .. } => "queued",
            State::Preparing { .. } => "preparing",
            State::Planning { .. } => "planning",
            State::Working { .. } => "working",
            State::Stopping { .. } => "stopping",
            State::Waiting { .. } => "waiting",
            State::NeedsHelp { .. } => "needs_help",
            State::Paused { .. } => "paused",
            State::Blocked { .. } => "blocked",
            State::Done { .. } => "done",
            State::Cancelled { .. } => "cancelled",
        }
    }

    /// Final states have no exits.
    pub fn is_final(&self) -> bool {
        match self {
            State::Done { .. } | State::Cancelled { .. } => true,
            State::Queued { .. }
            | State::Preparing { .. }
            | State::Planning { .. }
            | State::Working { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Paused { .. }
            | State::Blocked { .. } => false,
        }
    }

    /// Only a person can move it on.
    pub fn waits_for_person(&self) -> bool {
        match self {
            State::NeedsHelp { .. } | State::Paused { .. } | State::Blocked { .. } => true,
            State::Queued { .. }
            | State::Preparing { .. }
            | State::Planning { .. }
            | State::Working { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::Done { .. }
            | State::Cancelled { .. } => false,
        }
    }

    /// Whether an owner has something to do now or later. The lease is given up in the commit that makes this false.
    pub fn wants_owner(&self) -> bool {
        !self.is_final() && !self.waits_for_person()
    }

    /// The session whose process may be alive.
    pub fn session(&self) -> Option<&SessionRun> {
        match self {
            State::Planning { session } | State::Working { session } | State::Stopping { session, .. } => Some(session),
            State::Queued { .. }
            | State::Preparing { .. }
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Paused { .. }
            | State::Blocked { .. }
            | State::Done { .. }
            | State::Cancelled { .. } => None,
        }
    }

    /// The live session, if it is this one.
    pub fn live(&self, id: SessionId) -> Option<&SessionRun> {
        self.session().filter(|session| session.id == id)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wait::Limit => "usage limit",
            Wait::Backoff => "backoff",
        })
    }
}

impl fmt::Display for HelpReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HelpReason::KeepsFailing { sessions, last } => {
                write!(f, "{sessions} sessions in a row failed, the last: {last}")
            }
            HelpReason::NoProgress { sessions } => {
                write!(f, "{sessions} sessions in a row ended without a new tick")
            }
            HelpReason::NoPlan { why } => write!(f, "no usable plan: {why}"),
            HelpReason::AgentRefuses { why } => write!(f, "the agent refuses: {why}"),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Workspace { why } => write!(f, "workspace: {why}"),
            Cause::TaskDirectory { why } => write!(f, "task directory: {why}"),
            Cause::Program { why } => write!(f, "agent program: {why}"),
            Cause::Variable { name } => write!(f, "variable `{name}` was set at submit and is missing now"),
            Cause::OtherRunner { pid } => write!(f, "another runner (pid {pid}) holds the task directory"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Unverified => f.write_str("done, unverified"),
        }
    }
}
