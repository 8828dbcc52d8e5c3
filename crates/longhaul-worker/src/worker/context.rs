//! What all parts of a worker share: the store, the home, its own executable, and what its tasks wait for or run with.
//! Made once for each process, by `longhaul worker` and `run-session`.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::ids::WorkerId;
use longhaul_core::task::{Event, Task};
use longhaul_keeper::{Environment, Executable};
use longhaul_store::{NewLease, WholeStore};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;

use crate::effects::{Awake, OwnConversations};
use crate::environments::Environments;
use crate::file_watcher::FileWatcher;
use crate::turns::Line;
use longhaul_app::{Home, mint_lease, mint_worker};

/// So many workspaces are inspected at once.
const INSPECTIONS: usize = 16;
/// Between two starts of sessions, so that recovery after a reboot does not start everything in one instant.
const STAGGER: Duration = Duration::from_millis(20);

/// What all parts of a worker share.
pub struct Context {
    /// The one meeting point.
    pub store: Arc<dyn WholeStore>,
    /// Where everything is kept.
    pub home: Home,
    /// Our own executable, as it was when the worker started.
    pub executable: Executable,
    /// This worker.
    pub worker: WorkerId,
    /// This machine.
    pub host: String,
    pub(crate) bell: Arc<FileWatcher>,
    /// The tasks that wait for their turn to start a session.
    pub(crate) line: Line,
    /// Keeps the machine awake while sessions run.
    pub(crate) awake: Awake,
    /// Whose transcripts may be copied.
    pub(crate) own_conversations: OwnConversations,
    /// What the tasks that were handed over run with.
    pub(crate) environments: Environments,
    /// So many workspaces are inspected at once: each inspection is a thread, and starts git.
    pub(crate) inspections: Semaphore,
    /// When the last session was started.
    pub(crate) turn: Mutex<Option<Instant>>,
    pub(crate) report: fn(&str),
    pub(crate) watcher: Option<Arc<dyn Watcher>>,
}

/// A listener in this process that hears of events as they happen: `run-session`, which shows it in its terminal.
pub trait Watcher: Send + Sync {
    /// These events were committed and made the task what it is now. What is due for it has not begun.
    fn committed(&self, events: &[Event], task: &Task);
    /// The live session printed this.
    fn printed(&self, bytes: &[u8]);
}

impl Context {
    /// A context for a new worker; diagnostics go to `report`.
    pub fn new(store: Arc<dyn WholeStore>, home: Home, executable: Executable, report: fn(&str)) -> Context {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Context {
            store,
            home,
            executable,
            worker: mint_worker(),
            host,
            bell: Arc::new(FileWatcher::new()),
            line: Line::default(),
            awake: Awake::default(),
            own_conversations: OwnConversations::default(),
            environments: Environments::new(),
            inspections: Semaphore::new(INSPECTIONS),
            turn: Mutex::new(None),
            report,
            watcher: None,
        }
    }

    /// The same with somebody to tell.
    pub fn watched_by(self, watcher: Arc<dyn Watcher>) -> Context {
        Context { watcher: Some(watcher), ..self }
    }

    /// A lease for this worker to take.
    pub(crate) fn new_lease(&self) -> NewLease {
        NewLease { id: mint_lease(), worker: self.worker, host: self.host.clone() }
    }

    /// Says something to whoever reads the worker's log, without secret values.
    pub(crate) fn report(&self, message: &str) {
        (self.report)(&self.environments.own().mask(message, &[]).0);
    }

    /// The same for a task with its own environment.
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
