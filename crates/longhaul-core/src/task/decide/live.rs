//! Decisions in states with a session whose process may be alive: planning, working, stopping. Called by `decide` only.
//! A state with a session is left only by its observed end; nothing here assumes one.

use super::super::{
    Actor, BackTo, Ended, Event, Haste, Input, Phase, PlanSight, Purpose, Refusal, SessionRun, StoppedBy, Task, Then,
    Verdict, Wait,
};
use super::plan::Seen;
use super::{cancelled, forced, noted, plan, refuse};
use crate::recovery::{self, Facts, Next};
use crate::time::Time;

pub(super) fn running(
    task: &Task,
    session: &SessionRun,
    input: &Input,
    actor: &Actor,
    now: Time,
) -> Result<Vec<Event>, Refusal> {
    match input {
        Input::Pause { haste } => stop(*haste, Then::Pause),
        Input::Resume { .. } => refuse(input, task.state.name(), "a session is running"),
        Input::Cancel { reason } => {
            stop(Haste::Recipe, Then::Cancel { by: actor.principal.clone(), reason: reason.clone() })
        }
        Input::Force { target } => forced(target),
        Input::SessionRead { session: id, read, said } if *id == session.id => {
            Ok(vec![Event::SessionRead { session: *id, read: read.clone(), said: said.clone() }])
        }
        Input::SessionEnded { session: id, ended, plan } if *id == session.id => {
            Ok(after_end(task, session, ended, plan, now))
        }
        Input::SessionRead { .. }
        | Input::SessionEnded { .. }
        | Input::Prepared { .. }
        | Input::CannotPrepare { .. }
        | Input::PlanRestored
        | Input::Woke => noted(input),
    }
}

pub(super) fn stopping(
    task: &Task,
    session: &SessionRun,
    haste: Haste,
    then: &Then,
    input: &Input,
    actor: &Actor,
) -> Result<Vec<Event>, Refusal> {
    let cancelling = matches!(then, Then::Cancel { .. });
    match input {
        Input::Pause { haste: asked } => {
            let then = if cancelling { then.clone() } else { Then::Pause };
            change_stop(task, (*asked).max(haste), then)
        }
        Input::Resume { .. } if cancelling => refuse(input, "stopping", "it is being cancelled"),
        Input::Resume { .. } => change_stop(task, haste, Then::GoOn),
        Input::Cancel { reason } => {
            change_stop(task, haste, Then::Cancel { by: actor.principal.clone(), reason: reason.clone() })
        }
        Input::Force { target } => forced(target),
        Input::SessionRead { session: id, read, said } if *id == session.id => {
            Ok(vec![Event::SessionRead { session: *id, read: read.clone(), said: said.clone() }])
        }
        Input::SessionEnded { session: id, ended, plan } if *id == session.id => {
            after_stop(task, session, ended, plan, then)
        }
        Input::SessionRead { .. }
        | Input::SessionEnded { .. }
        | Input::Prepared { .. }
        | Input::CannotPrepare { .. }
        | Input::PlanRestored
        | Input::Woke => noted(input),
    }
}

fn stop(haste: Haste, then: Then) -> Result<Vec<Event>, Refusal> {
    Ok(vec![Event::StopAsked { haste, then }])
}

/// Asking for the same again changes nothing and writes nothing.
fn change_stop(task: &Task, haste: Haste, then: Then) -> Result<Vec<Event>, Refusal> {
    let event = Event::StopAsked { haste, then };
    let unchanged = task.apply(&event, task.updated).is_ok_and(|after| after.state == task.state);
    Ok(if unchanged { Vec::new() } else { vec![event] })
}

/// The end and what it did to the plan, in order; the state in between is `preparing`.
fn end_events(session: &SessionRun, ended: &Ended, seen: &Seen) -> Vec<Event> {
    let progress = seen.is_progress();
    let mut events = vec![Event::SessionEnded { session: session.id, ended: ended.clone(), progress }];
    events.extend(seen.events.iter().cloned());
    events
}

fn look(task: &Task, session: &SessionRun, ended: &Ended, sight: &PlanSight) -> Seen {
    match (&task.plan, session.purpose) {
        (Some(accepted), _) => plan::compare(task, accepted, sight),
        (None, Purpose::Plan | Purpose::Work) => plan::first(ended, sight),
    }
}

fn after_end(task: &Task, session: &SessionRun, ended: &Ended, sight: &PlanSight, now: Time) -> Vec<Event> {
    let seen = look(task, session, ended, sight);
    let mut events = end_events(session, ended, &seen);
    let tally = events.first().and_then(|event| task.apply(event, now).ok()).map_or(task.tally, |after| after.tally);
    if seen.plan.is_complete() && !seen.refused() {
        events.push(Event::Finished { verdict: Verdict::Unverified });
        return events;
    }
    let phase = if seen.plan.total() > 0 { Phase::Work } else { task.phase() };
    let back_to = BackTo::phase(phase);
    let facts = Facts {
        session: session.id,
        ended,
        bad_plan: seen.problem.as_deref(),
        tally: &tally,
        policy: &task.submission.policy,
        now,
    };
    events.extend(match recovery::next(&facts) {
        Next::GoOn => None,
        Next::WaitUntil(why, until) => Some(wait(why, until, back_to)),
        Next::Ask(reason) => Some(Event::HelpNeeded { reason, back_to }),
        Next::Block(cause) => Some(Event::Blocked { cause, back_to }),
    });
    events
}

fn wait(why: Wait, until: Time, back_to: BackTo) -> Event {
    let not_before = match why {
        Wait::Limit => Some(until),
        Wait::Backoff => None,
    };
    Event::WaitStarted { why, until, back_to: BackTo { not_before, ..back_to } }
}

fn after_stop(
    task: &Task,
    session: &SessionRun,
    ended: &Ended,
    sight: &PlanSight,
    then: &Then,
) -> Result<Vec<Event>, Refusal> {
    let seen = look(task, session, ended, sight);
    let mut events = end_events(session, &as_asked(ended), &seen);
    let phase = if seen.plan.total() > 0 { Phase::Work } else { task.phase() };
    match then {
        Then::Pause => events.push(Event::Paused { back_to: BackTo::phase(phase) }),
        Then::Cancel { by, reason } => {
            events.extend(cancelled(&Actor::person(by.clone()), reason.as_ref())?);
        }
        Then::GoOn => {}
    }
    Ok(events)
}

/// The keeper cannot know who told it to stop; here the task had asked.
fn as_asked(ended: &Ended) -> Ended {
    let stopped_by = match ended.stopped_by {
        StoppedBy::Shutdown => StoppedBy::Task,
        other @ (StoppedBy::Itself | StoppedBy::Task | StoppedBy::Silence | StoppedBy::Wall) => other,
    };
    Ended { stopped_by, ..ended.clone() }
}
