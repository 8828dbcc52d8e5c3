//! `longhaul pause`: stops the session by its recipe and waits; what does not answer is named, and killed only with `--force`.
//! It never signals an agent itself: the owner does, because only the owner knows that the end was observed.

use std::time::{Duration, Instant};

use longhaul_core::task::{Command, State, StopMode, Task};
use longhaul_keeper::process::{self, Process};
use longhaul_keeper::{Identity, SessionDir};
use longhaul_store::Stored;

use super::act::act;
use super::why::unreadable;
use super::{Opened, open_existing};
use crate::cli::Pause;
use crate::error::CliError;
use crate::exit::Code;
use crate::viewer::{code_of, until};
use crate::{describe, lookup, out, owner};

/// How long an owner and its keeper have to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How often a killed worker's lock is looked at; there is no event for its end.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

pub(crate) async fn pause(args: &Pause) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find(&opened, args.which.task.as_deref()).await?;
    let id = stored.task.id;
    let mode = if args.now { StopMode::Immediate } else { StopMode::Graceful };
    act(&opened, &stored, Command::Pause { mode }).await?;
    if let Some(stored) = until(&opened, id, PATIENCE, stopped).await? {
        return Ok(told(&stored));
    }
    let stored = opened.store.load(id).await?.unwrap_or(stored);
    if !args.force {
        return Err(not_stopped(&opened, &stored));
    }
    let victim = match stopped_process(&opened, &stored) {
        Some(silent) => silent,
        // Nobody is known to be silent, and yet a person wants it to end: its keeper's death ends the session.
        None => Silent::keeper(&keeper(&opened, &stored).ok_or_else(|| not_stopped(&opened, &stored))?),
    };
    force(&opened, &stored, &victim).await?;
    match until(&opened, id, PATIENCE, stopped).await? {
        Some(stored) => Ok(told(&stored)),
        None => Err(CliError::new(Code::TimedOut, "the session has still not ended")),
    }
}

/// Why a session has not ended in time.
pub(super) fn not_stopped(opened: &Opened, stored: &Stored) -> CliError {
    if let Some(silent) = stopped_process(opened, stored) {
        return silent.does_not_answer();
    }
    match unreadable(opened, stored) {
        Some(why) => CliError::new(Code::TimedOut, why)
            .hint("restore your access to that directory; the worker tries again by itself"),
        None => still_stopping(),
    }
}

pub(super) fn stopped(task: &Task) -> bool {
    !matches!(task.state, State::Stopping { .. })
}

/// Only a paused task is a success: it may have been cancelled or let go on meanwhile.
fn told(stored: &Stored) -> Code {
    let name = &stored.task.submission.name;
    let state = &stored.task.state;
    if matches!(state, State::Paused) {
        out::note(&format!("task {name} is paused; {}", describe::next_command(stored)));
        return Code::Done;
    }
    out::note(&format!("task {name} is not paused, but {}", out::safe(&describe::state(&stored.task))));
    out::note(&describe::next_command(stored));
    code_of(state)
}

fn still_stopping() -> CliError {
    CliError::new(Code::TimedOut, "the session is still being stopped; its agent has a while to end by itself")
        .hint("wait for it, or end it with `longhaul pause --now`; `--force` kills its keeper")
}

/// A process that keeps a task from stopping.
struct Silent {
    name: String,
    process: Process,
}

impl Silent {
    fn worker(worker: Process) -> Silent {
        Silent { name: format!("worker {}", worker.pid), process: worker }
    }

    fn keeper(keeper: &Identity) -> Silent {
        Silent { name: format!("keeper {}", keeper.keeper.pid), process: keeper.keeper }
    }

    fn does_not_answer(&self) -> CliError {
        CliError::new(Code::TimedOut, format!("{} is stopped and does not answer", self.name))
            .hint("`longhaul pause --force` kills it; the task is kept")
    }
}

/// The worker or keeper that stands still (SIGSTOP) and so cannot answer. One that runs is only slow.
fn stopped_process(opened: &Opened, stored: &Stored) -> Option<Silent> {
    let lives = !owner::is_dead(&opened.home, stored);
    let worker = owner::process(&opened.home, stored).filter(|worker| lives && process::is_stopped(worker.pid));
    worker.map(Silent::worker).or_else(|| {
        let keeper = keeper(opened, stored)?;
        process::is_stopped(keeper.keeper.pid).then(|| Silent::keeper(&keeper))
    })
}

/// The keeper of the task's session, if it lives.
fn keeper(opened: &Opened, stored: &Stored) -> Option<Identity> {
    let session = stored.task.state.session()?;
    let identity = SessionDir::at(&opened.home.session(session.id)).ok()?.identity().ok()??;
    process::is_alive(&identity.keeper, &identity.boot).unwrap_or(false).then_some(identity)
}

/// Kills by handle after comparing identity, records who did it, and sees that a worker lives: at most one is started.
async fn force(opened: &Opened, stored: &Stored, silent: &Silent) -> Result<(), CliError> {
    let killed = process::kill(&silent.process)
        .map_err(|error| CliError::new(Code::Failure, format!("cannot kill {}", silent.name)).because(&error))?;
    if !killed {
        out::note(&format!("{} was gone already", silent.name));
        return owner::ensure_worker(opened, stored).await.map(drop);
    }
    out::note(&format!("{} was killed", silent.name));
    if owner::process(&opened.home, stored) == Some(silent.process) {
        await_death(opened, stored).await;
    }
    // Refused only when the task was finished meanwhile.
    match act(opened, stored, Command::Force { target: silent.name.clone() }).await {
        Err(error) if error.code != Code::Conflict => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Waits until a killed worker's lock is free, because only then its successor is started.
async fn await_death(opened: &Opened, stored: &Stored) {
    let killed = Instant::now();
    while !owner::is_dead(&opened.home, stored) && killed.elapsed() < PATIENCE {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
