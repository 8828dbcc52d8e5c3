//! What it makes of a task that an agent has reached its usage limit or cannot be used at all: wait, go on with another agent, ask, or
//! stop, as the person chose. Called by `decide` only. Never counts as a failure.

use super::super::quota::{FOR_GOOD, is_for_good};
use super::super::{BackTo, Event, HelpReason, Limit, OnLimit, Reached, Task, Wait};
use super::after_end::wait;
use crate::time::Time;

pub(super) fn limited(task: &Task, agent: &str, until: Time, told: bool, back_to: BackTo, now: Time) -> Vec<Event> {
    let note = Event::AgentLimited { agent: agent.to_owned(), until, told, gone: None };
    let next = match task.submission.on_limit {
        OnLimit::Wait | OnLimit::Switch => {
            let all = task.apply(&note, now).map_or(Some(until), |task| task.limited_until(now));
            all.map(|until| wait(Wait::Limit, until, back_to))
        }
        OnLimit::Ask => {
            let reason = HelpReason::UsageLimit { agent: agent.to_owned(), until: told.then_some(until) };
            Some(Event::HelpNeeded { reason, back_to })
        }
        OnLimit::Stop => Some(Event::Stopped { reached: Reached { limit: Limit::Usage, used: 0, cap: 0 }, back_to }),
    };
    std::iter::once(note).chain(next).collect()
}

/// An agent that only a person can make usable again: another one goes on, now or when its limit is over; with none left, `otherwise`.
pub(super) fn unusable(
    task: &Task,
    agent: &str,
    why: &str,
    otherwise: Event,
    back_to: BackTo,
    now: Time,
) -> Vec<Event> {
    if task.submission.on_limit != OnLimit::Switch {
        return vec![otherwise];
    }
    let until = now.after(FOR_GOOD);
    let note = Event::AgentLimited { agent: agent.to_owned(), until, told: true, gone: Some(why.to_owned()) };
    match task.apply(&note, now).map(|task| task.limited_until(now)) {
        Ok(None) => vec![note],
        Ok(Some(until)) if !is_for_good(until, now) => vec![note, wait(Wait::Limit, until, back_to)],
        Ok(Some(_)) | Err(_) => vec![otherwise],
    }
}
