//! The workspace is fit: what the owner does next. Wait, take or refuse plan changes, finish, verify, or commit a session.
//! Called by `decide` only. Every session of a task, of the agent or of a check, starts here.

use super::super::{Basis, Event, FileHash, Phase, PlanFiles, Purpose, SessionRun, Task, Verdict, Wait};
use super::after_end::wait;
use super::{plan, runner, verify};
use crate::ids::SessionId;
use crate::time::Time;

/// What the owner found.
pub(super) struct Found<'a> {
    pub(super) session: SessionId,
    pub(super) plan: &'a PlanFiles,
    pub(super) tree: Option<&'a String>,
    pub(super) phase: Option<Phase>,
    pub(super) files: &'a [FileHash],
    pub(super) basis: &'a Basis,
    pub(super) opens: Option<Time>,
    pub(super) saved: Option<&'a String>,
}

pub(super) fn prepared(task: &Task, found: &Found<'_>, now: Time) -> Vec<Event> {
    if task.submission.driver.is_runner() {
        return runner::prepared(task, found, now);
    }
    if let Some(other) = task.submission.after.filter(|_| !task.after_met) {
        return vec![Event::WaitStarted { why: Wait::After(other), until: None, span_ms: None }];
    }
    let Some(accepted) = &task.plan else {
        return vec![agent(task, found, Purpose::Plan, now)];
    };
    let mut seen = plan::compare(task, accepted, found.plan);
    if seen.refused() {
        return seen.events;
    }
    let next = match (seen.plan.is_complete(), task.needs_fix()) {
        (true, false) if !task.submission.can_be_verified() => {
            vec![Event::Finished { verdict: Verdict::NoChecks }]
        }
        // Verified is what was found ticked before the look at tree and expected files: a look that was taken for anything else,
        // or a list that changed just now, wants another one.
        (true, false) if found.phase != Some(Phase::Verify) || !seen.events.is_empty() => Vec::new(),
        (true, false) => verify::next_check(task, found, now),
        (true, true) => vec![agent(task, found, Purpose::Fix, now)],
        (false, _) => vec![agent(task, found, Purpose::Work, now)],
    };
    seen.events.extend(next);
    seen.events
}

/// The next session of an agent, unless a limit of the task is used up, or it has to wait for its time.
fn agent(task: &Task, found: &Found<'_>, purpose: Purpose, now: Time) -> Event {
    if let Some(reached) = task.limit_reached() {
        return Event::Stopped { reached };
    }
    if let Some(until) = task.limited_until(now) {
        return wait(Wait::Limit, until, now);
    }
    if let Some(until) = found.opens {
        return wait(Wait::Hours, until, now);
    }
    let name = task.next_agent(now);
    let start = task.start_of(name, purpose);
    Event::SessionStarted {
        session: SessionRun {
            agent: name.to_owned(),
            attempt: task.tally.tries + 1,
            opening: start.opening,
            resumes: start.resumes,
            carry: start.carry,
            wall_ms: task.session_wall_ms(),
            ..session(task, found, purpose, now)
        },
    }
}

/// A session that has not run yet.
pub(super) fn session(task: &Task, found: &Found<'_>, purpose: Purpose, now: Time) -> SessionRun {
    let number = task.tally.sessions + 1;
    SessionRun { tree: found.tree.cloned(), ..SessionRun::new(found.session, number, purpose, now) }
}
