//! Decisions in states without a session that an owner moves on: queued, preparing, waiting. Called by `decide` only.
//! Every input is spelled out, so that a new one does not compile until it has an answer here.

use super::super::{
    Actor, BackTo, Event, Input, PlanSight, Purpose, ReadTo, Refusal, SessionRun, Task, Usage, Verdict, Wait,
};
use super::{cancelled, forced, noted, plan, refuse};
use crate::ids::SessionId;
use crate::time::Time;

pub(super) fn queued(back_to: BackTo, input: &Input, actor: &Actor) -> Result<Vec<Event>, Refusal> {
    match input {
        Input::Pause { .. } => Ok(vec![Event::Paused { back_to }]),
        Input::Resume { .. } => refuse(input, "queued", "it starts as soon as a worker takes it"),
        Input::Cancel { reason } => cancelled(actor, reason.as_ref()),
        Input::Force { target } => forced(target),
        Input::Prepared { .. }
        | Input::CannotPrepare { .. }
        | Input::PlanRestored
        | Input::Woke
        | Input::SessionRead { .. }
        | Input::SessionEnded { .. } => noted(input),
    }
}

pub(super) fn preparing(
    task: &Task,
    back_to: BackTo,
    input: &Input,
    actor: &Actor,
    now: Time,
) -> Result<Vec<Event>, Refusal> {
    match input {
        Input::Pause { .. } => Ok(vec![Event::Paused { back_to }]),
        Input::Resume { .. } => refuse(input, "preparing", "it is about to start a session"),
        Input::Cancel { reason } => cancelled(actor, reason.as_ref()),
        Input::Force { target } => forced(target),
        Input::Prepared { session, plan } => Ok(prepared(task, back_to, *session, plan, now)),
        Input::CannotPrepare { cause } => Ok(vec![Event::Blocked { cause: cause.clone(), back_to }]),
        Input::PlanRestored => Ok(vec![Event::PlanRestored]),
        Input::Woke | Input::SessionRead { .. } | Input::SessionEnded { .. } => noted(input),
    }
}

pub(super) fn waiting(
    until: Time,
    back_to: BackTo,
    input: &Input,
    actor: &Actor,
    now: Time,
) -> Result<Vec<Event>, Refusal> {
    match input {
        Input::Pause { .. } => Ok(vec![Event::Paused { back_to }]),
        Input::Resume { .. } => refuse(input, "waiting", "it goes on by itself; pause and resume it to try at once"),
        Input::Cancel { reason } => cancelled(actor, reason.as_ref()),
        Input::Force { target } => forced(target),
        Input::Woke if now >= until || back_to.not_before.is_none() => Ok(vec![Event::WaitEnded]),
        Input::Woke => Ok(Vec::new()),
        Input::Prepared { .. }
        | Input::CannotPrepare { .. }
        | Input::PlanRestored
        | Input::SessionRead { .. }
        | Input::SessionEnded { .. } => noted(input),
    }
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
