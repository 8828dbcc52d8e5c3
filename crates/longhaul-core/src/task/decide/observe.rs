//! What an observation makes of a task in each state. Called by `decide` only; nothing here can say no.
//! A state with a session is left only by its observed end. What moves nothing is noted.

use super::super::{
    BackTo, Ended, Event, Observation, Phase, PlanSight, Purpose, ReadTo, SessionRun, State, StoppedBy, Task, Then,
    Usage, Verdict, Wait,
};
use super::plan::{self, Seen};
use crate::ids::SessionId;
use crate::recovery::{self, Facts, Next};
use crate::time::Time;

pub(super) fn observe(task: &Task, seen: &Observation, now: Time) -> Vec<Event> {
    match &task.state {
        State::Preparing { back_to } => preparing(task, *back_to, seen, now),
        State::Waiting { until, back_to, .. } => waiting(*until, *back_to, seen, now),
        State::Planning { session } | State::Working { session } => {
            attending(session, seen, |ended, plan| after_end(task, session, ended, plan, now))
        }
        State::Stopping { session, then, .. } => {
            attending(session, seen, |ended, plan| after_stop(task, session, ended, plan, then))
        }
        State::Queued { .. }
        | State::NeedsHelp { .. }
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::Done { .. }
        | State::Cancelled { .. } => noted(seen),
    }
}

fn preparing(task: &Task, back_to: BackTo, seen: &Observation, now: Time) -> Vec<Event> {
    match seen {
        Observation::Prepared { session, plan } => prepared(task, back_to, *session, plan, now),
        Observation::CannotPrepare { cause } => vec![Event::Blocked { cause: cause.clone(), back_to }],
        Observation::PlanRestored => vec![Event::PlanRestored],
        Observation::Woke | Observation::SessionRead { .. } | Observation::SessionEnded { .. } => noted(seen),
    }
}

fn waiting(until: Time, back_to: BackTo, seen: &Observation, now: Time) -> Vec<Event> {
    match seen {
        Observation::Woke if now >= until || back_to.not_before.is_none() => vec![Event::WaitEnded],
        Observation::Woke => Vec::new(),
        Observation::Prepared { .. }
        | Observation::CannotPrepare { .. }
        | Observation::PlanRestored
        | Observation::SessionRead { .. }
        | Observation::SessionEnded { .. } => noted(seen),
    }
}

/// While a session lives: what it said is kept, and its end leads on.
fn attending(
    session: &SessionRun,
    seen: &Observation,
    end: impl FnOnce(&Ended, &PlanSight) -> Vec<Event>,
) -> Vec<Event> {
    match seen {
        Observation::SessionRead { session: id, read, said } if *id == session.id => {
            vec![Event::SessionRead { session: *id, read: read.clone(), said: said.clone() }]
        }
        Observation::SessionEnded { session: id, ended, plan } if *id == session.id => end(ended, plan),
        Observation::SessionRead { .. }
        | Observation::SessionEnded { .. }
        | Observation::Prepared { .. }
        | Observation::CannotPrepare { .. }
        | Observation::PlanRestored
        | Observation::Woke => noted(seen),
    }
}

fn noted(seen: &Observation) -> Vec<Event> {
    vec![Event::Noted { observation: Box::new(seen.clone()) }]
}

/// The workspace is fit: wait out a limit, take or refuse plan changes, finish, or commit the next session.
fn prepared(task: &Task, back_to: BackTo, session: SessionId, sight: &PlanSight, now: Time) -> Vec<Event> {
    if let Some(until) = back_to.not_before.filter(|until| *until > now) {
        return vec![Event::WaitStarted { why: Wait::Limit, until, back_to }];
    }
    let Some(accepted) = &task.plan else {
        return vec![start(task, session, Purpose::Plan, now)];
    };
    let mut seen = plan::compare(task, accepted, sight);
    if seen.refused() {
        return seen.events;
    }
    seen.events.push(if seen.plan.is_complete() {
        Event::Finished { verdict: Verdict::Unverified }
    } else {
        start(task, session, Purpose::Work, now)
    });
    seen.events
}

