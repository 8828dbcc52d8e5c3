//! The `Store` trait that front ends use and the `WholeStore` trait of workers: what each method promises, also after a crash.
//!
//! Implemented by SQLite now and PostgreSQL later; one conformance suite holds both to these words. No decision is made here:
//! events come from `decide`, and the store only applies them, compare-and-set.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use longhaul_core::ids::{LeaseId, TaskId, WorkerId};
use longhaul_core::task::{AccountLimit, Actor, Event, IllegalEvent, Reached, Task, state_phrase};
use longhaul_core::time::Time;

use crate::{ApiKey, Feed, Filter, Key, Listed, Notice, Settled, Summaries, Tenant};

/// Tasks and their events, durable, as one tenant may use them: what every front end holds. Through it another tenant's task, key, place in a
/// list or position is answered exactly as if it did not exist. A [`WholeStore`] is one too, and sees every tenant.
#[async_trait]
pub trait Store: Send + Sync {
    /// Appends events to one task and moves it, all or nothing, if the guard holds. Once this returns `Ok` the change survives
    /// kill -9 and power loss; after an error of any kind nothing of it was written.
    ///
    /// The lease is given up in the commit after which the task no longer wants an owner. With a `claim` the same commit takes
    /// the lease (and appends `Claimed`).
    ///
    /// A key that names the same request as before is answered with its task as it is now, `repeated`, and nothing is written: a submission
    /// whose task id is new too. A caller's key that it used for another operation, input or task is refused; others have their own keys.
    ///
    /// A commit that starts a session is refused while the home, the directory or the task's family leaves none; the three are counted in
    /// the same transaction.
    ///
    /// What the change is worth telling (`core::task::notice`) is put into the outbox in the same commit, once for each target.
    async fn commit(&self, change: Change) -> Result<Committed, CommitError>;

    /// The request that was made before with this key; none if nobody used the key. Callers ask before they decide: on the
    /// changed task the same request may make no sense any more. Refused as a commit with that key would be.
    async fn repeat_of(&self, key: &Key, actor: &Actor) -> Result<Option<Earlier>, CommitError>;

    /// One task with its ownership, or `None` if there is no such task. Damage is an error, never absence.
    async fn load(&self, task: TaskId) -> Result<Option<Stored>, StoreError>;

    /// One task for showing, although some of its history is damaged: what its snapshot and its sound events make, and what is damaged.
    /// Where nothing is, as [`Store::load`]; an error where row and events contradict each other, or nothing can be read.
    async fn salvage(&self, task: TaskId) -> Result<Option<Salvaged>, StoreError>;

    /// Tasks for people, newest first. A damaged row is reported beside the others and hides none of them.
    async fn list(&self, filter: Filter) -> Result<Listed, StoreError>;

    /// What lists show of tasks, newest first, read from columns alone: fast with many thousands of them. With a limit it is one page, and
    /// `next` is where the next one begins. A damaged row is reported as `list` does, but only what the columns show is seen here.
    async fn summaries(&self, filter: Filter) -> Result<Summaries, StoreError>;

