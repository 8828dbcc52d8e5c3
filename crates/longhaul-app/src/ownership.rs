//! Who owns a task and whether that one lives; starts a worker where a task wants one and has none.
//! Used by every verb that changes, follows or lists tasks. It starts nobody unless a person asks.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::Home;
use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::State;
use longhaul_keeper::process::{self, Process};
use longhaul_keeper::{WorkerLock, fail_point};
use longhaul_store::{Stored, TaskSummary};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::processes::NewWorker;
use crate::{blocking, describe};

/// How long a started worker has to take the task over before another one is started.
const START_AGAIN: Duration = Duration::from_secs(3);

/// Whether the task has an owner and that one is proved dead by its lock.
pub fn is_dead(home: &Home, stored: &Stored) -> bool {
    let lock = stored.owner.as_ref().map(|owner| home.worker_lock(owner.worker));
    lock.is_some_and(|lock| WorkerLock::is_dead(&lock).unwrap_or(false))
}

/// The process of the task's owner, as its lock file names it.
pub fn process(home: &Home, stored: &Stored) -> Option<Process> {
    let lock = home.worker_lock(stored.owner.as_ref()?.worker);
    serde_json::from_str(&std::fs::read_to_string(lock).ok()?).ok()
}

/// Whether the task's owner lives, but was stopped (SIGSTOP) and so does nothing.
pub fn is_stopped(home: &Home, stored: &Stored) -> bool {
    !is_dead(home, stored) && process(home, stored).is_some_and(|process| process::is_stopped(process.pid))
}

/// Whether a task wants an owner and nobody who lives is or becomes it. A child is claimed by the owner of its parent.
pub async fn is_missing(call: &Call, stored: &Stored) -> Result<bool, AppError> {
    if !stored.task.state.wants_owner() {
        return Ok(false);
    }
    fail_point::reach("owner.look");
    let owner = stored.owner.as_ref().map(|owner| owner.worker);
    is_deserted(call, stored.task.id, owner, stored.task.submission.parent).await
}

/// Which owners of listed tasks are dead: each lock is looked at once, however many tasks its worker has.
#[derive(Debug, Default)]
pub struct Owners {
    dead: HashSet<WorkerId>,
    /// Parents whose owner lives, and so claims the children.
    claiming: HashSet<TaskId>,
}

impl Owners {
    /// Looks at the owners of these tasks.
    pub async fn load(call: &Call, tasks: &[TaskSummary]) -> Result<Owners, AppError> {
        let wanting = || tasks.iter().filter(|task| task.wants_owner);
        let owners: HashSet<WorkerId> = wanting().filter_map(|task| task.owner).collect();
        let parents: HashSet<TaskId> =
            wanting().filter(|task| task.owner.is_none()).filter_map(|task| task.parent).collect();
        let dead = |worker: &WorkerId| WorkerLock::is_dead(&call.home().worker_lock(*worker)).unwrap_or(false);
        let mut claiming = HashSet::new();
        for parent in parents {
            let stored = call.store()?.load(parent).await?;
            if stored.is_some_and(|stored| stored.owner.is_some() && !is_dead(call.home(), &stored)) {
                claiming.insert(parent);
            }
        }
        Ok(Owners { dead: owners.into_iter().filter(dead).collect(), claiming })
    }

    /// Whether a dead owner was found. A worker gives its tasks up before its lock, so only rows that are read after this look, and still
    /// name that worker, tell a death from an orderly leave.
    pub fn any_dead(&self) -> bool {
        !self.dead.is_empty()
    }

    /// Whether somebody lives who carries the task out, or will; none if it needs nobody.
    pub fn has_worker(&self, task: &TaskSummary) -> Option<bool> {
        let lives = match (task.owner, task.parent) {
            (Some(owner), _) => !self.dead.contains(&owner),
            (None, Some(parent)) => self.claiming.contains(&parent),
            (None, None) => false,
        };
        task.wants_owner.then_some(lives)
    }
}

/// Whether nobody lives who carries the task out, by a row that is read after the look at the lock (see [`Owners::any_dead`]).
async fn is_deserted(
    call: &Call,
    task: TaskId,
    owner: Option<WorkerId>,
    parent: Option<TaskId>,
) -> Result<bool, AppError> {
    if !nobody_lives(call, owner, parent).await? {
        return Ok(false);
    }
    let now = call.read(task).await?;
    Ok(now.is_some_and(|now| now.task.state.wants_owner() && now.owner.map(|owner| owner.worker) == owner))
}

async fn nobody_lives(call: &Call, owner: Option<WorkerId>, parent: Option<TaskId>) -> Result<bool, AppError> {
    if let Some(owner) = owner {
        return Ok(WorkerLock::is_dead(&call.home().worker_lock(owner)).unwrap_or(false));
    }
    let parent = match parent {
        Some(parent) => call.store()?.load(parent).await?,
        None => None,
    };
    Ok(parent.is_none_or(|parent| parent.owner.is_none() || is_dead(call.home(), &parent)))
}

/// Starts a worker that takes the task over from this process, once this one has ended.
pub fn start_for(call: &Call, stored: &Stored) -> Result<(), AppError> {
    if stored.task.state.wants_owner() {
        call.app.system.processes.start_worker(&call.app, NewWorker { only: true, stay: false })?;
    }
    Ok(())
}

/// Whether the task's run-session is dead and only another one, or a person, continues it.
pub async fn is_left_by_runner(call: &Call, stored: &Stored) -> Result<bool, AppError> {
    let stopping = matches!(stored.task.state, State::Stopping { .. });
    let runner = !stored.task.submission.driver.conduct().any_worker && !stopping;
    Ok(runner && is_missing(call, stored).await?)
}

/// The warning for whoever follows such a task: nothing will happen automatically.
pub fn left_by_runner(stored: &Stored) -> AppError {
    AppError::new(ErrorKind::NeedsPerson, "its run-session is dead, and no worker has taken the task over")
        .hint(describe::continue_after_runner(stored))
}

/// Starts a worker when none lives for this task; says whether it did. A living one has been rung already, and one of this home adopts
/// the tasks of dead ones.
pub async fn ensure_worker(call: &Call, stored: &Stored) -> Result<bool, AppError> {
    if !call.caller.is_person() || !is_missing(call, stored).await? || is_left_by_runner(call, stored).await? {
        return Ok(false);
    }
    if stored.owner.is_some() && is_attended(call.home()).await {
        return Ok(false);
    }
    let worker = NewWorker { only: stored.owner.is_some(), stay: false };
    call.app.system.processes.start_worker(&call.app, worker)?;
    Ok(true)
}

async fn is_attended(home: &Home) -> bool {
    let home = home.clone();
    blocking(move || crate::is_attended(&home)).await
}

/// Sees to one task's owner again and again, so that one death does not start a crowd.
#[derive(Debug, Default)]
pub struct WorkerKeepalive {
    started: Option<Instant>,
}

impl WorkerKeepalive {
    /// Starts a worker when none lives and none was started lately; says whether it did.
    pub async fn tick(&mut self, call: &Call, stored: &Stored) -> Result<bool, AppError> {
        if self.started.is_some_and(|started| started.elapsed() < START_AGAIN) {
            return Ok(false);
        }
        let started = ensure_worker(call, stored).await?;
        if started {
            self.started = Some(Instant::now());
        }
        Ok(started)
    }
}
