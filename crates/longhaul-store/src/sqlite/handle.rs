//! The SQLite store as its callers hold it: opens, and hands each call to the writer, a reader or the doorbell.
//!
//! Front ends and workers each open one per process. The store of a tenant is another handle on the same one; dropping the last waits for
//! the writer, and nothing acknowledged depends on that.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::{AccountLimit, Actor, Task};
use longhaul_core::time::Time;
use rusqlite::Connection;
use tokio::sync::watch;

use super::accounts;
use super::api_keys;
use super::append::as_json;
use super::backup::back_up;
use super::cache::Cache;
use super::claim::claim;
use super::commit::{Prepared, commit};
use super::directory;
use super::doorbell::{Bell, Follower};
use super::family::family;
use super::feed::feed;
use super::keys;
use super::listing::{list, summaries};
use super::load::{find_task, is_of_tenant, salvage, tenant_of};
use super::open::{Probe, open_copier, open_writer};
use super::outbox;
use super::place::{Found, Place};
use super::read::{Readers, candidates, events, newest_events, news, other_owners};
use super::remove::remove;
use super::request::Made;
use super::turns::turns;
use super::verify::{check, verify};
use super::writer::Writer;
use crate::{
    ApiKey, Candidate, ChainReport, Change, Changes, CommitError, Committed, Damaged, Earlier, Feed, Filter, Guard,
    History, Holder, Key, Listed, NewLease, News, Notice, RemoveError, Salvaged, Settled, Store, StoreError, Stored,
    StoredEvent, Summaries, Tenant, Turns, WholeStore,
};

/// The store of one machine: `longhaul.db` in the home.
#[derive(Debug)]
pub struct SqliteStore {
    shared: Arc<Shared>,
    /// Whose tasks it shows; none for those of every tenant.
    tenant: Option<Tenant>,
}

/// What the stores of all tenants in a process share.
#[derive(Debug)]
struct Shared {
    // Before the others, so that it is dropped first: it only listens.
    follower: Mutex<Option<Follower>>,
    writer: Writer,
    readers: Arc<Readers>,
    place: Place,
    listeners: watch::Sender<u64>,
}

