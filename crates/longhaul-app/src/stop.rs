//! What keeps a session from ending after a pause, and how a person ends it all the same: by killing the worker or keeper that does not answer.
//! Used by `pause` and `takeover`. It never signals an agent: its keeper does, because only an observed end counts.

use std::time::{Duration, Instant};

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Command, State, Task};
use longhaul_keeper::process::{self, Process};
use longhaul_keeper::{Identity, SessionDir};
use longhaul_store::Stored;

use crate::app::Call;
use crate::change::ChangeError;
use crate::error::{AppError, ErrorKind};
use crate::ownership;
use crate::send_command::send_command;
use crate::session::live::unreadable;

/// How long an owner and its keeper have to answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How often a killed worker's lock is inspected; there is no event for its end.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Whether no session of the task is being stopped.
pub(crate) fn stopped(task: &Task) -> bool {
    !matches!(task.state, State::Stopping { .. })
}

/// Why a session has not ended in time.
pub(crate) fn not_stopped(call: &Call, stored: &Stored) -> AppError {
    if let Some(silent) = silent_process(call, stored) {
        return silent.does_not_answer();
    }
    match unreadable(call, &stored.task) {
        Some(why) => AppError::new(ErrorKind::TimedOut, why)
            .hint("restore access to that directory; the worker retries automatically"),
        None => still_stopping(),
    }
}

fn still_stopping() -> AppError {
    AppError::new(ErrorKind::TimedOut, "the session is still stopping; its agent is within its grace period")
        .hint("wait, or run `longhaul pause --now` to end it at once; `--force` kills its keeper")
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

/// The worker or keeper that is stopped (SIGSTOP) and so cannot answer. One that runs is only slow.
fn silent_process(call: &Call, stored: &Stored) -> Option<Silent> {
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

/// Kills whoever keeps the session from ending, or else its keeper, whose death ends the session. Answers with what was done.
///
/// It kills by handle after comparing identity, records who did it, and makes sure that a worker lives: at most one is started.
pub(crate) async fn force(call: &Call, task: TaskId) -> Result<String, AppError> {
    let stored = call.store()?.load(task).await?.ok_or(ChangeError::NotFound)?;
    let silent = silent_process(call, &stored).or_else(|| Some(Silent::keeper(&keeper(call, &stored)?)));
    let silent = silent.ok_or_else(|| not_stopped(call, &stored))?;
    let killed = process::kill(&silent.process)
        .map_err(|error| AppError::new(ErrorKind::Failure, format!("cannot kill {}", silent.name)).because(&error))?;
    if !killed {
        ownership::ensure_worker(call, &stored).await?;
        return Ok(format!("{} was already gone", silent.name));
    }
    if ownership::process(call.home(), &stored) == Some(silent.process) {
        await_death(call, &stored).await;
    }
    // Refused only if the task was finished meanwhile.
    match send_command(call, &stored, Command::Force { target: silent.name.clone() }).await {
        Err(error) if error.kind != ErrorKind::Conflict => Err(error),
        Ok(_) | Err(_) => Ok(format!("{} was killed", silent.name)),
    }
}

/// Waits until a killed worker's lock is free, because only then its successor is started.
async fn await_death(call: &Call, stored: &Stored) {
    let killed = Instant::now();
    while !ownership::is_dead(call.home(), stored) && killed.elapsed() < PATIENCE {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
