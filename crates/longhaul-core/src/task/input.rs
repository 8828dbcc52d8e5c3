//! What can arrive for a task: commands, which can be refused and then change nothing, and observations, which are always recorded.
//! Sent by front ends (commands) and by effects of the owner (observations); made into events by `decide` alone.

use serde::{Deserialize, Serialize};

use super::{Cause, Ended, ReadTo, Usage};
use crate::ids::SessionId;

/// Something that arrived for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// Command: stop the session and wait for a person.
    Pause {
        /// By the stop recipe, or at once.
        haste: Haste,
    },
    /// Command: go on.
    Resume {
        /// What changed; needed to leave `needs_help`.
        reason: Option<String>,
    },
    /// Command: give the task up.
    Cancel {
        /// Why.
        reason: Option<String>,
    },
    /// Command: record that a person killed a worker or keeper that did not answer.
    Force {
        /// What was killed.
        target: String,
    },
    /// Observation: the workspace is fit for the next session, which would have this id.
    Prepared {
        /// Minted by the owner.
        session: SessionId,
        /// The plan's files as they are now.
        plan: PlanSight,
    },
    /// Observation: it is not, and why.
    CannotPrepare {
        /// What is missing.
        cause: Cause,
    },
    /// Observation: the plan refused from the agent was put back.
    PlanRestored,
    /// Observation: the time waited for has come.
    Woke,
    /// Observation: output was read.
    SessionRead {
        /// Which session.
        session: SessionId,
        /// How far.
        read: ReadTo,
        /// What it said that is worth keeping.
        said: Said,
    },
    /// Observation: a session ended.
    SessionEnded {
        /// Which session.
        session: SessionId,
        /// How.
        ended: Ended,
        /// The plan's files after it.
        plan: PlanSight,
    },
}

/// How quickly a session is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Haste {
    /// By the agent's stop recipe.
    Recipe,
    /// At once.
    Now,
}

/// What a stretch of output said that is worth keeping.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The agent's own conversation id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Tokens used by this stretch.
    #[serde(default)]
    pub usage: Usage,
}

/// The plan's files as the owner saw them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSight {
    /// `task_list.md`.
    pub list: ListSight,
    /// Whether `progress.md` exists.
    pub progress_exists: bool,
}

/// `task_list.md` as the owner saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListSight {
    /// It is not there.
    Missing,
    /// It is there and cannot be read as text: a link, a directory, too large, not UTF-8.
    Unreadable {
        /// Why.
        why: String,
    },
    /// Its text, and the SHA-256 of its bytes.
    Text {
        /// Lower-case hex.
        hash: String,
        /// The whole text.
        text: String,
    },
}

impl Input {
    /// Commands can be refused; the rest are observations.
    pub fn is_command(&self) -> bool {
        match self {
            Input::Pause { .. } | Input::Resume { .. } | Input::Cancel { .. } | Input::Force { .. } => true,
            Input::Prepared { .. }
            | Input::CannotPrepare { .. }
            | Input::PlanRestored
            | Input::Woke
            | Input::SessionRead { .. }
            | Input::SessionEnded { .. } => false,
        }
    }

    /// The verb or fact, for refusals and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Input::Pause { haste: Haste::Recipe } => "pause",
            Input::Pause { haste: Haste::Now } => "pause now",
            Input::Resume { .. } => "resume",
            Input::Cancel { .. } => "cancel",
            Input::Force { .. } => "force",
            Input::Prepared { .. } => "prepared",
            Input::CannotPrepare { .. } => "cannot prepare",
            Input::PlanRestored => "plan restored",
            Input::Woke => "woke",
            Input::SessionRead { .. } => "session read",
            Input::SessionEnded { .. } => "session ended",
        }
    }
}
