//! One worker process: takes its lock, commits what was handed over, claims, and keeps a hub per task until there is nothing to stay for.
//! Called by `longhaul worker`. It never touches a session when it leaves: whoever comes next adopts it.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::ids::{LeaseId, TaskId, WorkerId};
use longhaul_core::task::{Event, Task};
use longhaul_keeper::{Executable, WorkerLock, fail_point, raise_descriptor_limit};
use longhaul_store::{Candidate, Damaged, MovedTask, Store, StoreError, Stored};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use crate::bell::Bell;
use crate::claim::{self, OtherOwners};
use crate::clock::mint_worker;
use crate::dispatcher::{Hub, Left, Poke};
use crate::effects::{Awake, OwnConversations};
use crate::environment::{Environment, Environments};
use crate::handover::{Answer, Handover, Reception};
use crate::hold;
use crate::home::Home;
use crate::notify::Sender;
use crate::turns::{self, Line};

/// How often a dead owner is looked for when nothing rings.
const ROUND: Duration = Duration::from_secs(1);
/// How often every task is looked at although nothing was heard of it.
const SAFETY_NET: Duration = Duration::from_secs(30);
/// So many workspaces are looked at at once.
const LOOKS: usize = 16;
/// Between two starts of sessions, so that recovery after a reboot does not start everything in one instant.
const STAGGER: Duration = Duration::from_millis(20);

/// What all parts of a worker share.
pub struct Context {
    /// The one meeting point.
    pub store: Arc<dyn Store>,
    /// Where everything is kept.
    pub home: Home,
    /// Our own executable, as it was when the worker started.
    pub executable: Executable,
    /// This worker.
    pub worker: WorkerId,
    /// This machine.
    pub host: String,
    pub(crate) bell: Arc<Bell>,
    /// The tasks that wait for their turn to start a session.
    pub(crate) line: Line,
    /// Keeps the machine awake while sessions run.
    pub(crate) awake: Awake,
    /// Whose transcripts may be copied.
    pub(crate) own_conversations: OwnConversations,
    /// What the tasks that were handed over run with.
    pub(crate) environments: Environments,
    /// So many tasks look at their workspaces at once: each look is a thread, and starts git.
    pub(crate) looks: Semaphore,
    /// When the last session was started.
    pub(crate) turn: Mutex<Option<Instant>>,
    pub(crate) report: fn(&str),
    pub(crate) watcher: Option<Box<dyn Watcher>>,
}

/// Somebody in this very process who is told what happens, as it happens: `run-session`, which shows it in its terminal.
pub trait Watcher: Send + Sync {
    /// These events were committed and made the task what it is now. What is due for it has not begun.
    fn committed(&self, events: &[Event], task: &Task);
    /// The live session printed this.
    fn printed(&self, bytes: &[u8]);
}

/// How a worker is to run.
#[derive(Debug, Default)]
pub struct Options {
    /// Claims no queued task but the one handed over.
    pub only: bool,
    /// Never leaves by itself.
    pub stay: bool,
    /// What was handed over.
    pub handover: Option<Handover>,
}