    /// Events of a task after a sequence number, in order, at most `limit`.
    async fn events(&self, task: TaskId, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError>;

    /// The newest events of a task, at most `limit`, in order: only those of these kinds, or of any kind if none is named. What a task's
    /// sessions were, or why it is where it is, is found so without reading the many events between. Damaged ones are named beside the others.
    async fn newest_events(&self, task: TaskId, kinds: &[&str], limit: u32) -> Result<History, StoreError>;

    /// Events of all tasks after a position, in the order of their commits: at most `events` of them, and no more than `bytes` unless the
    /// first one alone is larger. The answer says where to continue, and whether events after the position are missing.
    async fn feed(&self, after: u64, events: u32, bytes: u64) -> Result<Feed, StoreError>;

    /// Whose turn it is to start a session, if this home may have `cap` at once: as many tasks as there are free slots, the most urgent
    /// first and then the oldest. Tasks of the workers passed over have no turn. A runner's task needs none. A tenant's store names only
    /// that tenant's tasks, but all slots in use are counted: they are the home's.
    async fn turns(&self, cap: u32, passed_over: &[WorkerId]) -> Result<Turns, StoreError>;

    /// Every task of a task's family, finished ones and itself too: the one at the top and all below it. Empty when it has neither
    /// parent nor children. A damaged one is left out.
    async fn family(&self, task: TaskId) -> Result<Vec<Task>, StoreError>;

    /// The task that this one has to wait for before a session of it may start in its directory; none with its own worktree, and
    /// none while a session of it is live. The same rule is enforced by the commit that starts a session.
    async fn directory_holder(&self, task: TaskId) -> Result<Option<Holder>, StoreError>;

    /// An unfinished task that works in this directory of a person's, around it or inside it.
    async fn works_in(&self, directory: &str) -> Result<Option<Holder>, StoreError>;

    /// Recomputes a task's hash chain and rebuilds its state from its events.
    async fn verify(&self, task: TaskId) -> Result<ChainReport, StoreError>;

    /// The usage limits that tasks have reached, one for each account, over ones too. They are written in the commits that change them
    /// (`core::task::account_changes`). A tenant's store answers with those that the tenant's own tasks reached.
    async fn account_limits(&self) -> Result<Vec<AccountLimit>, StoreError>;

    /// The newest notices of a task, in the order they were made; a few hundred at most.
    async fn notices(&self, task: TaskId) -> Result<Vec<Notice>, StoreError>;

    /// A bell that rings after commits of any process. It only says "look again"; it may ring too often, never too late.
    fn changes(&self) -> Result<Changes, StoreError>;

    /// Rings that bell in every process: something beside the store changed that others wait for.
    fn ring(&self) -> Result<(), StoreError>;
}

/// The store of every tenant: what workers and the operations for the whole home hold, and nobody else. Submissions and keys that come
/// through it are the default tenant's.
#[async_trait]
pub trait WholeStore: Store {
    /// The store as this tenant may use it.
    fn of_tenant(&self, tenant: &Tenant) -> Arc<dyn Store>;

    /// Whose task this is, or `None` if there is no such task. Callers below an agent session belong to their task's tenant.
    fn tenant_of(&self, task: TaskId) -> Result<Option<Tenant>, StoreError>;

    /// Takes the lease of a task, if its epoch is still the one seen: epoch + 1, and a `Claimed` event. A task that wants no
    /// owner cannot be claimed.
    async fn claim(&self, task: TaskId, epoch_seen: u64, lease: NewLease, at: Time) -> Result<Committed, CommitError>;

    /// Unfinished tasks that want an owner, the most urgent first and then the oldest, with who owns them now.
    async fn candidates(&self) -> Result<Vec<Candidate>, StoreError>;

    /// The tasks that moved after a position, in no order, and the position now: how a worker notices what others committed at a cost
    /// that does not grow with the number of tasks. Positions grow in the order of commits and are never used again, also when history is
    /// removed, so a reader that remembers the last one misses nothing.
    async fn news(&self, after: u64) -> Result<News, StoreError>;

    /// The workers, other than this one, that own tasks which any worker may carry out.
    async fn other_owners(&self, worker: WorkerId) -> Result<Vec<WorkerId>, StoreError>;

    /// Notices that are still to be delivered, the longest due first, those that are due later and claimed ones too; a few hundred
    /// at most.
    async fn pending_notices(&self) -> Result<Vec<Notice>, StoreError>;

    /// Sets out to deliver a pending notice: one try more, and due again only then. False, and nothing written, if its tries are no
    /// longer those seen: somebody else was faster. A claimer that dies leaves a notice that becomes due again.
    async fn claim_notice(&self, id: u64, tries_seen: u32, until: Time) -> Result<bool, StoreError>;

