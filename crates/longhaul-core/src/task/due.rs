//! What is to be done now, from the state alone. Asked after every commit, and after a crash: there is no second recovery path.
//!
//! Effects are idempotent and keyed by task and session, so that asking twice is harmless.

use std::time::Duration;

use super::{Haste, SessionRun, State, Task, Wait, WokenBy};
use crate::ids::{SessionId, TaskId};
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
    /// Answer `OtherEnded` when that task has ended.
    Await(TaskId),
    /// Look for what is missing until it is there, then answer `Woke`.
    Probe,
}

/// What is due for a task. A state that waits for a person or is final has nothing due; a queued one waits for a claim.
pub fn due(task: &Task, now: Time) -> Vec<Effect> {
    match &task.state {
        State::Preparing { .. } => vec![Effect::Prepare],
        State::Planning { session } | State::Working { session } => {
            let shortened = shortened(task, session).map(Effect::WakeAt);
            std::iter::once(Effect::Attend(session.id)).chain(shortened).collect()
        }
        State::Verifying { session } => vec![Effect::Attend(session.id)],
        State::Stopping { session, haste, .. } => vec![Effect::Attend(session.id), Effect::Stop(session.id, *haste)],
        State::Waiting { why, until, .. } => vec![wake(task, *why, until.unwrap_or(now), now)],
        State::Blocked { cause, .. } if cause.woken_by() == WokenBy::Probe => vec![Effect::Probe],
        State::Queued { .. }
        | State::NeedsHelp { .. }
        | State::Paused { .. }
        | State::Held { .. }
        | State::Stopped { .. }
        | State::Blocked { .. }
        | State::Done { .. }
        | State::Cancelled { .. } => Vec::new(),
    }
}

/// When the live session has to end, if a person shortened its time after its keeper was told of another.
fn shortened(task: &Task, session: &SessionRun) -> Option<Time> {
    let wall = task.session_wall_ms()?;
    let told = session.wall_ms.unwrap_or(u64::MAX);
    (wall < told).then(|| session.started.after(Duration::from_millis(wall)))
}

/// A backoff can never be further away than its cap: a clock that jumped back must not turn seconds into days.
fn wake(task: &Task, why: Wait, until: Time, now: Time) -> Effect {
    let policy = &task.submission.policy;
    let capped = |cap: u64| Effect::WakeAt(until.min(now.after(Duration::from_millis(cap + 1000))));
    match why {
        Wait::Limit | Wait::Hours => Effect::WakeAt(until),
        Wait::Backoff => capped(policy.backoff_cap_ms),
        Wait::Delay => capped(policy.delay_ms),
        Wait::After(other) => Effect::Await(other),
    }
}
