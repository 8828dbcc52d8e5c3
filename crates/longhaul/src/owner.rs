//! Who owns a task and whether that one lives; starts a worker where a task wants one and has none.
//! Used by every verb that changes, follows or lists tasks. Below an agent session it starts nobody.

use std::time::{Duration, Instant};

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::State;
use longhaul_keeper::WorkerLock;
use longhaul_keeper::process::{self, Process};
use longhaul_store::{Outline, Stored};
use longhaul_worker::Home;

use crate::describe;
use crate::error::CliError;
use crate::exit::Code;
use crate::opened::Opened;
use crate::place;
use crate::start::start_worker;

/// How long a started worker has to take the task over before another one is started.
const START_AGAIN: Duration = Duration::from_secs(3);

/// Whether the task has an owner and that one is proved dead by its lock.
pub(crate) fn is_dead(home: &Home, stored: &Stored) -> bool {
    let lock = stored.owner.as_ref().map(|owner| home.worker_lock(owner.worker));
    lock.is_some_and(|lock| WorkerLock::is_dead(&lock).unwrap_or(false))
}

/// The process of the task's owner, as its lock file tells it.
pub(crate) fn process(home: &Home, stored: &Stored) -> Option<Process> {
    let lock = home.worker_lock(stored.owner.as_ref()?.worker);
    serde_json::from_str(&std::fs::read_to_string(lock).ok()?).ok()
}

/// Whether the task's owner lives, but was stopped (SIGSTOP) and so does nothing.
pub(crate) fn is_stopped(home: &Home, stored: &Stored) -> bool {
    !is_dead(home, stored) && process(home, stored).is_some_and(|process| process::is_stopped(process.pid))
}

/// Whether a task wants an owner and nobody who lives is or becomes it. A child is claimed by the owner of its parent.
pub(crate) async fn is_missing(opened: &Opened, stored: &Stored) -> Result<bool, CliError> {
    if !stored.task.state.wants_owner() {
        return Ok(false);
    }
    nobody_lives(opened, stored.owner.as_ref().map(|owner| owner.worker), stored.task.submission.parent).await
}

/// The same of a task as lists show it.
pub(crate) async fn is_missing_in_list(opened: &Opened, outline: &Outline) -> Result<bool, CliError> {
    if outline.wants_owner { nobody_lives(opened, outline.owner, outline.parent).await } else { Ok(false) }
}

async fn nobody_lives(opened: &Opened, owner: Option<WorkerId>, parent: Option<TaskId>) -> Result<bool, CliError> {
    if let Some(owner) = owner {
        return Ok(WorkerLock::is_dead(&opened.home.worker_lock(owner)).unwrap_or(false));
    }
    let parent = match parent {
        Some(parent) => opened.store.load(parent).await?,
        None => None,
    };
    Ok(parent.is_none_or(|parent| parent.owner.is_none() || is_dead(&opened.home, &parent)))
}

/// Starts a worker that takes the task over from this process, once this one has ended.
pub(crate) fn start_for(opened: &Opened, stored: &Stored) -> Result<(), CliError> {
    if stored.task.state.wants_owner() {
        start_worker(opened, &["worker", "--only"])?;
    }
    Ok(())
}

/// Whether the task's run-session is dead and only another one, or a person, goes on with it.
pub(crate) async fn is_left_by_runner(opened: &Opened, stored: &Stored) -> Result<bool, CliError> {
    let stopping = matches!(stored.task.state, State::Stopping { .. });
    let runner = stored.task.submission.driver.is_runner() && !stopping;
    Ok(runner && is_missing(opened, stored).await?)
}

/// What whoever follows such a task is told: nothing will happen by itself.
pub(crate) fn left_by_runner(stored: &Stored) -> CliError {
    CliError::new(Code::NeedsPerson, "its run-session is dead, and nobody else carries the task out")
        .hint(describe::go_on_after_runner(stored))
}

/// Starts a worker when none lives for this task; says whether it did. A living one has been rung already.
pub(crate) async fn see_to(opened: &Opened, stored: &Stored) -> Result<bool, CliError> {
    let below = place::actor().session.is_some();
    if below || !is_missing(opened, stored).await? || is_left_by_runner(opened, stored).await? {
        return Ok(false);
    }
    // With `--only` a worker adopts what a dead one left, but claims no task that nobody owned.
    let arguments: &[&str] = if stored.owner.is_some() { &["worker", "--only"] } else { &["worker"] };
    start_worker(opened, arguments)?;
    Ok(true)
}

/// Sees to one task's owner again and again, so that one death does not start a crowd.
#[derive(Debug, Default)]
pub(crate) struct Caretaker {
    started: Option<Instant>,
}

impl Caretaker {
    /// Starts a worker when none lives and none was started lately; says whether it did.
    pub(crate) async fn look(&mut self, opened: &Opened, stored: &Stored) -> Result<bool, CliError> {
        if self.started.is_some_and(|started| started.elapsed() < START_AGAIN) {
            return Ok(false);
        }
        let started = see_to(opened, stored).await?;
        if started {
            self.started = Some(Instant::now());
        }
        Ok(started)
    }
}