    /// Says what came of the try with this number. False, and nothing written, if another try began meanwhile.
    async fn settle_notice(&self, id: u64, tries: u32, settled: Settled) -> Result<bool, StoreError>;

    /// Removes a finished task with its events, keys and notices, all or nothing, if its version is still the one seen. Once this returns
    /// `Ok` the task is absent, and stays so over crashes; after an error nothing of it is gone. Its children go first.
    async fn remove(&self, task: TaskId, guard: Guard) -> Result<(), RemoveError>;

    /// Keeps an API key under the digest of its text. False, and nothing written, if a usable key of the same tenant has its name.
    async fn create_api_key(&self, key: ApiKey, digest: &str) -> Result<bool, StoreError>;

    /// Every API key, revoked and expired ones too, the oldest first.
    async fn api_keys(&self) -> Result<Vec<ApiKey>, StoreError>;

    /// The API key that is kept under this digest, whether it is usable or not.
    async fn find_api_key(&self, digest: &str) -> Result<Option<ApiKey>, StoreError>;

    /// Revokes an API key for good, and answers with it; none if there is no key with this id. The bell rings, for those who serve a
    /// request that came with it. Revoking it again changes nothing.
    async fn revoke_api_key(&self, id: &str, at: Time) -> Result<Option<ApiKey>, StoreError>;

    /// Copies everything, as of one moment and while others keep committing, to a new file, and checks the copy. A file that is
    /// there already is refused. After a crash there is the whole copy or none of that name.
    async fn backup(&self, target: &Path) -> Result<(), StoreError>;

    /// Reads everything once and names what is damaged; empty when all is well.
    async fn check(&self) -> Result<Vec<Damaged>, StoreError>;
}

/// One change of one task.
#[derive(Debug, Clone)]
pub struct Change {
    /// Which task.
    pub task: TaskId,
    /// What must still hold.
    pub guard: Guard,
    /// What happened, in order; may be empty only together with a claim, or with a key of a request that changes nothing.
    pub events: Vec<Event>,
    /// Who did it.
    pub actor: Actor,
    /// When.
    pub at: Time,
    /// The caller's idempotency key. A submission is also recognised by its task id.
    pub key: Option<Key>,
    /// Takes the lease in the same commit.
    pub claim: Option<NewLease>,
    /// When one of the events starts a session: how many live sessions this home may have, counted in the same transaction.
    pub session_cap: Option<u32>,
}

/// What must still hold for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// The task does not exist yet. If it does, with the same first event, the commit answers as it did then.
    New,
    /// Its version: front ends.
    Version(u64),
    /// Its version, epoch and lease: owners.
    Owner {
        /// The version decided upon.
        version: u64,
        /// The lease held.
        lease: Lease,
    },
}

/// A lease to be taken.
#[derive(Debug, Clone)]
pub struct NewLease {
    /// Minted by the worker for this claim.
    pub id: LeaseId,
    /// Who takes it.
    pub worker: WorkerId,
    /// On which machine.
    pub host: String,
}

/// A lease that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Grows with every claim.
    pub epoch: u64,
    /// Of this claim.
    pub id: LeaseId,
}

/// A task with its ownership.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The task.
    pub task: Task,
    /// Grows with every claim; 0 before the first.
    pub epoch: u64,
    /// Who owns it, if anyone.
    pub owner: Option<Owner>,
}

/// Who owns a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Which worker.
    pub worker: WorkerId,
    /// On which machine.
    pub host: String,
    /// Its lease.
    pub lease: Lease,
    /// Since when.
    pub since: Time,
}

/// What a commit made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The task and its ownership after it.
    pub stored: Stored,
    /// The change had been committed before under this key; nothing was written now.
    pub repeated: bool,
}

/// A request that was made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// Its task, as it is now.
    pub stored: Stored,
    /// The task's last event when the request had been made.
    pub seq: u64,
}

