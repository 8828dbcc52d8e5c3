//! The one gate for sessions: of an agent, of a check, or of the runner. Every session of a task starts here, or it is held back here.
//! Called by `decide` only.

use super::super::{Basis, Event, FileHash, Phase, PlanFiles, Purpose, RunnerOptions, SessionRun, Task, Wait};
use super::after_end::wait;
use crate::ids::SessionId;
use crate::time::Time;

/// What the owner found when it prepared the next session.
pub(super) struct Preparation<'a> {
    pub(super) session: SessionId,
    pub(super) plan: &'a PlanFiles,
    pub(super) tree: Option<&'a String>,
    pub(super) phase: Option<Phase>,
    pub(super) files: &'a [FileHash],
    pub(super) basis: &'a Basis,
    pub(super) opens: Option<Time>,
    pub(super) saved: Option<&'a String>,
}

/// Which session is next.
pub(super) enum Wanted<'a> {
    /// One of an agent.
    Agent(Purpose),
    /// One of the agent, in an invocation of the runner.
    Driven(Purpose, &'a RunnerOptions),
    /// This check.
    Check(&'a str),
    /// This setup command, in the worktree.
    Setup(&'a str),
}

/// The next session, or why it does not start now.
pub(super) fn start(task: &Task, found: &Preparation<'_>, wanted: &Wanted<'_>, now: Time) -> Event {
    let session = || match wanted {
        Wanted::Agent(purpose) => of_agent(task, found, *purpose, now),
        Wanted::Driven(purpose, run) => of_runner(task, found, *purpose, run, now),
        Wanted::Check(command) => of_command(task, found, Purpose::Check, command, now),
        Wanted::Setup(command) => of_command(task, found, Purpose::Setup, command, now),
    };
    held_back(task, found, wanted, now).unwrap_or_else(|| Event::SessionStarted { session: session() })
}

/// A limit of the task is used up, or the session has to wait for its time. Our own commands cost nothing of what is limited, and an invocation of
/// the runner waits for nothing.
fn held_back(task: &Task, found: &Preparation<'_>, wanted: &Wanted<'_>, now: Time) -> Option<Event> {
    match wanted {
        Wanted::Driven(..) | Wanted::Check(_) | Wanted::Setup(_) => None,
        Wanted::Agent(_) => {
            let reached = task.limit_reached().map(|reached| Event::Stopped { reached });
            let limited = || task.limited_until(now).map(|until| wait(Wait::Limit, until, now));
            let closed = || found.opens.map(|until| wait(Wait::Hours, until, now));
            reached.or_else(limited).or_else(closed)
        }
    }
}

fn of_agent(task: &Task, found: &Preparation<'_>, purpose: Purpose, now: Time) -> SessionRun {
    let name = task.next_agent(now);
    let start = task.start_of(name, purpose);
    SessionRun {
        agent: name.to_owned(),
        attempt: task.tally.tries + 1,
        opening: start.opening,
        resumes: start.resumes,
        carry: start.carry,
        wall_ms: task.session_wall_ms(),
        ..session(task, found, purpose, now)
    }
}

fn of_runner(task: &Task, found: &Preparation<'_>, purpose: Purpose, run: &RunnerOptions, now: Time) -> SessionRun {
    SessionRun {
        agent: task.submission.agent.clone(),
        attempt: task.tally.tries + 1,
        resumes: run.resumes(found.saved),
        carry: run.carry.clone(),
        ..session(task, found, purpose, now)
    }
}

fn of_command(task: &Task, found: &Preparation<'_>, purpose: Purpose, command: &str, now: Time) -> SessionRun {
    SessionRun { command: Some(command.to_owned()), ..session(task, found, purpose, now) }
}

/// A session that has not run yet.
fn session(task: &Task, found: &Preparation<'_>, purpose: Purpose, now: Time) -> SessionRun {
    let number = task.tally.sessions + 1;
    SessionRun { tree: found.tree.cloned(), ..SessionRun::new(found.session, number, purpose, now) }
}
