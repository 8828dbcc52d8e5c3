//! Decides what follows when an agent reaches its usage limit or becomes unusable: wait, continue with another agent, ask, or stop, as the
//! person chose. Called by `decide` only. Never counts as a failure.

use std::time::Duration;

use super::super::{
    AccountLimit, AgentLimit, Event, HelpReason, Limit, OnLimit, Reached, SessionRun, Task, Until, Wait,
};
use super::after_end::wait;
use crate::time::Time;

/// A session ended because its agent's account is used up.
pub(super) fn limited(task: &Task, session: &SessionRun, limit: AgentLimit, now: Time) -> Vec<Event> {
    after_limits(task, vec![note(&session.agent, limit)], now)
}

/// Other tasks of this home have reached limits that hold for agents of this one.
pub(super) fn learned(task: &Task, limits: &[AccountLimit], now: Time) -> Vec<Event> {
    let notes = task.unknown_limits(limits, now).into_iter().map(|shared| {
        let AccountLimit { account, agent, until, told, task } = shared;
        note(&agent, AgentLimit { until, told, account: Some(account), found_by: Some(task), over: false })
    });
    after_limits(task, notes.collect(), now)
}

/// An agent that only a person can make usable again: another one continues, now or when its limit is over; with none left, `otherwise`.
pub(super) fn unusable(task: &Task, agent: &str, why: &str, otherwise: Event, now: Time) -> Vec<Event> {
    let note = Event::AgentLimited {
        agent: agent.to_owned(),
        until: Until::Person { why: why.to_owned() },
        account: None,
        found_by: None,
    };
    let Ok(after) = task.apply(&note, now) else { return vec![otherwise] };
    let is_usable = after.candidates().any(|agent| !after.unusable.contains_key(agent));
    if !is_usable {
        return vec![otherwise];
    }
    let waits = after.limited_until(now).map(|until| wait(Wait::Limit, until, now));
    std::iter::once(note).chain(waits).collect()
}

pub(super) fn note(agent: &str, limit: AgentLimit) -> Event {
    let AgentLimit { until, told, account, found_by, over: _ } = limit;
    Event::AgentLimited { agent: agent.to_owned(), until: Until::Time { at: until, told }, account, found_by }
}

/// What follows once these limits are known; nothing more when an agent is left that can be started now.
fn after_limits(task: &Task, notes: Vec<Event>, now: Time) -> Vec<Event> {
    let after = task.after(&notes, now);
    let next = after.ok().and_then(|after| Some((after.limited_until(now)?, after)));
    let next = next.map(|(until, after)| match after.submission.on_limit {
        OnLimit::Wait | OnLimit::Switch => {
            too_long(&after, until, now).unwrap_or_else(|| wait(Wait::Limit, until, now))
        }
        OnLimit::Ask => {
            let agent = after.submission.agent.clone();
            let told = after.limited.get(&agent).is_some_and(|limit| limit.told);
            let reason = HelpReason::UsageLimit { agent, until: told.then_some(until) };
            Event::HelpNeeded { reason }
        }
        OnLimit::Stop => Event::Stopped {
            reached: Reached { limit: Limit::Usage, used: 0, cap: 0, family: None, family_name: None },
        },
    });
    notes.into_iter().chain(next).collect()
}

/// Waiting for years is no plan, and a time that far away is probably a mistake of the agent.
fn too_long(task: &Task, until: Time, now: Time) -> Option<Event> {
    let longest_ms = task.submission.patience.longest_wait_ms;
    let (agent, _) = task.limited.iter().find(|(_, limit)| limit.until == until)?;
    let reason = HelpReason::LimitTooLong { agent: agent.clone(), until, longest_ms };
    (until.since(now) > Duration::from_millis(longest_ms)).then_some(Event::HelpNeeded { reason })
}