fn start(task: &Task, id: SessionId, purpose: Purpose, now: Time) -> Event {
    Event::SessionStarted {
        session: SessionRun {
            id,
            number: task.tally.sessions + 1,
            purpose,
            resumes: task.conversation.clone(),
            conversation: None,
            started: now,
            read: ReadTo::default(),
            usage: Usage::default(),
        },
    }
}

fn look(task: &Task, ended: &Ended, sight: &PlanSight) -> Seen {
    match &task.plan {
        Some(accepted) => plan::compare(task, accepted, sight),
        None => plan::first(ended, sight),
    }
}

/// The end and what it did to the plan, in order; the state in between is `preparing`.
fn end_events(session: &SessionRun, ended: &Ended, seen: &Seen) -> Vec<Event> {
    let progress = seen.is_progress();
    let end = Event::SessionEnded { session: session.id, ended: ended.clone(), progress };
    std::iter::once(end).chain(seen.events.iter().cloned()).collect()
}

/// What comes after a session that ended without being asked to.
fn after_end(task: &Task, session: &SessionRun, ended: &Ended, sight: &PlanSight, now: Time) -> Vec<Event> {
    let seen = look(task, ended, sight);
    let mut events = end_events(session, ended, &seen);
    if seen.plan.is_complete() && !seen.refused() {
        events.push(Event::Finished { verdict: Verdict::Unverified });
        return events;
    }
    // The table looks at counters that know of this end already.
    let tally = events.first().and_then(|end| task.apply(end, now).ok()).map_or(task.tally, |after| after.tally);
    let facts = Facts {
        session: session.id,
        ended,
        bad_plan: seen.problem.as_deref(),
        tally: &tally,
        policy: &task.submission.policy,
        now,
    };
    let back_to = BackTo::phase(phase_after(task, &seen));
    events.extend(match recovery::next(&facts) {
        Next::GoOn => None,
        Next::WaitUntil(why, until) => Some(wait(why, until, back_to)),
        Next::Ask(reason) => Some(Event::HelpNeeded { reason, back_to }),
        Next::Block(cause) => Some(Event::Blocked { cause, back_to }),
    });
    events
}

fn phase_after(task: &Task, seen: &Seen) -> Phase {
    if seen.plan.total() > 0 { Phase::Work } else { task.phase() }
}

/// A limit holds over pause and resume; a backoff does not.
fn wait(why: Wait, until: Time, back_to: BackTo) -> Event {
    let not_before = match why {
        Wait::Limit => Some(until),
        Wait::Backoff => None,
    };
    Event::WaitStarted { why, until, back_to: BackTo { not_before, ..back_to } }
}

/// What comes after a session that was asked to stop.
fn after_stop(task: &Task, session: &SessionRun, ended: &Ended, sight: &PlanSight, then: &Then) -> Vec<Event> {
    let seen = look(task, ended, sight);
    let mut events = end_events(session, &as_asked(ended), &seen);
    match then {
        Then::Pause => events.push(Event::Paused { back_to: BackTo::phase(phase_after(task, &seen)) }),
        Then::Cancel { by, reason } => events.push(Event::Cancelled { by: by.clone(), reason: reason.clone() }),
        Then::GoOn => {}
    }
    events
}

/// The keeper cannot know who told it to stop; here the task had asked.
fn as_asked(ended: &Ended) -> Ended {
    let stopped_by = match ended.stopped_by {
        StoppedBy::Shutdown => StoppedBy::Task,
        other @ (StoppedBy::Itself | StoppedBy::Task | StoppedBy::Silence | StoppedBy::Wall) => other,
    };
    Ended { stopped_by, ..ended.clone() }
}
