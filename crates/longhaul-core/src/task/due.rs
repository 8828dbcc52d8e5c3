//! What is to be done now, from the state alone. Asked after every commit, and after a crash: there is no second recovery path.
//!
//! Effects are idempotent and keyed by task and session, so that asking twice is harmless.

use std::time::Duration;

use super::{SessionRun, State, StopMode, Task, Wait};
use crate::ids::{SessionId, TaskId};
use crate::time::Time;

/// Something the owner of a task is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Do what a follow-up is for; answer `InLine`, `Merged`, `Placed`, `LandingStarted`, `TargetMoved`, `FollowedUp`, `CannotFollowUp` or `CannotPrepare`.
    Land,
    /// Look at workspace and plan, put a refused plan back, answer `Prepared` or `CannotPrepare`.
    Prepare,
    /// See that the session's keeper runs or ran, read its output, answer `SessionRead` and `SessionEnded`.
    Attend(SessionId),
    /// Tell the session's keeper to stop.
    Stop(SessionId, StopMode),
    /// Answer `Woke` when this alarm goes off.
    Wake(Alarm),
    /// Answer `OtherEnded` when that task has ended.
    Await(TaskId),
    /// Wait until what is missing is available, then answer `Woke`.
    Probe,
}

impl Effect {
    /// Whether it answers once and has then ended: if it is due again, it starts again. The others run as long as they are due.
    pub fn answers_once(self) -> bool {
        match self {
            Effect::Land | Effect::Prepare | Effect::Wake(_) | Effect::Await(_) | Effect::Probe => true,
            Effect::Attend(_) | Effect::Stop(..) => false,
        }
    }
}

/// When a wait is over: once the wall clock reaches `at`, or once `span` has passed on a clock that counts suspend, whichever comes
/// first. Without a span only the wall clock counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Alarm {
    /// The end.
    pub at: Time,
    /// The longest this may take.
    pub span: Option<Duration>,
}

/// What is due for a task. It asks for no time: an effect that is due stays the same until the task changes. A state that waits for a person or is final has nothing due; a queued one waits for a claim.
pub fn due(task: &Task) -> Vec<Effect> {
    match &task.state {
        State::Preparing => vec![Effect::Prepare],
        State::Landing => vec![Effect::Land],
        State::Planning { session } | State::Working { session } => {
            let shortened = shortened(task, session).map(Effect::Wake);
            std::iter::once(Effect::Attend(session.id)).chain(shortened).collect()
        }
        State::SettingUp { session } | State::Verifying { session } => vec![Effect::Attend(session.id)],
        State::Stopping { session, mode, .. } => vec![Effect::Attend(session.id), Effect::Stop(session.id, *mode)],
        State::Waiting { why: Wait::After(other) | Wait::Landing(other), .. } => vec![Effect::Await(*other)],
        State::Waiting { why: Wait::Limit | Wait::Backoff | Wait::Delay | Wait::Hours, until, span_ms, .. } => {
            let at = until.unwrap_or(task.updated);
            vec![Effect::Wake(Alarm { at, span: span_ms.map(Duration::from_millis) })]
        }
        State::Blocked { cause, .. } if cause.is_probed() => vec![Effect::Probe],
        State::Queued
        | State::NeedsHelp { .. }
        | State::Paused
        | State::Held { .. }
        | State::Stopped { .. }
        | State::Blocked { .. }
        | State::Tracked { .. }
        | State::Done { .. }
        | State::Failed { .. }
        | State::Cancelled { .. } => Vec::new(),
    }
}

/// When the live session has to end, if a person shortened its time after its keeper was given another.
fn shortened(task: &Task, session: &SessionRun) -> Option<Alarm> {
    let wall = task.session_wall_ms()?;
    let given = session.wall_ms.unwrap_or(u64::MAX);
    let wall = (wall < given).then(|| Duration::from_millis(wall))?;
    Some(Alarm { at: session.started.after(wall), span: Some(wall) })
}
