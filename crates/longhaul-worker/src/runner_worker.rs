//! Carrying one task out by the runner's rules: `run-session` is itself the worker of its task, and of no other.
//!
//! Its lease is the lock: a task whose owner lives is busy, one whose owner is dead is taken over with its live session. It ends when the
//! invocation has ended; the process may die at any time, and the next invocation continues.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Command, Input, RunnerOptions, Setting, StopMode, Task};
use longhaul_keeper::WorkerLock;
use longhaul_store::{CommitError, Guard, Stored};
use tokio::sync::mpsc;

use crate::claim::claim_of;
use crate::dispatcher::{Hub, HubExit, Waker};
use crate::notify;
use crate::reception::take_on;
use crate::worker::{Context, WorkerError};
use longhaul_app::{Answer, ChangeError, Handover, Request, Terms, change, commit_input, now};

/// How often an invocation sees to it that its lock file is there.
const LOOK_AT_LOCK: Duration = Duration::from_secs(1);

/// One invocation of the runner.
pub struct RunnerProcess {
    context: Arc<Context>,
    lock: WorkerLock,
}

/// Why an invocation could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// Its lock could not be taken, or the store failed.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The task does not allow it.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A part of it died of a bug.
    #[error("{0}")]
    Broken(String),
}

/// What came of the attempt to take a task up.
#[derive(Debug)]
pub enum TakenUp {
    /// It is this invocation's.
    Ours(Box<Stored>),
    /// Somebody who lives has it.
    Busy,
    /// It was finished meanwhile: its name is free.
    Finished,
}

impl RunnerProcess {
    /// Begins an invocation: from now on its death can be proved.
    pub fn begin(context: Context) -> Result<RunnerProcess, WorkerError> {
        let lock = WorkerLock::take(&context.home.workers(), context.worker).map_err(WorkerError::Lock)?;
        Ok(RunnerProcess { context: Arc::new(context), lock })
    }

    /// Makes the task; it is this invocation's from the start.
    pub async fn submit(&self, request: Request) -> Answer {
        take_on(&self.context, Handover::Submit(Box::new(request)), self.context.environments.own()).await
    }

    /// Takes a task up, from nobody or from the dead.
    pub async fn take_up(
        &self,
        task: TaskId,
        run: &RunnerOptions,
        settings: &[Setting],
        actor: &Actor,
    ) -> Result<TakenUp, RunnerError> {
        let command = Input::from(Command::Drive { run: run.clone(), settings: settings.to_vec() });
        loop {
            let mut stored = self.load(task).await?;
            let owner = stored.owner.clone();
            match &owner {
                _ if stored.task.state.is_final() => return Ok(TakenUp::Finished),
                Some(owner) if owner.worker == self.context.worker => {}
                Some(owner) if WorkerLock::is_dead(&self.context.home.worker_lock(owner.worker)).unwrap_or(false) => {
                    claim_of(&self.context, task, stored.epoch).await.map_err(WorkerError::Store)?;
                    continue;
                }
                Some(_) => return Ok(TakenUp::Busy),
                None => {}
            }
            let terms = |stored: &Stored| self.terms(stored).filter(|_| stored.owner == owner);
            match commit_input(&*self.context.store, now, &mut stored, &command, actor, terms).await {
                Ok(_) => return Ok(TakenUp::Ours(Box::new(stored))),
                Err(ChangeError::Commit(CommitError::Fenced)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn terms(&self, stored: &Stored) -> Option<Terms> {
        let version = stored.task.version;
        let terms = match &stored.owner {
            None => Terms { claim: Some(self.context.new_lease()), ..Guard::Version(version).into() },
            Some(owner) => Guard::Owner { version, lease: owner.lease }.into(),
        };
        (!stored.task.state.is_final()).then_some(terms)
    }

    /// Carries the task out until the invocation has ended, or a person made the task supervised. Each ask pauses it, with that mode.
    pub async fn run(
        &self,
        stored: Stored,
        actor: &Actor,
        asks: &mut mpsc::Receiver<StopMode>,
    ) -> Result<Task, RunnerError> {
        let Some(owner) = stored.owner.as_ref().filter(|owner| owner.worker == self.context.worker) else {
            return Ok(stored.task);
        };
        let lease = owner.lease;
        let (id, store) = (stored.task.id, &*self.context.store);
        let waker = Waker::default();
        let hub = Hub::new(Arc::clone(&self.context), stored, lease, waker.clone()).run();
        let mut changes = store.changes().map_err(WorkerError::Store)?;
        tokio::pin!(hub);
        loop {
            tokio::select! {
                left = &mut hub => return self.left(left, id).await,
                // Another invocation takes over what nobody seems to carry out.
                () = tokio::time::sleep(LOOK_AT_LOCK) => drop(self.lock.keep()),
                () = changes.rung() => {
                    waker.wake();
                    // What the store cannot say now, the hub finds out as well.
                    if let Ok(Stored { task, .. }) = self.load(id).await
                        && !task.submission.driver.is_runner()
                    {
                        return Ok(task);
                    }
                }
                Some(mode) = asks.recv() => {
                    change(store, now, id, Command::Pause { mode }, actor, None, None).await.ok();
                    waker.wake();
                }
            }
        }
    }

    /// Ends the invocation after its result is known: delivers the notices, unless it was interrupted.
    pub async fn leave(self, task: &Task, asks: &mut mpsc::Receiver<StopMode>) -> Result<(), RunnerError> {
        tokio::select! {
            () = notify::deliver_of(&self.context, task) => {}
            Some(_) = asks.recv() => {}
        }
        if task.state.wants_owner() {
            // An effect may be about to spawn a keeper. Only the end of this process proves that none will.
            std::mem::forget(self.lock);
        } else {
            self.lock.retire().map_err(WorkerError::Lock)?;
        }
        Ok(())
    }

    /// Sees a task that was given up to its end: what still runs for it is ended.
    pub async fn finish(&self, stored: Stored) -> Result<Task, RunnerError> {
        let (_nobody_asks, mut asks) = mpsc::channel(1);
        self.run(stored, &Actor::worker(), &mut asks).await
    }

    async fn left(&self, left: HubExit, id: TaskId) -> Result<Task, RunnerError> {
        match left {
            // A runner's task is never in line.
            HubExit::NotOurs | HubExit::InLine(_) => Ok(self.load(id).await?.task),
            HubExit::Broken(why) => Err(RunnerError::Broken(why)),
            HubExit::Store(error) => Err(WorkerError::Store(error).into()),
        }
    }

    async fn load(&self, id: TaskId) -> Result<Stored, ChangeError> {
        self.context.store.load(id).await?.ok_or(ChangeError::NotFound)
    }
}
