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
mod start;
mod verify;

use super::{Actor, Command, Event, Input, Refusal, ReleasedBy, Scope, Submission, Task};
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
    permit(task, input, actor)?;
    match input {
        Input::Command(command) => command::command(task, command, actor, now),
        Input::Observation(seen) => Ok(observe::observe(task, seen, now)),
    }
}

/// Commands come from people, observations from owners; an agent, or who may be one, has neither. That a person is gone can be seen by a worker, who does
/// not own a held task and so has no observation to make.
fn permit(task: &Task, input: &Input, actor: &Actor) -> Result<(), Refusal> {
    let allowed = match (actor.scope, input) {
        (Scope::Person, Input::Command(_))
        | (Scope::Worker, Input::Command(Command::Release { how: ReleasedBy::Gone }))
        | (Scope::Worker | Scope::Workspace, Input::Observation(_)) => true,
        // A worker that has ended a runner's session leaves the task to the next invocation.
        (Scope::Worker, Input::Command(Command::Pause { .. })) => !task.submission.driver.conduct().any_worker,
        (Scope::Unknown, _) => return Err(Refusal::UnknownCaller { verb: input.name() }),
        (Scope::Person | Scope::Worker | Scope::Workspace | Scope::Session, _) => false,
    };
    if allowed { Ok(()) } else { Err(Refusal::Scope { principal: actor.principal.clone(), verb: input.name() }) }
}
