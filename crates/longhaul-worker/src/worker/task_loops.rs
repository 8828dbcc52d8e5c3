//! What a worker runs: a hub for each of its tasks that has something to do, the socket for hand-overs, and the sender of notices, until
//! there is nothing to stay for. A task that waits for its turn has no hub. What makes a worker open or wake a hub is in `changes`.

use std::collections::HashMap;
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_keeper::{Environment, WorkerLock};
use longhaul_store::{Damaged, StoreError, Stored};
use tokio::task::{JoinError, JoinSet};

use super::changes::{Checked, ROUND};
use super::owned_task::OwnedTask;
use super::{Context, Options, WorkerError};
use crate::claim::{self, OtherOwners};
use crate::dispatcher::{Hub, HubExit, InLine, Waker};
use crate::holds;
use crate::notify::Sender;
use crate::or_never::or_never;
use crate::reception::Reception;

/// The hubs of one worker.
pub(super) struct TaskLoops {
    pub(super) context: Arc<Context>,
    pub(super) lock: WorkerLock,
    pub(super) only: bool,
    stays: bool,
    checks: bool,
    pub(super) tasks: HashMap<TaskId, OwnedTask>,
    /// What this process has run and may still have notices for, with the environment that its notices are meant for.
    carried: HashMap<TaskId, Environment>,
    sender: Sender,
    running: JoinSet<(TaskId, HubExit)>,
    pub(super) reception: Option<Reception>,
    pub(super) checked: Checked,
}

impl TaskLoops {
    pub(super) fn new(context: Arc<Context>, options: &Options, lock: WorkerLock) -> TaskLoops {
        TaskLoops {
            sender: Sender::new(Arc::clone(&context)),
            context,
            lock,
            only: options.only,
            stays: options.stay,
            checks: options.handover.is_none(),
            tasks: HashMap::new(),
            carried: HashMap::new(),
            running: JoinSet::new(),
            reception: None,
            checked: Checked::default(),
        }
    }

    pub(super) fn retire(self) -> Result<(), WorkerError> {
        self.lock.retire().map_err(WorkerError::Lock)
    }

    /// Whether everybody can see that this worker lives. One that cannot be seen takes nothing from others, or they would take it back
    /// without end.
    fn is_seen(&self) -> bool {
        match self.lock.keep() {
            Ok(false) => true,
            Ok(true) => {
                self.context.report("this worker's lock file was removed; restored it");
                true
            }
            Err(error) => {
                self.context.report(&format!("this worker's lock file was removed, and restoring it failed: {error}"));
                false
            }
        }
    }

    /// Without a socket this worker does all it does; others then start their own workers.
    pub(super) fn open_reception(&mut self) {
        match Reception::open(&self.context) {
            Ok(reception) => self.reception = Some(reception),
            Err(error) => self.context.report(&format!("failed to open this worker's socket: {error}")),
        }
    }