/// Why a commit was not made. Nothing of it was written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommitError {
    /// Version or epoch moved on: load again and decide again.
    #[error("the task changed in the meantime")]
    Conflict,
    /// The lease is no longer held: stop, and write nothing more for this task.
    #[error("the lease is no longer held")]
    Fenced,
    /// There is no such task.
    #[error("no such task")]
    NotFound,
    /// An unfinished task of the project has this name.
    #[error("another unfinished task in this project is already named `{name}`")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Something is already being done with the work of the finished task.
    #[error("task `{by}` is already at work on `{name}`; wait for it, or cancel it with `longhaul cancel {by}`")]
    FollowedUp {
        /// The finished task.
        name: String,
        /// The unfinished follow-up.
        by: String,
    },
    /// The home has as many live sessions as it may have: try again when one has ended.
    #[error("{cap} sessions are already running")]
    SessionCap {
        /// The cap.
        cap: u32,
    },
    /// Another task works in the directory, around it or inside it: try again when that one has moved.
    #[error("task {by} works in the same directory")]
    DirectoryTaken {
        /// Which.
        by: TaskId,
    },
    /// The task's family has used up a limit that it shares: no session of an agent starts before that is raised.
    #[error("{reached}")]
    FamilyLimit {
        /// Which, and how much of it is used.
        reached: Reached,
    },
    /// The family has as many unfinished tasks below its first one as it may have.
    #[error("`children.max` allows at most {most} unfinished child tasks")]
    TooManyChildren {
        /// How many.
        most: u32,
    },
    /// Children of children end somewhere.
    #[error("child tasks may be at most {deepest} deep (`children.depth`)")]
    TooDeep {
        /// How deep they may be.
        deepest: u32,
    },
    /// The caller used the key for another operation, input or task.
    #[error("this idempotency key was used for another request")]
    KeyReused,
    /// An event has no edge from the stored state.
    #[error("illegal change")]
    Illegal(#[from] IllegalEvent),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a task was not removed. Nothing of it is gone.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RemoveError {
    /// There is no such task.
    #[error("no such task")]
    NotFound,
    /// It moved on, or the guard cannot hold for a finished task.
    #[error("the task changed in the meantime")]
    Conflict,
    /// It has not ended, or somebody holds its lease.
    #[error("the task {}; only finished tasks can be removed", state_phrase(.state))]
    Unfinished {
        /// The name of its state.
        state: &'static str,
    },
    /// Other tasks are parts of it, or follow it up.
    #[error("it has {children} child tasks or follow-ups; remove them first")]
    HasChildren {
        /// How many.
        children: u64,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What can be wrong with the database itself.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// It was written by a newer Longhaul.
    #[error("the database has schema {found}, but this longhaul supports up to {known}; use the newer longhaul")]
    NewerSchema {
        /// Found in the file.
        found: u32,
        /// The newest this binary knows.
        known: u32,
    },
    /// It was made before the first release. It is left as it is.
    #[error(
        "the database (schema {found}) was made by an unreleased version of longhaul, which this one cannot read; move it away"
    )]
    UnreleasedSchema {
        /// Found in the file.
        found: u32,
    },
    /// Its content is damaged. It is never overwritten silently.
    #[error("the database is damaged: {what}")]
    Damaged {
        /// What, naming the row where possible.
        what: String,
    },
    /// The place is unfit: a network file system, not a directory, not ours.
    #[error("cannot keep the database in `{path}`: {why}")]
    Unfit {
        /// The home.
        path: String,
        /// Why.
        why: String,
    },
    /// Others held it for too long.
    #[error("the database is busy")]
    Busy,
    /// There is no room for more, or the file system takes no writes: nothing was written, and work continues once there is room.
    #[error("no space left for the database: {what}")]
    Full {
        /// What it said.
        what: String,
    },
    /// The process or the machine has no descriptors or memory left: nothing was written, try again later.
    #[error("out of file descriptors or memory: {what}")]
    Later {
        /// What it said.
        what: String,
    },
    /// The disk failed to make written data durable. What it holds is unknown, so nothing is written through this handle any more;
    /// the next opening looks at everything first.
    #[error("storage failed; reopen the database: {what}")]
    StorageFailed {
        /// What it said.
        what: String,
    },
    /// The disk or the database library failed.
    #[error("the database failed: {what}")]
    Failed {
        /// What it said.
        what: String,
    },
}

