//! What comes after a session of the agent that ended without being asked to. Called by `decide` only.
//! The plan is compared, progress is judged, and the recovery table chooses what is next.

use super::super::{
    AgentLimit, Cause, Ended, Event, HelpReason, Outcome, Phase, PlanFiles, Purpose, Saved, SessionRun, Task, Verdict,
    Wait,
};
use super::agent_limited;
use super::plan::{self, Seen};
use crate::plan::Plan;
use crate::recovery::{self, Facts, Next};
use crate::time::Time;

pub(super) fn after_end(task: &Task, session: &SessionRun, ended: &Ended, sight: &PlanFiles, now: Time) -> Vec<Event> {
    let seen = read_plan_files(task, session, ended, sight);
    let mut events = end_events(session, ended, &seen);
    // What follows is judged by counters that know of this end already.
    let after = task.after(&events, now).unwrap_or_else(|_| task.clone());
    if is_finished(&after, session, ended, &seen) {
        if after.merging.is_none() && !after.submission.can_be_verified() {
            events.push(Event::Finished { verdict: Verdict::NoChecks });
        }
        return events;
    }
    let facts = Facts {
        session: session.id,
        ended,
        bad_plan: seen.problem.as_deref(),
        tally: &after.tally,
        patience: &after.submission.patience,
        probe: after.probe_after(),
        at_least: after.wait_at_least(&session.agent),
        now,
    };
    let next = recovery::next(&facts);
    if let (Some(reached), Next::GoOn | Next::WaitUntil(..) | Next::Limited { .. }) = (after.limit_reached(), &next) {
        events.push(Event::Stopped { reached });
        return events;
    }
    events.extend(match next {
        Next::GoOn => go_on(&after, ended, now).into_iter().collect(),
        Next::WaitUntil(why, until) => vec![wait(why, until, now)],
        Next::Limited { until, told } => {
            let limit = AgentLimit { until, told, account: ended.account.clone(), found_by: None, over: false };
            agent_limited::limited(&after, session, limit, now)
        }
        Next::Exhausted(why) => {
            let reason = HelpReason::Exhausted { agent: session.agent.clone(), why: why.clone() };
            let asks = Event::HelpNeeded { reason };
            let why = format!("no usage left: {why}");
            agent_limited::unusable(&after, &session.agent, &why, asks, now)
        }
        Next::Ask(reason @ HelpReason::AgentRefuses { .. }) => {
            let why = reason.to_string();
            agent_limited::unusable(&after, &session.agent, &why, Event::HelpNeeded { reason }, now)
        }
        Next::Block(cause @ Cause::Program { .. }) => {
            let why = cause.to_string();
            agent_limited::unusable(&after, &session.agent, &why, Event::Blocked { cause }, now)
        }
        Next::Ask(reason) => vec![Event::HelpNeeded { reason }],
        Next::Block(cause) => vec![Event::Blocked { cause }],
    });
    events
}

/// Every step is ticked, and nothing is left for the agent: the checks decide, whatever the agent's end was. A fixing session has to
/// complete first.
fn is_finished(after: &Task, session: &SessionRun, ended: &Ended, seen: &Seen) -> bool {
    let through = session.purpose != Purpose::Fix || ended.outcome == Outcome::Completed;
    let is_complete = after.merging.is_some() || seen.plan.is_complete();
    is_complete && !seen.refused() && through && !after.needs_fix() && ended.starved.is_none()
}

/// The next session: at once, after the pause between two sessions, or when a person wants it.
fn go_on(after: &Task, ended: &Ended, now: Time) -> Option<Event> {
    let patience = &after.submission.patience;
    if ended.came_to_nothing() {
        return None;
    }
    if patience.once {
        return Some(Event::Paused { why: None });
    }
    let until = now.after(std::time::Duration::from_millis(patience.delay_ms));
    (patience.delay_ms > 0).then(|| wait(Wait::Delay, until, now))
}

/// Hours of the day follow the wall clock alone.
pub(super) fn wait(why: Wait, until: Time, now: Time) -> Event {
    let span_ms = match why {
        Wait::Limit | Wait::Backoff | Wait::Delay => u64::try_from(until.since(now).as_millis()).ok(),
        Wait::After(_) | Wait::Landing(_) | Wait::Hours => None,
    };
    Event::WaitStarted { why, until: Some(until), span_ms }
}

/// What the plan's files mean after this session; a command of ours has nothing to do with them.
pub(super) fn read_plan_files(task: &Task, session: &SessionRun, ended: &Ended, sight: &PlanFiles) -> Seen {
    match (&task.plan, session.purpose) {
        _ if task.merging.is_some() => Seen::unchanged(Plan::default()),
        (Some(accepted), Purpose::Plan | Purpose::Work | Purpose::Fix) => plan::compare(task, accepted, sight),
        (None, Purpose::Plan | Purpose::Work | Purpose::Fix) => plan::first(ended, sight),
        (accepted, Purpose::Check | Purpose::Setup) => {
            Seen::unchanged(accepted.as_ref().map(|accepted| accepted.plan.clone()).unwrap_or_default())
        }
    }
}

/// The end and what it did to the plan, in order; the state in between is `preparing`.
pub(super) fn end_events(session: &SessionRun, ended: &Ended, seen: &Seen) -> Vec<Event> {
    let progress = is_progress(session, ended, seen);
    let end = Event::SessionEnded { session: session.id, ended: ended.clone(), progress };
    std::iter::once(end).chain(seen.events.iter().cloned()).collect()
}

/// A new tick and a changed tree; where the tree is unknown a new tick alone. A fixing session has nothing to tick.
fn is_progress(session: &SessionRun, ended: &Ended, seen: &Seen) -> bool {
    let tree_changed = match (&session.tree, &ended.tree) {
        (Some(before), Some(after)) => Some(before != after),
        (None | Some(_), _) => None,
    };
    match session.purpose {
        Purpose::Plan => seen.is_progress(),
        Purpose::Work => seen.is_progress() && tree_changed != Some(false),
        Purpose::Fix => tree_changed.unwrap_or(!matches!(ended.saved, Saved::Nothing)),
        Purpose::Check | Purpose::Setup => false,
    }
}

/// The phase after these events.
pub(super) fn phase_after(task: &Task, events: &[Event]) -> Phase {
    let after = task.after(events, task.updated);
    after.map_or_else(|_| task.phase(), |after| after.phase())
}
