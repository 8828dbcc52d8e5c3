//! What is to be done now, from the state alone. Asked after every commit, and after a crash: there is no second recovery path.
//!
//! Effects are idempotent and keyed by task and session, so that asking twice is harmless.

use std::time::Duration;

use super::{Haste, State, Task, Wait};
use crate::ids::SessionId;
use crate::time::Time;

/// Something the owner of a task is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Look at workspace and plan, put a refused plan back, answer `Prepared` or `CannotPrepare`.
    Prepare,
    /// See that the session's keeper runs or ran, read its output, answer `SessionRead` and `SessionEnded`.
    Attend(SessionId),
    /// Tell the session's keeper to stop.
    Stop(SessionId, Haste),
    /// Answer `Woke` at this time.
    WakeAt(Time),
}

/// What is due for a task. A state that waits for a person or is final has nothing due; a queued one waits for a claim.
pub fn due(task: &Task, now: Time) -> Vec<Effect> {
    match &task.state {
        State::Preparing { .. } => vec![Effect::Prepare],
        State::Planning { session } | State::Working { session } => vec![Effect::Attend(session.id)],
        State::Stopping { session, haste, .. } => vec![Effect::Attend(session.id), Effect::Stop(session.id, *haste)],
        State::Waiting { why, until, .. } => vec![Effect::WakeAt(wake(task, *why, *until, now))],
        State::Queued { .. }
        | State::NeedsHelp { .. }
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::Done { .. }
        | State::Cancelled { .. } => Vec::new(),
    }
}

/// A backoff can never be further away than its cap: a clock that jumped back must not turn seconds into days.
fn wake(task: &Task, why: Wait, until: Time, now: Time) -> Time {
    match why {
        Wait::Limit => until,
        Wait::Backoff => until.min(now.after(Duration::from_millis(task.submission.policy.backoff_cap_ms + 1000))),
    }
}
