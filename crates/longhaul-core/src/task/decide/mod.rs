//! The one transition function: what an input makes of a task, or why it is refused.
//!
//! Every front end and every owner asks here. Nothing is changed: the events returned are committed by the store, compare-and-set.
//! Only commands can be refused; what was observed is recorded in every state, and the types say so.

mod after_end;
mod agent_limited;
mod change;
mod command;
mod observe;
mod plan;
mod prepared;
mod rules;
mod runner;
mod session;
mod start;
mod tracked;
mod verify;

use super::{Action, Actor, Event, Input, Refusal, Submission, Task, permit};
use crate::time::Time;

/// The longest goal that is taken, in bytes.
const GOAL_CAP: usize = 64 * 1024;

/// What a new task begins with.
pub fn submit(submission: &Submission) -> Result<Vec<Event>, Refusal> {
    let goal = &submission.goal;
    if goal.trim().is_empty() {
        return Err(Refusal::BadGoal { why: "the goal is empty; say what the agent should do" });
    }
    if goal.contains('\0') {
        return Err(Refusal::BadGoal { why: "the goal contains a NUL character; remove it" });
    }
    if goal.len() > GOAL_CAP {
        return Err(Refusal::BadGoal {
            why: "the goal is longer than 64 KiB; put the details in a file in the workspace and name it in the goal",
        });
    }
    let criteria = submission.criteria.iter().map(|criterion| ("criterion", criterion.text.as_str()));
    let constraints = submission.constraints.iter().map(|text| ("constraint", text.as_str()));
    let checks = submission.commands().into_iter().map(|command| ("check", command));
    if let Some((what, _)) = checks.chain(criteria).chain(constraints).find(|(_, text)| text.trim().is_empty()) {
        return Err(Refusal::empty(what));
    }
    Ok(vec![Event::Submitted { submission: submission.clone().into() }])
}

/// What an input makes of a task. No events: it is so already.
pub fn decide(task: &Task, input: &Input, actor: &Actor, now: Time) -> Result<Vec<Event>, Refusal> {
    permit(actor, &Action::Input(task, input))?;
    match input {
        Input::Command(command) => command::command(task, command, actor, now),
        Input::Observation(seen) => Ok(observe::observe(task, seen, now)),
    }
}
