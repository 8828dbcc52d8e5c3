//! What was asked for: everything that is fixed when a task is made, stored before any agent starts.
//! Made by the worker from what a front end handed over; never changed afterwards.

use serde::{Deserialize, Serialize};

use super::Policy;
use crate::ids::TaskId;
use crate::names::TaskName;

/// A goal and the choices that came with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// What is to be reached, redacted at intake.
    pub goal: String,
    /// Unique among the unfinished tasks of the project.
    pub name: TaskName,
    /// The user's checkout: git top level, else the directory.
    pub project: String,
    /// The directory the agent works in.
    pub workspace: String,
    /// The agent's name in the AGENTS table.
    pub agent: String,
    /// The model to ask the agent for; none leaves it to the agent's own configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The task this one is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// Names of variables the agent needs that were set at submit; never their values.
    #[serde(default)]
    pub needs_env: Vec<String>,
    /// Who carries the task out.
    pub driver: Driver,
    /// How patient the task is.
    pub policy: Policy,
}

/// Who carries a task out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// A worker of ours, session after session.
    Supervised,
}

impl Driver {
    /// The stored spelling.
    pub fn name(self) -> &'static str {
        match self {
            Driver::Supervised => "supervised",
        }
    }
}
