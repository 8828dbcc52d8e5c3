//! Which changes of a task are worth a notice to people who are not watching. Asked by the store in the transaction that makes the change,
//! so that a notice is as durable as the change itself. It sends nothing and decides nothing about the task.

use super::{Event, HelpReason, Occasion, Role, State, Task, Wait};

/// The notice that these events cause: one for entering a state, none for staying in it.
pub fn notice(before: &Task, events: &[Event], after: &Task) -> Option<Occasion> {
    let entered = |enters: fn(&Event) -> bool| events.iter().any(enters);
    match &after.state {
        State::Done { .. } if entered(|event| matches!(event, Event::Finished { .. })) => Some(Occasion::Done),
        State::NeedsHelp { reason, .. } if entered(|event| matches!(event, Event::HelpNeeded { .. })) => {
            Some(help(reason))
        }
        State::Blocked { cause, .. } if entered(|event| matches!(event, Event::Blocked { .. })) => {
            (!cause.is_probed()).then_some(Occasion::NeedsPerson)
        }
        State::Waiting { why: Wait::Limit, .. } if entered(|event| matches!(event, Event::WaitStarted { .. })) => {
            // Asking again and again whether a limit is over is no news.
            (before.tally.limits == 0).then_some(Occasion::Limit)
        }
        State::Stopped { .. } if entered(|event| matches!(event, Event::Stopped { .. })) => Some(Occasion::Stopped),
        State::Tracked { .. } if entered(|event| matches!(event, Event::HelpAsked { .. })) => {
            Some(Occasion::NeedsPerson)
        }
        State::Failed { .. } if entered(|event| matches!(event, Event::Failed { .. })) => Some(Occasion::Failed),
        State::Paused => runner_failed(events),
        State::Queued
        | State::Preparing
        | State::Landing
        | State::SettingUp { .. }
        | State::Planning { .. }
        | State::Working { .. }
        | State::Verifying { .. }
        | State::Stopping { .. }
        | State::Waiting { .. }
        | State::NeedsHelp { .. }
        | State::Held { .. }
        | State::Stopped { .. }
        | State::Blocked { .. }
        | State::Tracked { .. }
        | State::Done { .. }
        | State::Failed { .. }
        | State::Cancelled { .. } => None,
    }
}

/// Whether an event can be the reason for a notice: the newest of these, up to the change that made the notice, tells why.
pub fn tells_why(event: &Event) -> bool {
    matches!(event.role(), Role::Asks | Role::Rests)
}

fn help(reason: &HelpReason) -> Occasion {
    match reason {
        HelpReason::VerificationFailed { .. } | HelpReason::KeepsFailing { .. } => Occasion::Failed,
        HelpReason::NoProgress { .. }
        | HelpReason::NoPlan { .. }
        | HelpReason::AgentRefuses { .. }
        | HelpReason::Permission { .. }
        | HelpReason::UsageLimit { .. }
        | HelpReason::LimitTooLong { .. }
        | HelpReason::Exhausted { .. }
        | HelpReason::Asked { .. }
        | HelpReason::CheckCannotRun { .. }
        | HelpReason::ReviewLanding { .. }
        | HelpReason::FailsOnTarget { .. }
        | HelpReason::SetupFailed { .. }
        | HelpReason::AfterUnverified { .. } => Occasion::NeedsPerson,
    }
}

/// An invocation of the runner ends in a pause whatever came of it; one with a reason is a failure.
fn runner_failed(events: &[Event]) -> Option<Occasion> {
    let failed = |event: &Event| matches!(event, Event::Paused { why: Some(_), .. });
    events.iter().any(failed).then_some(Occasion::Failed)
}
