//! The one transition function: what an input makes of a task, or why it is refused.
//!
//! Every front end and every owner asks here. Nothing is changed: the events returned are committed by the store, compare-and-set.
//! Only commands can be refused; what was observed is recorded in every state, and the types say so.

mod after_end;
mod agent_limited;
mod change;
mod command;
mod follow_up;
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
/// The most entries of a list, and its most bytes.
const LIST_CAP: usize = 500;
const LIST_BYTES: usize = 256 * 1024;

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
    let of_criteria = submission.criteria.iter().filter_map(|criterion| criterion.check.as_deref());
    check_list("check", submission.checks.iter().map(String::as_str).chain(of_criteria))?;
    check_list("criterion", submission.criteria.iter().map(|criterion| criterion.text.as_str()))?;
    check_list("constraint", submission.constraints.iter().map(String::as_str))?;
    check_list("input", submission.inputs.iter().map(|file| file.path.as_str()))?;
    check_list("expected file", submission.expects.iter().map(String::as_str))?;
    Ok(vec![Event::Submitted { submission: submission.clone().into() }])
}

/// Refuses a list with an empty text, and one that is too long: an event stores it whole, and `show` shows it whole.
pub(super) fn check_list<'text>(what: &'static str, texts: impl Iterator<Item = &'text str>) -> Result<(), Refusal> {
    let (mut number, mut bytes) = (0, 0);
    for text in texts {
        if text.trim().is_empty() {
            return Err(Refusal::empty(what));
        }
        (number, bytes) = (number + 1, bytes + text.len());
    }
    if number <= LIST_CAP && bytes <= LIST_BYTES {
        return Ok(());
    }
    let cap = LIST_BYTES >> 10;
    Err(Refusal::BadInput {
        why: format!("a task takes at most {LIST_CAP} {what} entries, {cap} KiB in all; put more in a file"),
    })
}

/// What an input makes of a task. No events: it is so already.
pub fn decide(task: &Task, input: &Input, actor: &Actor, now: Time) -> Result<Vec<Event>, Refusal> {
    permit(actor, &Action::Input(task, input))?;
    match input {
        Input::Command(command) => command::command(task, command, actor, now),
        Input::Observation(seen) => Ok(observe::observe(task, seen, now)),
    }
}
