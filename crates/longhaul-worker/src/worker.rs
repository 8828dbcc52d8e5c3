//! One worker process: takes its lock, commits what was handed over, claims, and keeps a hub per task until there is nothing to stay for.
//! Called by `longhaul worker`. It never touches a session when it leaves: whoever comes next adopts it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::{Event, Task};
use longhaul_keeper::{Executable, WorkerLock, fail_point};
use longhaul_store::{Damaged, Store, StoreError, Stored};
use tokio::sync::{Mutex, Notify};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use crate::bell::Bell;
use crate::claim::claim_round;
use crate::clock::mint_worker;
use crate::dispatcher::{Hub, Left};
use crate::effects::{Awake, OwnConversations};
use crate::handover::{Answer, Handover};
use crate::hold;
use crate::home::Home;
use crate::intake::redact_intake;
use crate::notify::Sender;

/// How often a dead owner is looked for when nothing rings.
const ROUND: Duration = Duration::from_secs(1);
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
    /// Keeps the machine awake while sessions run.
    pub(crate) awake: Awake,
    /// Whose transcripts may be copied.
    pub(crate) own_conversations: OwnConversations,
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
            awake: Awake::default(),
            own_conversations: OwnConversations::default(),
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
        (self.report)(&redact_intake(message, &[]).0);
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
    fail_point::reach("worker.locked");
    let mut hubs = Hubs::new(Arc::clone(&context), &options);
    if let Some(handover) = options.handover {
        let answered = handover.commit(&context).await;
        let accepted = match &answered {
            Answer::Accepted { task, .. } => Some(*task),
            Answer::Refused { .. } => None,
        };
        answer(&answered);
        match accepted {
            Some(task) => hubs.open(task).await?,
            None => return retire(lock),
        }
    }
    sweep_dead_locks(&context.home);
    tokio::pin!(leave);
    let served = hubs.serve(leave).await;
    if served.is_ok() && hubs.pokes.is_empty() {
        return retire(lock);
    }
    // An effect may be about to spawn a keeper. Only the end of this process proves that none will, so the lock is held until
    // then; the next worker sweeps the file.
    std::mem::forget(lock);
    served
}

fn retire(lock: WorkerLock) -> Result<(), WorkerError> {
    lock.retire().map_err(WorkerError::Lock)
}

/// Lock files of dead workers say nothing any more: a missing one means dead too.
fn sweep_dead_locks(home: &Home) {
    let Ok(entries) = std::fs::read_dir(home.workers()) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let left_behind = match path.extension().and_then(|end| end.to_str()) {
            Some("lock") => true,
            // Of a worker killed before its lock had a name; a young one may be about to take it.
            Some("tmp") => is_older_than_a_minute(&path),
            _ => false,
        };
        if left_behind && WorkerLock::is_dead(&path).unwrap_or(false) {
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
    only: bool,
    stays: bool,
    checks: bool,
    pokes: HashMap<TaskId, Arc<Notify>>,
    versions: HashMap<TaskId, u64>,
    /// What this process has carried: it has the environment that their notices are meant for.
    carried: HashSet<TaskId>,
    sender: Sender,
    running: JoinSet<(TaskId, Left)>,
    looked_at_holds: Option<Instant>,
}

impl Hubs {
    fn new(context: Arc<Context>, options: &Options) -> Hubs {
        Hubs {
            sender: Sender::new(Arc::clone(&context)),
            context,
            only: options.only,
            stays: options.stay,
            checks: options.handover.is_none(),
            pokes: HashMap::new(),
            versions: HashMap::new(),
            carried: HashSet::new(),
            running: JoinSet::new(),
            looked_at_holds: None,
        }
    }

    /// Opens the hub of the task that was handed over; it may have moved on already.
    async fn open(&mut self, task: TaskId) -> Result<(), StoreError> {
        self.carried.insert(task);
        if let Some(stored) = self.context.store.load(task).await? {
            self.start(&stored);
        }
        Ok(())
    }

    fn start(&mut self, stored: &Stored) {
        let Some(owner) = stored.owner.as_ref().filter(|owner| owner.worker == self.context.worker) else { return };
        let poke = Arc::new(Notify::new());
        let hub = Hub::new(Arc::clone(&self.context), stored.task.clone(), owner.lease, Arc::clone(&poke));
        let id = hub.id();
        self.pokes.insert(id, poke);
        self.carried.insert(id);
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
            if !self.round().await? && !self.stays && self.pokes.is_empty() {
                // The last task that left may be held by a person who is gone already, and nobody may come after this worker.
                hold::look_at_all(&self.context).await;
                return Ok(());
            }
            tokio::select! {
                () = &mut leave => return Ok(()),
                () = changes.rung() => {}
                () = tokio::time::sleep(ROUND) => {}
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
        let mine: HashSet<TaskId> = self.pokes.keys().copied().collect();
        let round = match claim_round(&self.context, &mine, self.only).await {
            Ok(round) => round,
            Err(error) if error.passes() => return Ok(true),
            Err(error) => return Err(error),
        };
        for stored in round.claimed {
            self.start(&stored);
        }
        // A look may go through all processes of the machine, so not at every ring.
        if self.looked_at_holds.is_none_or(|last| last.elapsed() >= ROUND) {
            hold::look_at_all(&self.context).await;
            self.looked_at_holds = Some(Instant::now());
        }
        self.poke().await?;
        let has_to_tell = self.sender.round(&self.carried).await?;
        Ok(round.reason_to_stay || has_to_tell)
    }

    async fn poke(&mut self) -> Result<(), StoreError> {
        let owned = match self.context.store.owned(self.context.worker).await {
            Ok(owned) => owned,
            Err(error) if error.passes() => return Ok(()),
            Err(error) => return Err(error),
        };
        let now_owned: HashMap<TaskId, u64> = owned.into_iter().map(|one| (one.task, one.version)).collect();
        for (task, poke) in &self.pokes {
            // A task that is no longer ours is news to its hub too.
            if now_owned.get(task) != self.versions.get(task) {
                poke.notify_one();
            }
        }
        self.versions = now_owned;
        Ok(())
    }

    fn left(&mut self, left: Result<(TaskId, Left), JoinError>) -> Result<(), WorkerError> {
        match left {
            Ok((task, Left::NotOurs)) => {
                self.pokes.remove(&task);
                self.versions.remove(&task);
                Ok(())
            }
            Ok((task, Left::Broken(why))) => {
                self.context.report(&format!("task {task}: {why}"));
                self.pokes.remove(&task);
                Ok(())
            }
            Ok((_, Left::Store(error))) => Err(error.into()),
            Err(error) => Err(StoreError::Failed { what: format!("a hub ended badly: {error}") }.into()),
        }
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
