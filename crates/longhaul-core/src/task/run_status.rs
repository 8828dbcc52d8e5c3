//! The six statuses of a TaskRun: how programs see any task, tracked or supervised. One function of the state.
//! Never stored: the state is. The store's filter says the same in SQL, and a conformance test compares the two.

use serde::{Deserialize, Serialize};

use super::{State, Task};

/// The status of a task as a TaskRun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RunStatus {
    /// Nothing has begun.
    Pending,
    /// It is being worked on, or continues automatically.
    Running,
    /// It waits for a person, in whatever way.
    NeedsHelp,
    /// Done.
    Completed,
    /// Given up by the program that executed it.
    Failed,
    /// Cancelled.
    Cancelled,
}

spelled! {
    RunStatus: Pending = "PENDING", Running = "RUNNING", NeedsHelp = "NEEDS_HELP", Completed = "COMPLETED", Failed = "FAILED",
    Cancelled = "CANCELLED",
}

impl RunStatus {
    /// The status of a task.
    pub fn of(task: &Task) -> RunStatus {
        match &task.state {
            State::Queued if task.tally.sessions == 0 => RunStatus::Pending,
            State::Done { .. } => RunStatus::Completed,
            State::Failed { .. } => RunStatus::Failed,
            State::Cancelled { .. } => RunStatus::Cancelled,
            State::Tracked { .. }
            | State::Queued
            | State::Preparing
            | State::Landing
            | State::SettingUp { .. }
            | State::Planning { .. }
            | State::Working { .. }
            | State::Verifying { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Paused
            | State::Held { .. }
            | State::Stopped { .. }
            | State::Blocked { .. } => {
                if task.state.waits_for_person() {
                    RunStatus::NeedsHelp
                } else {
                    RunStatus::Running
                }
            }
        }
    }
}
