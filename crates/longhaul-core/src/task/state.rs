//! The states of a task: one closed enum, data inside the variants, no second status anywhere.
//!
//! Read by `decide`, `apply` and `due`, and by the store for its columns. Nothing here moves a task.

use serde::{Deserialize, Serialize};

use super::{Cause, HelpReason, Reached, SessionRun, Verdict, Wait, WokenBy};
use crate::ids::SessionId;
use crate::time::Time;

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// Wants a worker. Left by a claim.
    Queued,
    /// The owner looks at workspace and plan before a session. Left by what it finds.
    Preparing,
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
    /// A check runs. Left by its observed end.
    Verifying {
        /// The live session.
        session: SessionRun,
    },
    /// The session was told to stop. Left only by its observed end, so a resume can never start a second agent.
    Stopping {
        /// The live session.
        session: SessionRun,
        /// Whether it is ended at once or by its stop recipe.
        haste: super::StopMode,
        /// What follows.
        then: Then,
    },
    /// Waits. Left by the clock, or by what it waits for.
    Waiting {
        /// Why it waits.
        why: Wait,
        /// Until when; none where no clock ends it.
        until: Option<Time>,
        /// How long at most, whatever happens to the wall clock; none where only the wall clock counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        span_ms: Option<u64>,
    },
    /// Trying again by itself is pointless. Left by a person's `resume --reason` or cancel.
    NeedsHelp {
        /// Why.
        reason: HelpReason,
    },
    /// A person paused it. Left by a person.
    Paused,
    /// A person works in the agent's conversation. Left when that has ended.
    Held {
        /// Who.
        person: String,
    },
    /// A limit of the task is used up. Left by a person who raises it.
    Stopped {
        /// Which limit.
        reached: Reached,
    },
    /// Something outside is missing. Left by the owner's probe or by a person, as the cause says.
    Blocked {
        /// What is missing.
        cause: Cause,
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

/// The part of its life a task is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No plan is accepted yet.
    Plan,
    /// The plan's steps are taken, or what the checks found is mended.
    Work,
    /// All is ticked; the checks are run.
    Verify,
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
    /// A person takes the conversation over.
    Hold {
        /// Who.
        person: String,
    },
    /// A limit of the task is used up.
    Stop {
        /// Which.
        reached: Reached,
    },
    /// The next session: a pause was taken back, or the session was longer than it may be now.
    GoOn,
}

impl State {
    /// The name of the state in which an owner is about to start a session.
    pub const ABOUT_TO_START: &'static str = "preparing";

    /// The stored and documented spelling.
    pub fn name(&self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::Preparing => State::ABOUT_TO_START,
            State::Planning { .. } => "planning",
            State::Working { .. } => "working",
            State::Verifying { .. } => "verifying",
            State::Stopping { .. } => "stopping",
            State::Waiting { .. } => "waiting",
            State::NeedsHelp { .. } => "needs_help",
            State::Paused => "paused",
            State::Held { .. } => "held",
            State::Stopped { .. } => "stopped",
            State::Blocked { .. } => "blocked",
            State::Done { .. } => "done",
            State::Cancelled { .. } => "cancelled",
        }
    }

    /// Final states have no exits.
    pub fn is_final(&self) -> bool {
        match self {
            State::Done { .. } | State::Cancelled { .. } => true,
            State::Queued
            | State::Preparing
            | State::Planning { .. }
            | State::Working { .. }
            | State::Verifying { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Paused
            | State::Held { .. }
            | State::Stopped { .. }
            | State::Blocked { .. } => false,
        }
    }

    /// The result of a done task; none for every other.
    pub fn verdict(&self) -> Option<&Verdict> {
        match self {
            State::Done { verdict } => Some(verdict),
            State::Queued
            | State::Preparing
            | State::Planning { .. }
            | State::Working { .. }
            | State::Verifying { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Paused
            | State::Held { .. }
            | State::Stopped { .. }
            | State::Blocked { .. }
            | State::Cancelled { .. } => None,
        }
    }

    /// Whether an open round of checks continues in this state. Any other state is an interruption, in which files may change.
    pub fn continues_round(&self) -> bool {
        match self {
            State::Preparing | State::Verifying { .. } => true,
            State::Queued
            | State::Planning { .. }
            | State::Working { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Paused
            | State::Held { .. }
            | State::Stopped { .. }
            | State::Blocked { .. }
            | State::Done { .. }
            | State::Cancelled { .. } => false,
        }
    }

    /// Only a person can move it on.
    pub fn waits_for_person(&self) -> bool {
        match self {
            State::NeedsHelp { .. } | State::Paused | State::Held { .. } | State::Stopped { .. } => true,
            State::Blocked { cause, .. } => cause.woken_by() == WokenBy::Person,
            State::Queued
            | State::Preparing
            | State::Planning { .. }
            | State::Working { .. }
            | State::Verifying { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::Done { .. }
            | State::Cancelled { .. } => false,
        }
    }

    /// Whether a person works in the agent's conversation.
    pub fn is_held(&self) -> bool {
        matches!(self, State::Held { .. })
    }

    /// Whether an owner has something to do now or later. The lease is given up in the commit that makes this false.
    pub fn wants_owner(&self) -> bool {
        !self.is_final() && !self.waits_for_person()
    }

    /// The session whose process may be alive.
    pub fn session(&self) -> Option<&SessionRun> {
        match self {
            State::Planning { session }
            | State::Working { session }
            | State::Verifying { session }
            | State::Stopping { session, .. } => Some(session),
            State::Queued
            | State::Preparing
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Paused
            | State::Held { .. }
            | State::Stopped { .. }
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