impl SqliteStore {
    /// Opens the database of a home, making it if there is none. The home itself must exist.
    pub fn open(home: &Path) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with_probe(home, |_| {})
    }

    /// Opens the database of a home, or answers `None` and creates nothing when it has none.
    pub fn open_existing(home: &Path) -> Result<Option<SqliteStore>, StoreError> {
        if let Ok(false) = home.try_exists() {
            return Ok(None);
        }
        let place = Place::new(home)?;
        match place.find()? {
            Found::Database => SqliteStore::open_at(place, |_| {}).map(Some),
            Found::Nothing => Ok(None),
        }
    }

    /// As [`SqliteStore::open`], for crash tests: the probe is called with `store.before_migration_commit`, with
    /// `store.before_commit`, and with `store.committed` before anybody is told.
    pub fn open_with_probe(home: &Path, probe: Probe) -> Result<SqliteStore, StoreError> {
        let place = Place::new(home)?;
        place.find()?;
        SqliteStore::open_at(place, probe)
    }

    fn open_at(place: Place, probe: Probe) -> Result<SqliteStore, StoreError> {
        let connection = open_writer(&place, probe)?;
        let (listeners, _) = watch::channel(0);
        let bell = Bell::open(&place, listeners.clone())?;
        let writer = Writer::start(connection, place.clone(), bell, probe)?;
        let readers = Arc::new(Readers::new(place.clone()));
        let shared = Shared { follower: Mutex::new(None), writer, readers, place, listeners };
        Ok(SqliteStore { shared: Arc::new(shared), tenant: None })
    }

    async fn change(
        &self,
        work: impl FnMut(&Connection, &mut Cache) -> Result<Made, CommitError> + Send + 'static,
    ) -> Result<Committed, CommitError> {
        let Made { stored, repeated } = self.shared.writer.ask(|made: &Made| !made.repeated, work).await?;
        Ok(Committed { stored: Arc::unwrap_or_clone(stored), repeated })
    }

    /// Asks a reader, for this tenant.
    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection, Option<&Tenant>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let tenant = self.tenant.clone();
        self.shared.readers.read(move |connection| query(connection, tenant.as_ref())).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, change: Change) -> Result<Committed, CommitError> {
        let prepared = Prepared::new(change, self.tenant.clone())?;
        self.change(move |connection, cache| commit(connection, cache, &prepared)).await
    }

    async fn repeat_of(&self, key: &Key, actor: &Actor) -> Result<Option<Earlier>, CommitError> {
        let (key, principal) = (key.clone(), actor.principal.clone());
        let task_of = move |connection: &Connection, tenant: Option<&Tenant>| {
            let tenant = tenant.map_or(Tenant::DEFAULT, Tenant::name);
            Ok(keys::task_of(connection, tenant, &key, &principal))
        };
        let named = self.read(task_of).await??;
        match named {
            Some((task, seq)) => Ok(self.load(task).await?.map(|stored| Earlier { stored, seq })),
            None => Ok(None),
        }
    }

    async fn load(&self, task: TaskId) -> Result<Option<Stored>, StoreError> {
        self.read(move |connection, tenant| {
            Ok(find_task(connection, tenant, task)?.map(|row| Arc::unwrap_or_clone(row.stored)))
        })
        .await
    }

    async fn salvage(&self, task: TaskId) -> Result<Option<Salvaged>, StoreError> {
        self.read(move |connection, tenant| salvage(connection, tenant, task)).await
    }

    async fn list(&self, filter: Filter) -> Result<Listed, StoreError> {
        self.read(move |connection, tenant| list(connection, tenant, &filter)).await
    }

    async fn summaries(&self, filter: Filter) -> Result<Summaries, StoreError> {
        self.read(move |connection, tenant| summaries(connection, tenant, &filter)).await
    }

    async fn events(&self, task: TaskId, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        self.read(move |connection, tenant| events(connection, tenant, task, after, limit)).await
    }

    async fn newest_events(&self, task: TaskId, kinds: &[&str], limit: u32) -> Result<History, StoreError> {
        let kinds = as_json(&kinds)?;
        self.read(move |connection, tenant| newest_events(connection, tenant, task, &kinds, limit)).await
    }

    async fn feed(&self, after: u64, events: u32, bytes: u64) -> Result<Feed, StoreError> {
        self.read(move |connection, tenant| feed(connection, tenant, after, events, bytes)).await
    }

    async fn turns(&self, cap: u32, passed_over: &[WorkerId]) -> Result<Turns, StoreError> {
        let passed_over = passed_over.to_vec();
        self.read(move |connection, tenant| {
            let mut turns = turns(connection, cap, &passed_over)?;
            for turn in std::mem::take(&mut turns.next) {
                turns.next.extend(is_of_tenant(connection, tenant, turn.task)?.then_some(turn));
            }
            Ok(turns)
        })
        .await
    }

    async fn family(&self, task: TaskId) -> Result<Vec<Task>, StoreError> {
        self.read(move |connection, tenant| family(connection, tenant, task)).await
    }

    async fn directory_holder(&self, task: TaskId) -> Result<Option<Holder>, StoreError> {
        self.read(move |connection, tenant| {
            let found = find_task(connection, tenant, task)?;
            let Some(row) = found.filter(|row| row.stored.task.state.session().is_none()) else { return Ok(None) };
            let holder = directory::holder(connection, task, row.stored.task.submission.directory())?;
            seen_by(connection, tenant, holder)
        })
        .await
    }

    async fn works_in(&self, directory: &str) -> Result<Option<Holder>, StoreError> {
        let directory = directory.to_owned();
        self.read(move |connection, tenant| {
            let holder = directory::works_in(connection, &directory)?;
            seen_by(connection, tenant, holder)
        })
        .await
    }

    async fn verify(&self, task: TaskId) -> Result<ChainReport, StoreError> {
        self.read(move |connection, tenant| verify(connection, tenant, task)).await
    }

    async fn account_limits(&self) -> Result<Vec<AccountLimit>, StoreError> {
        self.read(accounts::limits).await
    }

    async fn notices(&self, task: TaskId) -> Result<Vec<Notice>, StoreError> {
        self.read(move |connection, tenant| outbox::of_task(connection, tenant, task)).await
    }

    fn changes(&self) -> Result<Changes, StoreError> {
        let mut follower = self.shared.follower.lock().unwrap_or_else(PoisonError::into_inner);
        if follower.is_none() {
            *follower = Some(Follower::start(&self.shared.place, &self.shared.listeners)?);
        }
        Ok(Changes { bell: self.shared.listeners.subscribe() })
    }

    fn ring(&self) -> Result<(), StoreError> {
        Bell::open(&self.shared.place, self.shared.listeners.clone()).map(|bell| bell.ring())
    }
}