/// Why a worker could not go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Its lock could not be taken.
    #[error("failed to take the worker's lock")]
    Lock(#[source] std::io::Error),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

impl Context {
    /// A context for a new worker; diagnostics go to `report`.
    pub fn new(store: Arc<dyn Store>, home: Home, executable: Executable, report: fn(&str)) -> Context {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Context {
            store,
            home,
            executable,
            worker: mint_worker(),
            host,
            bell: Arc::new(Bell::new()),
            line: Line::default(),
            awake: Awake::default(),
            own_conversations: OwnConversations::default(),
            environments: Environments::new(),
            looks: Semaphore::new(LOOKS),
            turn: Mutex::new(None),
            report,
            watcher: None,
        }
    }

    /// The same with somebody to tell.
    pub fn watched_by(self, watcher: Box<dyn Watcher>) -> Context {
        Context { watcher: Some(watcher), ..self }
    }

    /// Says something to whoever reads the worker's log, without secret values.
    pub(crate) fn report(&self, message: &str) {
        (self.report)(&self.environments.own().mask(message, &[]).0);
    }

    /// The same about a task with an environment of its own.
    pub(crate) fn report_from(&self, environment: &Environment, message: &str) {
        self.report(&environment.mask(message, &[]).0);
    }

    /// Waits for this start's turn; a start that comes alone does not wait.
    pub(crate) async fn stagger(&self) {
        let mut last = self.turn.lock().await;
        if let Some(last) = *last {
            tokio::time::sleep_until(last + STAGGER).await;
        }
        *last = Some(Instant::now());
    }
}

/// Runs a worker until there is nothing to stay for, or `leave` resolves. Sessions go on in either case.
pub async fn run(
    context: Arc<Context>,
    options: Options,
    answer: impl FnOnce(&Answer),
    leave: impl Future<Output = ()>,
) -> Result<(), WorkerError> {
    let lock = WorkerLock::take(&context.home.workers(), context.worker).map_err(WorkerError::Lock)?;
    // With the limit of before there are fewer sessions, nothing else.
    raise_descriptor_limit().ok();
    fail_point::reach("worker.locked");
    let mut hubs = Hubs::new(Arc::clone(&context), &options, lock);
    // Before the answer: whoever waits for this start finds the socket then.
    hubs.open_reception();
    if let Some(handover) = options.handover {
        let answered = handover.commit(&context, context.environments.own()).await;
        let accepted = match &answered {
            Answer::Accepted { task, .. } => Some(*task),
            Answer::Refused { .. } => None,
        };
        answer(&answered);
        if let Some(task) = accepted {
            hubs.open(task).await?;
        }
    }
    sweep_dead_locks(&context.home);
    tokio::pin!(leave);
    let served = tokio::select! {
        served = hubs.serve(leave) => served,
        error = turns::serve(&context) => Err(error.into()),
    };
    if let Some(reception) = hubs.reception.take() {
        reception.abandon().await;
    }
    if served.is_ok() && hubs.hubs.is_empty() {
        return hubs.retire();
    }
    // An effect may be about to spawn a keeper. Only the end of this process proves that none will, so the lock is held until
    // then; the next worker sweeps the file.
    std::mem::forget(hubs.lock);
    served
}

/// Locks and sockets of dead workers say nothing any more: a missing lock means dead too.
fn sweep_dead_locks(home: &Home) {
    let Ok(entries) = std::fs::read_dir(home.workers()) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let left_behind = match path.extension().and_then(|end| end.to_str()) {
            Some("lock") => WorkerLock::is_dead(&path),
            Some("sock") => WorkerLock::is_dead(&path.with_extension("lock")),
            // Of a worker killed before its lock had a name; a young one may be about to take it.
            Some("tmp") if is_older_than_a_minute(&path) => WorkerLock::is_dead(&path),
            _ => Ok(false),
        };
        if left_behind.unwrap_or(false) {
            std::fs::remove_file(&path).ok();
        }
    }
}

fn is_older_than_a_minute(path: &Path) -> bool {
    let age = path.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > Duration::from_secs(60))
}

/// The hubs of one worker.
struct Hubs {
    context: Arc<Context>,
    lock: WorkerLock,
    only: bool,
    stays: bool,
    checks: bool,
    hubs: HashMap<TaskId, OpenHub>,
    /// What this process has carried and may still have to tell of, with the environment that its notices are meant for.
    carried: HashMap<TaskId, Environment>,
    sender: Sender,
    running: JoinSet<(TaskId, Left)>,
    reception: Option<Reception>,
    look: Look,
}

/// A hub that runs.
struct OpenHub {
    poke: Poke,
    lease: LeaseId,
}

/// How far this worker has looked around in its home.
#[derive(Default)]
struct Look {
    /// The store's position up to which its news were heard.
    position: u64,
    /// When all tasks were looked at.
    everything: Option<Instant>,
    /// When owners and holds were.
    others: Option<Instant>,
    /// The tasks in a person's hands.
    held: BTreeSet<TaskId>,
    other_owners: Option<OtherOwners>,
}

fn is_over(last: Option<Instant>, span: Duration) -> bool {
    last.is_none_or(|last| last.elapsed() >= span)
}

