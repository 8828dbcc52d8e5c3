//! `longhaul pause`: stops the session by its recipe and waits; what does not answer is named, and killed only with `--force`.
//! It never signals an agent itself: the owner does, because only the owner knows that the end was observed.

use std::time::Duration;

use longhaul_core::task::{Command, Haste, State};
use longhaul_keeper::SessionDir;
use longhaul_keeper::process::{self, Process};
use longhaul_store::Stored;

use super::act::{act, owner_is_dead, see_to_owner};
use super::{Opened, open_existing};
use crate::cli::Pause;
use crate::error::CliError;
use crate::exit::Code;
use crate::start::start_worker;
use crate::viewer::until;
use crate::{lookup, out};

/// How long an owner and its keeper have to answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn pause(args: &Pause) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find(&*opened.store, args.which.task.as_deref()).await?;
    let id = stored.task.id;
    let haste = if args.now { Haste::Now } else { Haste::Recipe };
    act(&opened, &stored, Command::Pause { haste }).await?;
    if let Some(stored) = until(&opened, id, PATIENCE, stopped).await? {
        return Ok(paused(&stored));
    }
    let stored = opened.store.load(id).await?.unwrap_or(stored);
    let Some(silent) = who_is_silent(&opened, &stored) else {
        return Err(CliError::new(Code::TimedOut, "the session has not ended within 10 seconds")
            .hint("wait a little longer, or end it with `longhaul pause --now`"));
    };
    if !args.force {
        return Err(CliError::new(Code::TimedOut, format!("{} does not answer", silent.name))
            .hint("`longhaul pause --force` kills it; the task is kept"));
    }
    force(&opened, &stored, &silent).await?;
    match until(&opened, id, PATIENCE, stopped).await? {
        Some(stored) => Ok(paused(&stored)),
        None => Err(CliError::new(Code::TimedOut, "the session has still not ended")),
    }
}

fn stopped(task: &longhaul_core::task::Task) -> bool {
    !matches!(task.state, State::Stopping { .. })
}

fn paused(stored: &Stored) -> Code {
    let name = &stored.task.submission.name;
    out::note(&format!("task {name} is {}; let it go on with `longhaul resume {name}`", stored.task.state.name()));
    Code::Done
}

/// A process that keeps a task from stopping.
struct Silent {
    name: String,
    process: Process,
}

/// A worker that is stopped or wedged keeps its lock; otherwise it is the keeper that does not end its session.
fn who_is_silent(opened: &Opened, stored: &Stored) -> Option<Silent> {
    let owner = stored.owner.as_ref()?;
    let session = stored.task.state.session()?;
    let worker = worker_process(&opened.home.worker_lock(owner.worker));
    let keeper = SessionDir::at(&opened.home.session(session.id)).ok()?.identity().ok().flatten();
    match (worker, keeper) {
        (Some(worker), _) if !owner_is_dead(&opened.home, stored) && process::is_stopped(worker.pid) => {
            Some(Silent { name: format!("worker {}", worker.pid), process: worker })
        }
        (_, Some(keeper)) => Some(Silent { name: format!("keeper {}", keeper.keeper.pid), process: keeper.keeper }),
        (worker, None) => worker.map(|worker| Silent { name: format!("worker {}", worker.pid), process: worker }),
    }
}

fn worker_process(lock: &std::path::Path) -> Option<Process> {
    let text = std::fs::read_to_string(lock).ok()?;
    serde_json::from_str(&text).ok()
}

/// Kills by handle after comparing identity, records who did it, and sees that a worker lives.
async fn force(opened: &Opened, stored: &Stored, silent: &Silent) -> Result<(), CliError> {
    process::kill(&silent.process)
        .map_err(|error| CliError::new(Code::Failure, format!("cannot kill {}", silent.name)).because(&error))?;
    out::note(&format!("{} was killed", silent.name));
    let after = act(opened, stored, Command::Force { target: silent.name.clone() }).await?;
    see_to_owner(opened, &after)?;
    start_worker(opened, &["worker", "--only"])?;
    Ok(())
}