/// A holder as this tenant may know of it.
fn seen_by(
    connection: &Connection,
    tenant: Option<&Tenant>,
    holder: Option<TaskId>,
) -> Result<Option<Holder>, StoreError> {
    let Some(task) = holder else { return Ok(None) };
    Ok(Some(if is_of_tenant(connection, tenant, task)? { Holder::Task(task) } else { Holder::Foreign }))
}

#[async_trait]
impl WholeStore for SqliteStore {
    fn of_tenant(&self, tenant: &Tenant) -> Arc<dyn Store> {
        Arc::new(SqliteStore { shared: Arc::clone(&self.shared), tenant: Some(tenant.clone()) })
    }

    fn tenant_of(&self, task: TaskId) -> Result<Option<Tenant>, StoreError> {
        self.shared.readers.run(|connection| tenant_of(connection, task))
    }

    async fn claim(&self, task: TaskId, epoch_seen: u64, lease: NewLease, at: Time) -> Result<Committed, CommitError> {
        self.change(move |connection, cache| claim(connection, cache, task, epoch_seen, &lease, at)).await
    }

    async fn candidates(&self) -> Result<Vec<Candidate>, StoreError> {
        self.read(|connection, _| candidates(connection)).await
    }

    async fn news(&self, after: u64) -> Result<News, StoreError> {
        self.read(move |connection, _| news(connection, after)).await
    }

    async fn other_owners(&self, worker: WorkerId) -> Result<Vec<WorkerId>, StoreError> {
        self.read(move |connection, _| other_owners(connection, worker)).await
    }

    async fn pending_notices(&self) -> Result<Vec<Notice>, StoreError> {
        self.read(|connection, _| outbox::pending(connection)).await
    }

    async fn claim_notice(&self, id: u64, tries_seen: u32, until: Time) -> Result<bool, StoreError> {
        self.shared.writer.ask(|won| *won, move |connection, _| outbox::claim(connection, id, tries_seen, until)).await
    }

    async fn settle_notice(&self, id: u64, tries: u32, settled: Settled) -> Result<bool, StoreError> {
        self.shared.writer.ask(|won| *won, move |connection, _| outbox::settle(connection, id, tries, &settled)).await
    }

    async fn remove(&self, task: TaskId, guard: Guard) -> Result<(), RemoveError> {
        self.shared.writer.ask(|()| true, move |connection, cache| remove(connection, cache, task, guard)).await
    }

    async fn create_api_key(&self, key: ApiKey, digest: &str) -> Result<bool, StoreError> {
        let digest = digest.to_owned();
        self.shared
            .writer
            .ask(|created| *created, move |connection, _| api_keys::create(connection, &key, &digest))
            .await
    }

    async fn api_keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        self.read(|connection, _| api_keys::list(connection)).await
    }

    async fn find_api_key(&self, digest: &str) -> Result<Option<ApiKey>, StoreError> {
        let digest = digest.to_owned();
        self.read(move |connection, _| api_keys::find(connection, &digest)).await
    }

    async fn revoke_api_key(&self, id: &str, at: Time) -> Result<Option<ApiKey>, StoreError> {
        let id = id.to_owned();
        self.shared.writer.ask(Option::is_some, move |connection, _| api_keys::revoke(connection, &id, at)).await
    }

    async fn backup(&self, target: &Path) -> Result<(), StoreError> {
        let (place, target) = (self.shared.place.clone(), target.to_owned());
        let copied = tokio::task::spawn_blocking(move || back_up(&open_copier(&place)?, &target)).await;
        copied.map_err(|error| StoreError::Failed { what: format!("the copy was interrupted: {error}") })?
    }

    async fn check(&self) -> Result<Vec<Damaged>, StoreError> {
        self.read(|connection, _| check(connection)).await
    }
}
