//! Following a task: a viewer only reads the store and sends commands. Its death, a lost terminal or `d` changes nothing.
//! Used by every verb that waits for a task.

mod follow;
mod keys;
mod screen;
mod signals;

use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{HelpReason, State, Task, Verdict};
use longhaul_store::{Changes, Stored};

pub(crate) use follow::{Reach, Watched, follow, follow_after, follow_with};
pub(crate) use signals::Signals;

use crate::exit::Code;
use longhaul_app::AppError;
use longhaul_app::Call;

/// The exit code that a state gives to those who waited for it.
pub(crate) fn code_of(state: &State) -> Code {
    match state {
        State::Done { verdict: Verdict::Verified { .. } | Verdict::NoChecks } => Code::Done,
        State::Done { verdict: Verdict::NotVerified { .. } } => Code::NotVerified,
        State::Cancelled { .. } => Code::Cancelled,
        State::NeedsHelp { reason: HelpReason::VerificationFailed { .. }, .. } => Code::VerificationFailed,
        State::Stopped { .. } => Code::Stopped,
        State::Blocked { cause, .. } if cause.is_probed() => Code::Waiting,
        State::Paused | State::Held { .. } | State::Blocked { .. } | State::NeedsHelp { .. } => Code::NeedsPerson,
        State::Waiting { .. } => Code::Waiting,
        State::Queued
        | State::Preparing
        | State::Planning { .. }
        | State::Working { .. }
        | State::Verifying { .. }
        | State::Stopping { .. } => Code::Failure,
    }
}

/// Waits until a task is as wanted, at most so long.
pub(crate) async fn until(
    call: &Call,
    task: TaskId,
    patience: Duration,
    wanted: impl Fn(&Task) -> bool,
) -> Result<Option<Stored>, AppError> {
    let deadline = tokio::time::Instant::now() + patience;
    let mut changes = call.store()?.changes()?;
    loop {
        match call.store()?.load(task).await? {
            Some(stored) if wanted(&stored.task) => return Ok(Some(stored)),
            Some(_) | None => {}
        }
        if tokio::time::Instant::now() >= deadline {
            return Ok(None);
        }
        let left = deadline - tokio::time::Instant::now();
        rung_or(&mut changes, left.min(Duration::from_secs(1))).await;
    }
}

/// Waits for the store's bell, at most so long.
pub(crate) async fn rung_or(changes: &mut Changes, span: Duration) {
    tokio::time::timeout(span, changes.rung()).await.ok();
}
