//! What a task came to so far, in one word for whoever waits for it: exit codes and programs decide by it.
//! The one place that sorts states this way.

use longhaul_core::task::{HelpReason, ResultKind, State};
use longhaul_store::TaskSummary;
use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of a task so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done: verified, or without checks.
    Done,
    /// Done and the checks passed, but the result is not verified.
    NotVerified,
    /// A person gave it up.
    Cancelled,
    /// The outside program that executed it gave up.
    Failed,
    /// The checks still fail after all fixing sessions; a person has to help.
    VerificationFailed,
    /// A limit of the task is used up.
    Stopped,
    /// It continues only when a person acts.
    NeedsPerson,
    /// It continues automatically after a wait.
    Waiting,
    /// It is being worked on.
    Running,
}

impl Outcome {
    /// The outcome of a task in this state.
    pub fn of(state: &State) -> Outcome {
        match state {
            State::Done { verdict } => Outcome::of_result(verdict.kind()),
            State::Cancelled { .. } => Outcome::Cancelled,
            State::Failed { .. } => Outcome::Failed,
            State::Tracked { help: Some(_), .. } => Outcome::NeedsPerson,
            State::NeedsHelp { reason: HelpReason::VerificationFailed { .. }, .. } => Outcome::VerificationFailed,
            State::Stopped { .. } => Outcome::Stopped,
            State::Blocked { cause, .. } if cause.is_probed() => Outcome::Waiting,
            State::Paused | State::Held { .. } | State::Blocked { .. } | State::NeedsHelp { .. } => {
                Outcome::NeedsPerson
            }
            State::Waiting { .. } => Outcome::Waiting,
            State::Queued
            | State::Preparing
            | State::Landing
            | State::SettingUp { .. }
            | State::Planning { .. }
            | State::Working { .. }
            | State::Verifying { .. }
            | State::Stopping { .. }
            | State::Tracked { help: None, .. } => Outcome::Running,
        }
    }

    /// The same from what lists show of a task.
    pub(crate) fn of_summary(summary: &TaskSummary) -> Outcome {
        match (&summary.wait, summary.result) {
            (Some(state), _) => Outcome::of(state),
            (None, Some(result)) => Outcome::of_result(result),
            (None, None) if summary.state == State::FAILED => Outcome::Failed,
            (None, None) if summary.is_final => Outcome::Cancelled,
            (None, None) if summary.waits_for_person => Outcome::NeedsPerson,
            (None, None) => Outcome::Running,
        }
    }

    fn of_result(result: ResultKind) -> Outcome {
        match result {
            ResultKind::Verified
            | ResultKind::NoChecks
            | ResultKind::Landed
            | ResultKind::PullRequest
            | ResultKind::Discarded
            | ResultKind::Restored => Outcome::Done,
            ResultKind::NotVerified => Outcome::NotVerified,
        }
    }
}
