//! What keeps a session from ending after it was asked to stop: a worker or keeper that does not answer, or files that cannot be read.
//! Used by `takeover`. It only looks.

use std::time::Duration;

use longhaul_core::causes::with_causes;
use longhaul_core::task::{State, Task};
use longhaul_keeper::process::{self, Process};
use longhaul_keeper::{Identity, SessionDir};
use longhaul_store::Stored;

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::ownership;

/// How long an owner and its keeper have to answer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Whether no session of the task is being stopped.
pub fn stopped(task: &Task) -> bool {
    !matches!(task.state, State::Stopping { .. })
}

/// Why a session has not ended in time.
pub fn not_stopped(call: &Call, stored: &Stored) -> AppError {
    if let Some(silent) = silent_process(call, stored) {
        return silent.does_not_answer();
    }
    match unreadable(call, stored) {
        Some(why) => AppError::new(ErrorKind::TimedOut, why)
            .hint("restore your access to that directory; the worker tries again by itself"),
        None => still_stopping(),
    }
}

/// What cannot be read of the session, so that nobody can tell whether it ended.
fn unreadable(call: &Call, stored: &Stored) -> Option<String> {
    let session = stored.task.state.session()?;
    let error = SessionDir::at(&call.home().session(session.id)).ok()?.identity().err()?;
    Some(format!("its session cannot be inspected: {}", with_causes(&error)))
}

fn still_stopping() -> AppError {
    AppError::new(ErrorKind::TimedOut, "the session is still being stopped; its agent has a while to end by itself")
        .hint("wait for it, or end it with `longhaul pause --now`; `--force` kills its keeper")
}

/// A process that keeps a task from stopping.
struct Silent {
    name: String,
}

impl Silent {
    fn worker(worker: Process) -> Silent {
        Silent { name: format!("worker {}", worker.pid) }
    }

    fn keeper(keeper: &Identity) -> Silent {
        Silent { name: format!("keeper {}", keeper.keeper.pid) }
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