    /// Opens the hub of a task that was handed over, or was in line; it may have moved on already, or have one.
    pub(super) async fn open(&mut self, task: TaskId) -> Result<(), StoreError> {
        match self.context.store.load(task).await {
            Ok(Some(stored)) => self.start(stored),
            Ok(None) => self.drop_from_line(task),
            Err(error) if error.is_transient() && self.tasks.contains_key(&task) => self.open_later(task),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The store cannot be read now: the next round looks at every task again, and the task keeps its place in line.
    fn open_later(&mut self, task: TaskId) {
        self.checked.everything = None;
        if !self.tasks.get(&task).is_some_and(OwnedTask::has_hub) {
            self.context.line.park(task);
        }
    }

    pub(super) fn start(&mut self, stored: Stored) {
        let id = stored.task.id;
        if self.tasks.get(&id).is_some_and(OwnedTask::has_hub) {
            return;
        }
        let Some(owner) = stored.owner.as_ref().filter(|owner| owner.worker == self.context.worker) else {
            return self.drop_from_line(id);
        };
        let (waker, lease, announced) = (Waker::default(), owner.lease, stored.task.version);
        let mut hub = Hub::new(Arc::clone(&self.context), stored, lease, waker.clone());
        let owned = OwnedTask::running(lease.id, announced, waker);
        if let Some(before) = self.tasks.insert(id, owned) {
            self.context.line.leave(id);
            hub = before.continued_by(hub, lease.id, &self.context);
        }
        self.carried.insert(id, self.context.environments.of(lease.id));
        self.running.spawn(async move { (id, hub.run().await) });
    }

    /// Forgets a task that is not ours any more.
    fn drop_from_line(&mut self, task: TaskId) {
        self.context.line.leave(task);
        if let Some(owned) = self.tasks.remove(&task) {
            self.context.environments.forget(owned.lease);
        }
    }

    /// Wakes a task that has this version now, unless it knows that. Without a version it is woken in any case.
    pub(super) async fn wake(&mut self, task: TaskId, version: Option<u64>) -> Result<(), StoreError> {
        let needs_hub = self.tasks.get_mut(&task).is_some_and(|owned| owned.needs_hub_for(version));
        if needs_hub { self.open(task).await } else { Ok(()) }
    }

    pub(super) async fn serve(&mut self, mut leave: impl Future<Output = ()> + Unpin) -> Result<(), WorkerError> {
        let mut changes = self.context.store.changes()?;
        let (context, store) = (Arc::clone(&self.context), Arc::clone(&self.context.store));
        // A worker that was started for one input leaves the long look to the others, so that a submission costs the same
        // in a large store as in a small one.
        let mut checking = self.checks;
        let mut checked = tokio::spawn(async move { if checking { store.check().await } else { Ok(Vec::new()) } });
        loop {
            if !self.round().await? && !self.stays && self.tasks.is_empty() && self.may_leave().await? {
                return Ok(());
            }
            tokio::select! {
                () = &mut leave => return Ok(()),
                () = changes.rung() => {}
                () = tokio::time::sleep(ROUND) => {}
                Some(task) = or_never(self.reception.as_mut().map(Reception::next)) => self.open(task).await?,
                task = context.line.next_called() => self.open(task).await?,
                found = &mut checked, if checking => {
                    checking = false;
                    self.tell_damage(found)?;
                }
                Some(left) = self.running.join_next() => self.left(left).await?,
            }
            while let Some(left) = self.running.try_join_next() {
                self.left(left).await?;
            }
        }
    }

    /// Closes the socket, and sees whether somebody came before that. Then it is opened again.
    async fn may_leave(&mut self) -> Result<bool, StoreError> {
        let accepted = match self.reception.take() {
            Some(reception) => reception.close().await,
            None => Vec::new(),
        };
        for task in accepted {
            self.open(task).await?;
        }
        // Whoever was greeted before the socket closed relies on this worker to adopt what a dead one left.
        if !self.tasks.is_empty() || claim::other_owners(&self.context).await? == OtherOwners::SomeDead {
            self.open_reception();
            self.checked.others = None;
            return Ok(false);
        }
        // The last task that left may be held by a person who is gone already, and nobody may come after this worker.
        holds::look_at(&self.context, &holds::listed_in_store(&self.context).await).await;
        Ok(true)
    }

    /// The store is read once as a whole beside the work: a damaged database ends the worker, damaged rows are named.
    fn tell_damage(&self, found: Result<Result<Vec<Damaged>, StoreError>, JoinError>) -> Result<(), WorkerError> {
        for damaged in found.unwrap_or_else(|_| Ok(Vec::new()))? {
            if damaged.row == "database" {
                return Err(StoreError::Damaged { what: damaged.what }.into());
            }
            self.context.report(&format!("damaged: {}: {}", damaged.row, damaged.what));
        }
        Ok(())
    }

    /// Claims what is free, wakes the tasks that others changed, and sends notices. True while there is a reason to stay.
    async fn round(&mut self) -> Result<bool, StoreError> {
        if !self.is_seen() {
            self.tasks.values().for_each(OwnedTask::wake_hub);
            self.drop_what_others_took().await?;
            return Ok(false);
        }
        match self.hear_changes().await {
            Ok(()) => {}
            Err(error) if error.is_transient() => return Ok(true),
            Err(error) => return Err(error),
        }
        let has_to_tell = self.sender.round(&mut self.carried, |task| self.tasks.contains_key(&task)).await?;
        // An `--only` worker leaves the tasks of the living to them.
        let watches_others = !self.only && self.checked.other_owners == Some(OtherOwners::Alive);
        Ok(watches_others || self.checked.other_owners == Some(OtherOwners::SomeDead) || has_to_tell)
    }

    /// Forgets tasks without a hub that another worker has claimed; a hub finds that out itself.
    async fn drop_what_others_took(&mut self) -> Result<(), StoreError> {
        let in_line = self.tasks.iter().filter(|(_, owned)| !owned.has_hub()).map(|(task, _)| *task);
        for task in in_line.collect::<Vec<_>>() {
            let owner = match self.context.store.load(task).await {
                Ok(stored) => stored.and_then(|stored| stored.owner),
                Err(error) if error.is_transient() => continue,
                Err(error) => return Err(error),
            };
            if owner.is_none_or(|owner| owner.worker != self.context.worker) {
                self.drop_from_line(task);
            }
        }
        Ok(())
    }

    /// Puts a task whose hub has just ended in line, unless it changed before the hub could see that.
    async fn queue(&mut self, task: TaskId, line: InLine) -> Result<(), StoreError> {
        let Some(owned) = self.tasks.get_mut(&task) else { return Ok(()) };
        if owned.is_changed_in(line) {
            return self.open(task).await;
        }
        self.context.line.park(task);
        Ok(())
    }

    async fn left(&mut self, left: Result<(TaskId, HubExit), JoinError>) -> Result<(), WorkerError> {
        match left {
            Ok((task, HubExit::NotOurs)) => {
                self.drop_from_line(task);
                Ok(())
            }
            Ok((task, HubExit::InLine(line))) => Ok(self.queue(task, line).await?),
            Ok((task, HubExit::Broken(why))) => {
                self.context.report(&format!("task {task}: {why}"));
                // The lease is still ours, so the next check opens a hub again.
                self.tasks.remove(&task);
                self.context.line.leave(task);
                self.checked.everything = None;
                Ok(())
            }
            Ok((_, HubExit::Store(error))) => Err(error.into()),
            Err(error) => Err(StoreError::Failed { what: format!("a task loop crashed: {error}") }.into()),
        }
    }
}