impl StoreError {
    /// Whether it is temporary: nothing was written, and trying again later is right.
    pub fn is_transient(&self) -> bool {
        match self {
            StoreError::Busy | StoreError::Full { .. } | StoreError::Later { .. } => true,
            StoreError::NewerSchema { .. }
            | StoreError::UnreleasedSchema { .. }
            | StoreError::Damaged { .. }
            | StoreError::Unfit { .. }
            | StoreError::StorageFailed { .. }
            | StoreError::Failed { .. } => false,
        }
    }
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Which row.
    pub row: String,
    /// What is wrong with it.
    pub what: String,
}

/// A task as far as it can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// The task, without the changes that damaged events made.
    pub stored: Stored,
    /// What cannot be read.
    pub damaged: Vec<Damaged>,
}

/// Events of a task as far as they can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// In order.
    pub events: Vec<StoredEvent>,
    /// What cannot be read.
    pub damaged: Vec<Damaged>,
}

/// An event as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Gap-free within the task, from 1.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// The epoch it was committed under.
    pub epoch: u64,
    /// Who.
    pub actor: Actor,
    /// What.
    pub event: Event,
    /// The chain's hash up to this event, lower-case hex.
    pub hash: String,
}

/// A task that wants an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Which.
    pub task: TaskId,
    /// Its version now.
    pub version: u64,
    /// Its epoch now, for the claim.
    pub epoch: u64,
    /// Its owner now; a claim needs proof of that one's death.
    pub owner: Option<WorkerId>,
    /// The task it is a part of.
    pub parent: Option<TaskId>,
    /// It has a session whose process may be alive.
    pub live: bool,
    /// Who may carry it out.
    pub carrier: Carrier,
}

/// Who may carry a task out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// Any worker.
    Worker,
    /// Only an invocation of the runner; once its session is asked to stop, any worker too.
    Runner,
}

/// What happened after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// Where the history ends now.
    pub position: u64,
    /// The tasks with new events, each once.
    pub tasks: Vec<MovedTask>,
}

/// A task with new events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedTask {
    /// Which.
    pub task: TaskId,
    /// Its version now.
    pub version: u64,
    /// The name of its state now.
    pub state: String,
    /// What a claim needs, if it wants an owner.
    pub candidate: Option<Candidate>,
}

/// Whose turn it is to start a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turns {
    /// Live sessions of the home.
    pub in_use: u32,
    /// Who may start one, the most urgent first and then the oldest. Whoever is about to start one and is not here waits.
    pub next: Vec<Turn>,
}

/// A task that may start a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Which.
    pub task: TaskId,
    /// Its owner, who is to start it.
    pub owner: WorkerId,
}

/// Who works in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// This task.
    Task(TaskId),
    /// A task of another tenant.
    Foreign,
}

/// What a look at a task's chain found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainReport {
    /// Events read.
    pub events: u64,
    /// The first thing that does not fit, if any: which event and what.
    pub broken: Option<String>,
}

/// A bell that rings after commits.
#[derive(Debug)]
pub struct Changes {
    pub(crate) bell: tokio::sync::watch::Receiver<u64>,
}

impl Changes {
    /// Returns after the next ring, or at once if it rang since the last call.
    pub async fn rung(&mut self) {
        // The sender lives as long as the store; a closed bell means shutdown, and then nobody is to spin.
        if self.bell.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
