//! The one transition function: what an input makes of a task, or why it is refused.
//!
//! Every front end and every owner asks here. Nothing is changed: the events returned are committed by the store, compare-and-set.

mod idle;
mod live;
mod parked;
mod plan;

use super::{Actor, Event, Input, Refusal, Scope, State, Submission, Task};
use crate::time::Time;

/// The longest goal that is taken, in bytes.
const GOAL_CAP: usize = 64 * 1024;

/// What a new task begins with.
pub fn submit(submission: &Submission) -> Result<Vec<Event>, Refusal> {
    let goal = &submission.goal;
    if goal.trim().is_empty() {
        return Err(Refusal::BadGoal { why: "the goal is empty: say what is to be reached" });
    }
    if goal.contains('\0') {
        return Err(Refusal::BadGoal { why: "the goal contains a NUL character: remove it" });
    }
    if goal.len() > GOAL_CAP {
        return Err(Refusal::BadGoal {
            why: "the goal is longer than 64 KiB: put the details into a file of the workspace and name it in the goal",
        });
    }
    Ok(vec![Event::Submitted { submission: submission.clone() }])
}

/// What an input makes of a task. No events: it is so already.
pub fn decide(task: &Task, input: &Input, actor: &Actor, now: Time) -> Result<Vec<Event>, Refusal> {
    permit(input, actor)?;
    match &task.state {
        State::Queued { back_to } => idle::queued(*back_to, input, actor),
        State::Preparing { back_to } => idle::preparing(task, *back_to, input, actor, now),
        State::Waiting { until, back_to, .. } => idle::waiting(*until, *back_to, input, actor, now),
        State::Planning { session } | State::Working { session } => live::running(task, session, input, actor, now),
        State::Stopping { session, haste, then } => live::stopping(task, session, *haste, then, input, actor),
        State::NeedsHelp { back_to, .. } => parked::needs_help(*back_to, input, actor),
        State::Paused { back_to } | State::Blocked { back_to, .. } => parked::parked(task, *back_to, input, actor),
        State::Done { .. } | State::Cancelled { .. } => parked::finished(task, input),
    }
}

/// Commands come from people, observations from owners; an agent has neither.
fn permit(input: &Input, actor: &Actor) -> Result<(), Refusal> {
    let allowed = match actor.scope {
        Scope::Person => input.is_command(),
        Scope::Worker | Scope::Workspace => !input.is_command(),
        Scope::Session => false,
    };
    if allowed { Ok(()) } else { Err(Refusal::Scope { principal: actor.principal.clone(), verb: input.name() }) }
}

fn refuse(input: &Input, from: &'static str, why: &'static str) -> Result<Vec<Event>, Refusal> {
    Err(Refusal::WrongState { verb: input.name(), from, why })
}

/// Observations are recorded even where they move nothing.
fn noted(input: &Input) -> Result<Vec<Event>, Refusal> {
    Ok(vec![Event::Noted { input: Box::new(input.clone()) }])
}

fn cancelled(actor: &Actor, reason: Option<&String>) -> Result<Vec<Event>, Refusal> {
    Ok(vec![Event::Cancelled { by: actor.principal.clone(), reason: reason.cloned() }])
}

fn forced(target: &str) -> Result<Vec<Event>, Refusal> {
    Ok(vec![Event::Forced { target: target.to_owned() }])
}
