//! The rules of `run-session`, where they differ from a supervised task's: exit code 0 is success, the list is taken as it is, nothing
//! is retried, put back or verified, and whatever is wrong ends the invocation. Called by `decide` only.

use super::super::{
    AgentLimit, Ended, Event, Exit, Failure, HelpReason, Outcome, PlanFiles, Purpose, RunnerOptions, SessionRun, Stage,
    Task, TaskListFile, Then, Verdict, Wait, narrate,
};
use super::after_end::wait;
use super::agent_limited;
use super::command::{Decision, change_stop, refuse};
use super::plan::Seen;
use super::start::{Preparation, Wanted, start};
use crate::plan::{self, Plan, PlanChange};
use crate::time::Time;

/// A runner takes a task: a waiting one continues, and a live session is adopted.
pub(super) fn drive(task: &Task, run: &RunnerOptions) -> Decision {
    let no = |why| refuse(task, "drive", why);
    if !task.submission.driver.is_runner() {
        return no("a worker runs it; continue it with `longhaul resume`");
    }
    let driven = Event::Driven { run: run.clone() };
    match task.state.stage() {
        Stage::Held => no("a person has taken over its conversation"),
        Stage::Tracked { .. } => no(super::tracked::NOT_OURS),
        Stage::Stopping { then: Then::Cancel { .. }, .. } => no("it is being cancelled"),
        Stage::Stopping { mode, .. } => Ok([vec![driven], change_stop(task, mode, Then::GoOn)?].concat()),
        Stage::Queued | Stage::Preparing | Stage::Live(_) | Stage::Waiting | Stage::ForPerson => Ok(vec![driven]),
        Stage::Final { .. } => no("it is finished"),
    }
}

/// The workspace is fit: the next session, or the end of the invocation.
pub(super) fn prepared(task: &Task, found: &Preparation<'_>, now: Time) -> Vec<Event> {
    let mut seen = read_plan_files(task, found.plan);
    let next = match &task.run {
        Some(run) if seen.problem.is_none() && !seen.plan.is_complete() && !run.is_used_up() => {
            let purpose = if found.plan.list == TaskListFile::Missing { Purpose::Plan } else { Purpose::Work };
            start(task, found, &Wanted::Driven(purpose, run), now)
        }
        _ if seen.problem.is_none() && seen.plan.is_complete() => Event::Finished { verdict: Verdict::NoChecks },
        Some(_) | None => Event::Paused { why: seen.problem.clone() },
    };
    seen.events.push(next);
    seen.events
}

/// What comes after a session that ended without being asked to.
pub(super) fn after_end(task: &Task, session: &SessionRun, ended: &Ended, sight: &PlanFiles, now: Time) -> Vec<Event> {
    let seen = read_plan_files(task, sight);
    let mut events = super::after_end::end_events(session, ended, &seen);
    let Ok(after) = task.after(&events, now) else { return events };
    let is_over = after.run.as_ref().is_none_or(RunnerOptions::is_used_up);
    let delay = std::time::Duration::from_millis(after.submission.patience.delay_ms);
    match &ended.exit {
        // At once, and in a new conversation.
        _ if session.resume_failed(ended) => {}
        // Found by an adopter: nothing was ever executed. More than once, something is wrong outside.
        Exit::NeverStarted if after.tally.interrupted <= 1 => {}
        Exit::Code(0) if seen.problem.is_none() && !seen.plan.steps.is_empty() => {
            events.push(match seen.plan.is_complete() {
                true => Event::Finished { verdict: Verdict::NoChecks },
                false if is_over => Event::Paused { why: None },
                false => wait(Wait::Delay, now.after(delay), now),
            });
        }
        Exit::Code(0) => {
            let why = seen.problem.unwrap_or_else(|| "task_list.md is missing".to_owned());
            events.push(Event::Paused { why: Some(why) });
        }
        exit @ (Exit::Code(_) | Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown) => {
            let limit = limit_of(&after, session, ended, now);
            let why = match (&limit, &ended.outcome) {
                (Some(limit), _) => narrate(limit),
                (None, Outcome::Failed(Failure::Exhausted(why))) => {
                    HelpReason::Exhausted { agent: session.agent.clone(), why: why.clone() }.to_string()
                }
                (None, _) => format!("session {} failed: {exit}", session.number),
            };
            events.extend(limit);
            events.push(Event::Paused { why: Some(why) });
        }
    }
    events
}

/// The usage limit that a session ended at: the runner does not wait for it, but a supervised task that continues has to.
fn limit_of(after: &Task, session: &SessionRun, ended: &Ended, now: Time) -> Option<Event> {
    let Outcome::Failed(Failure::Limited(told)) = &ended.outcome else { return None };
    let until = told.unwrap_or_else(|| now.after(after.probe_after()));
    let limit = AgentLimit { until, told: told.is_some(), account: ended.account.clone(), found_by: None, over: false };
    Some(agent_limited::note(&session.agent, limit))
}

/// The list as it is: what it says now is the plan. One that cannot be read is left as it is, and a person is informed.
pub(super) fn read_plan_files(task: &Task, sight: &PlanFiles) -> Seen {
    let accepted = task.plan.as_ref();
    let nothing = |problem: Option<String>| Seen { events: Vec::new(), plan: Plan::default(), problem };
    let (text, hash) = match &sight.list {
        TaskListFile::Missing => return nothing(None),
        TaskListFile::Unreadable { why } => return nothing(Some(format!("invalid task_list.md: {why}"))),
        TaskListFile::Text { .. } if !sight.progress_exists => return nothing(Some("progress.md is missing".into())),
        TaskListFile::Text { hash, text } => (text, hash),
    };
    if let Some(accepted) = accepted.filter(|accepted| accepted.hash == *hash) {
        return Seen::unchanged(accepted.plan.clone());
    }
    let plan = match plan::parse(text) {
        Ok(plan) => plan,
        Err(bad) => return nothing(Some(format!("invalid task_list.md: {bad}"))),
    };
    let was_ticked = |number| {
        accepted.is_some_and(|accepted| accepted.plan.steps.iter().any(|step| step.number == number && step.ticked))
    };
    let ticked = plan.steps.iter().filter(|step| step.ticked && !was_ticked(step.number)).map(|step| step.number);
    let ticked: Vec<u32> = ticked.collect();
    let revised = Event::PlanRevised {
        revision: accepted.map_or(1, |accepted| accepted.revision + 1),
        change: PlanChange::between(accepted.map(|accepted| &accepted.plan), &ticked, &plan),
        ticked,
        hash: hash.clone(),
    };
    Seen { events: vec![revised], plan, problem: None }
}