impl Hubs {
    fn new(context: Arc<Context>, options: &Options, lock: WorkerLock) -> Hubs {
        Hubs {
            sender: Sender::new(Arc::clone(&context)),
            context,
            lock,
            only: options.only,
            stays: options.stay,
            checks: options.handover.is_none(),
            hubs: HashMap::new(),
            carried: HashMap::new(),
            running: JoinSet::new(),
            reception: None,
            look: Look::default(),
        }
    }

    fn retire(self) -> Result<(), WorkerError> {
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
                self.context.report(&format!("this worker's lock file was removed and cannot be restored: {error}"));
                false
            }
        }
    }

    /// Without a socket this worker does all it does; others then start workers of their own.
    fn open_reception(&mut self) {
        match Reception::open(&self.context) {
            Ok(reception) => self.reception = Some(reception),
            Err(error) => self.context.report(&format!("failed to open this worker's socket: {error}")),
        }
    }

    /// Opens the hub of a task that was handed over; it may have moved on already, or have one.
    async fn open(&mut self, task: TaskId) -> Result<(), StoreError> {
        if let Some(stored) = self.context.store.load(task).await? {
            self.start(&stored);
        }
        Ok(())
    }

    fn start(&mut self, stored: &Stored) {
        let id = stored.task.id;
        let Some(owner) = stored.owner.as_ref().filter(|owner| owner.worker == self.context.worker) else { return };
        if self.hubs.contains_key(&id) {
            return;
        }
        let (poke, lease) = (Poke::default(), owner.lease);
        let hub = Hub::new(Arc::clone(&self.context), stored.task.clone(), lease, poke.clone());
        self.hubs.insert(id, OpenHub { poke, lease: lease.id });
        self.carried.insert(id, self.context.environments.of(lease.id));
        self.running.spawn(async move { (id, hub.run().await) });
    }

    async fn serve(&mut self, mut leave: impl Future<Output = ()> + Unpin) -> Result<(), WorkerError> {
        let mut changes = self.context.store.changes()?;
        let store = Arc::clone(&self.context.store);
        // A worker that was started for one input leaves the long look to the others, so that a submission costs the same
        // in a large store as in a small one.
        let mut checking = self.checks;
        let mut checked = tokio::spawn(async move { if checking { store.check().await } else { Ok(Vec::new()) } });
        loop {
            if !self.round().await? && !self.stays && self.hubs.is_empty() && self.may_leave().await? {
                return Ok(());
            }
            tokio::select! {
                () = &mut leave => return Ok(()),
                () = changes.rung() => {}
                () = tokio::time::sleep(ROUND) => {}
                Some(task) = next_accepted(&mut self.reception) => self.open(task).await?,
                found = &mut checked, if checking => {
                    checking = false;
                    self.tell_damage(found)?;
                }
                Some(left) = self.running.join_next() => self.left(left)?,
            }
            while let Some(left) = self.running.try_join_next() {
                self.left(left)?;
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
        if !self.hubs.is_empty() || claim::other_owners(&self.context).await? == OtherOwners::SomeDead {
            self.open_reception();
            self.look.others = None;
            return Ok(false);
        }
        // The last task that left may be held by a person who is gone already, and nobody may come after this worker.
        hold::look_at(&self.context, &hold::listed_in_store(&self.context).await).await;
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

    /// Claims what is free, pokes the hubs whose tasks others changed, and sends what is to be told. True while there is a reason to stay.
    async fn round(&mut self) -> Result<bool, StoreError> {
        if !self.is_seen() {
            self.hubs.values().for_each(|hub| hub.poke.look());
            return Ok(false);
        }
        match self.look_around().await {
            Ok(()) => {}
            Err(error) if error.passes() => return Ok(true),
            Err(error) => return Err(error),
        }
        let has_to_tell = self.sender.round(&mut self.carried, |task| self.hubs.contains_key(&task)).await?;
        // An `--only` worker leaves the tasks of the living to them.
        let watches_others = !self.only && self.look.other_owners == Some(OtherOwners::Alive);
        Ok(watches_others || self.look.other_owners == Some(OtherOwners::SomeDead) || has_to_tell)
    }

    /// Hears the news of the store; looks at everything at first, when an owner has died, and now and then in case something was missed.
    async fn look_around(&mut self) -> Result<(), StoreError> {
        if is_over(self.look.everything, SAFETY_NET) {
            return self.look_at_everything().await;
        }
        let news = self.context.store.news(self.look.position).await?;
        self.look.position = news.position;
        self.hear(news.tasks).await?;
        // A look at the holds may go through all processes of the machine, so neither is done at every ring.
        if is_over(self.look.others, ROUND) {
            self.look.other_owners = Some(claim::other_owners(&self.context).await?);
            hold::look_at(&self.context, &self.look.held).await;
            self.look.others = Some(Instant::now());
        }
        match self.look.other_owners {
            Some(OtherOwners::SomeDead) => self.look_at_everything().await,
            Some(OtherOwners::None | OtherOwners::Alive) | None => Ok(()),
        }
    }

    async fn look_at_everything(&mut self) -> Result<(), StoreError> {
        // The position first: what moves meanwhile is then news.
        self.look.position = self.context.store.news(u64::MAX).await?.position;
        let candidates = self.context.store.candidates().await?;
        self.look.held = hold::listed_in_store(&self.context).await;
        hold::look_at(&self.context, &self.look.held).await;
        let versions: HashMap<TaskId, u64> = candidates.iter().map(|one| (one.task, one.version)).collect();
        for (task, hub) in &self.hubs {
            match versions.get(task) {
                Some(version) => hub.poke.tell(*version),
                None => hub.poke.look(),
            }
        }
        self.claim(candidates).await?;
        self.look.other_owners = Some(claim::other_owners(&self.context).await?);
        let now = Instant::now();
        (self.look.everything, self.look.others) = (Some(now), Some(now));
        Ok(())
    }

    async fn hear(&mut self, moved: Vec<MovedTask>) -> Result<(), StoreError> {
        let mut candidates = Vec::new();
        for task in moved {
            if let Some(hub) = self.hubs.get(&task.task) {
                hub.poke.tell(task.version);
            }
            match task.state == hold::HELD {
                true => self.look.held.insert(task.task),
                false => self.look.held.remove(&task.task),
            };
            candidates.extend(task.candidate);
        }
        self.claim(candidates).await
    }

    async fn claim(&mut self, candidates: Vec<Candidate>) -> Result<(), StoreError> {
        let lease_of = |task| self.hubs.get(&task).map(|hub| hub.lease);
        let claimed = claim::claim_round(&self.context, candidates, lease_of, self.only).await?;
        claimed.iter().for_each(|stored| self.start(stored));
        Ok(())
    }

    fn left(&mut self, left: Result<(TaskId, Left), JoinError>) -> Result<(), WorkerError> {
        match left {
            Ok((task, Left::NotOurs)) => {
                if let Some(hub) = self.hubs.remove(&task) {
                    self.context.environments.forget(hub.lease);
                }
                Ok(())
            }
            Ok((task, Left::Broken(why))) => {
                self.context.report(&format!("task {task}: {why}"));
                // The lease is still ours, so the next look opens a hub again.
                self.hubs.remove(&task);
                self.look.everything = None;
                Ok(())
            }
            Ok((_, Left::Store(error))) => Err(error.into()),
            Err(error) => Err(StoreError::Failed { what: format!("a hub ended badly: {error}") }.into()),
        }
    }
}

/// Never resolves without a socket.
async fn next_accepted(reception: &mut Option<Reception>) -> Option<TaskId> {
    match reception {
        Some(reception) => reception.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_locks_of_the_dead_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::create(&dir.path().join("home")).unwrap();
        let held = WorkerLock::take(&home.workers(), mint_worker()).unwrap();
        let [dead, young, old, strange] =
            ["a.lock", ".b.lock.tmp", ".c.lock.tmp", "notes"].map(|name| home.workers().join(name));
        for path in [&dead, &young, &old, &strange] {
            File::create(path).unwrap();
        }
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        sweep_dead_locks(&home);
        let left = [held.path(), &dead, &young, &old, &strange].map(Path::exists);
        assert_eq!(left, [true, false, true, false, true]);
    }
}
