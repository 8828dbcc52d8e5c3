//! `longhaul pause`: stops the session by its recipe and waits; what does not answer is named, and killed only with `--force`.
//! It never signals an agent itself: the owner does, because only the owner knows that the end was observed.

use std::time::{Duration, Instant};

use longhaul_core::task::{Command, State, StopMode, Task};
use longhaul_keeper::process::{self, Process};
use longhaul_keeper::{Identity, SessionDir};
use longhaul_store::Stored;

use super::why::unreadable;
use crate::cli::Pause;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::{code_of, until};
use longhaul_app::Call;
use longhaul_app::send_command::send_command;
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{describe, lookup, ownership};

/// How long an owner and its keeper have to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How often a killed worker's lock is looked at; there is no event for its end.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

pub(crate) async fn pause(line: &CommandLine, args: &Pause) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find(&call, args.which.task.as_deref()).await?;
    let id = stored.task.id;
    let mode = if args.now { StopMode::Immediate } else { StopMode::Graceful };
    send_command(&call, &stored, Command::Pause { mode }).await?;
    if let Some(stored) = until(&call, id, PATIENCE, stopped).await? {
        return Ok(told(&stored));
    }
    let stored = call.store()?.load(id).await?.unwrap_or(stored);
    if !args.force {
        return Err(not_stopped(&call, &stored));
    }
    let victim = match stopped_process(&call, &stored) {
        Some(silent) => silent,
        // Nobody is known to be silent, and yet a person wants it to end: its keeper's death ends the session.
        None => Silent::keeper(&keeper(&call, &stored).ok_or_else(|| not_stopped(&call, &stored))?),
    };
    force(&call, &stored, &victim).await?;
    match until(&call, id, PATIENCE, stopped).await? {
        Some(stored) => Ok(told(&stored)),
        None => Err(AppError::new(ErrorKind::TimedOut, "the session has still not ended")),
    }
}

/// Why a session has not ended in time.
pub(super) fn not_stopped(call: &Call, stored: &Stored) -> AppError {
    if let Some(silent) = stopped_process(call, stored) {
        return silent.does_not_answer();
    }
    match unreadable(call, &stored.task) {
        Some(why) => AppError::new(ErrorKind::TimedOut, why)
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

fn still_stopping() -> AppError {
    AppError::new(ErrorKind::TimedOut, "the session is still being stopped; its agent has a while to end by itself")
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

    fn does_not_answer(&self) -> AppError {
        AppError::new(ErrorKind::TimedOut, format!("{} is stopped and does not answer", self.name))
            .hint("`longhaul pause --force` kills it; the task is kept")
    }
}

/// The worker or keeper that stands still (SIGSTOP) and so cannot answer. One that runs is only slow.
fn stopped_process(call: &Call, stored: &Stored) -> Option<Silent> {
    let lives = !ownership::is_dead(call.home(), stored);
    let worker = ownership::process(call.home(), stored).filter(|worker| lives && process::is_stopped(worker.pid));
    worker.map(Silent::worker).or_else(|| {
        let keeper = keeper(call, stored)?;
        process::is_stopped(keeper.keeper.pid).then(|| Silent::keeper(&keeper))
    })
}

/// The keeper of the task's session, if it lives.
fn keeper(call: &Call, stored: &Stored) -> Option<Identity> {
    let session = stored.task.state.session()?;
    let identity = SessionDir::at(&call.home().session(session.id)).ok()?.identity().ok()??;
    process::is_alive(&identity.keeper, &identity.boot).unwrap_or(false).then_some(identity)
}

/// Kills by handle after comparing identity, records who did it, and sees that a worker lives: at most one is started.
async fn force(call: &Call, stored: &Stored, silent: &Silent) -> Result<(), AppError> {
    let killed = process::kill(&silent.process)
        .map_err(|error| AppError::new(ErrorKind::Failure, format!("cannot kill {}", silent.name)).because(&error))?;
    if !killed {
        out::note(&format!("{} was gone already", silent.name));
        return ownership::ensure_worker(call, stored).await.map(drop);
    }
    out::note(&format!("{} was killed", silent.name));
    if ownership::process(call.home(), stored) == Some(silent.process) {
        await_death(call, stored).await;
    }
    // Refused only when the task was finished meanwhile.
    match send_command(call, stored, Command::Force { target: silent.name.clone() }).await {
        Err(error) if error.kind != ErrorKind::Conflict => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Waits until a killed worker's lock is free, because only then its successor is started.
async fn await_death(call: &Call, stored: &Stored) {
    let killed = Instant::now();
    while !ownership::is_dead(call.home(), stored) && killed.elapsed() < PATIENCE {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
