//! The SQLite store as its callers hold it: opens, and hands each call to the writer, a reader or the doorbell.
//!
//! Front ends and workers each open one per process. Dropping it waits for the writer; nothing acknowledged depends on that.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::{AccountLimit, Actor, Task};
use longhaul_core::time::Time;
use rusqlite::Connection;
use tokio::sync::watch;

use super::accounts;
use super::append::as_json;
use super::backup::back_up;
use super::cache::Cache;
use super::claim::claim;
use super::commit::{Prepared, commit};
use super::directory;
use super::doorbell::{Bell, Follower};
use super::family::family;
use super::keys;
use super::listing::{list, summaries};
use super::load::find_task;
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
    Candidate, ChainReport, Change, Changes, CommitError, Committed, Damaged, Filter, Guard, Key, Listed, NewLease,
    News, Notice, RemoveError, Settled, Store, StoreError, Stored, StoredEvent, Summaries, Turns,
};

/// The store of one machine: `longhaul.db` in the home.
#[derive(Debug)]
pub struct SqliteStore {
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
        Ok(SqliteStore { follower: Mutex::new(None), writer, readers, place, listeners })
    }

    async fn change(
        &self,
        work: impl FnMut(&Connection, &mut Cache) -> Result<Made, CommitError> + Send + 'static,
    ) -> Result<Committed, CommitError> {
        let Made { stored, repeated } = self.writer.ask(|made: &Made| !made.repeated, work).await?;
        Ok(Committed { stored: Arc::unwrap_or_clone(stored), repeated })
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, change: Change) -> Result<Committed, CommitError> {
        let prepared = Prepared::new(change)?;
        self.change(move |connection, cache| commit(connection, cache, &prepared)).await
    }

    async fn repeat_of(&self, key: &Key, actor: &Actor) -> Result<Option<Stored>, CommitError> {
        let (key, principal) = (key.clone(), actor.principal.clone());
        let named = self.readers.read(move |connection| Ok(keys::task_of(connection, &key, &principal))).await??;
        match named {
            Some(task) => Ok(self.load(task).await?),
            None => Ok(None),
        }
    }

    async fn claim(&self, task: TaskId, epoch_seen: u64, lease: NewLease, at: Time) -> Result<Committed, CommitError> {
        self.change(move |connection, cache| claim(connection, cache, task, epoch_seen, &lease, at)).await
    }

    async fn load(&self, task: TaskId) -> Result<Option<Stored>, StoreError> {
        self.readers
            .read(move |connection| Ok(find_task(connection, task)?.map(|row| Arc::unwrap_or_clone(row.stored))))
            .await
    }

    async fn list(&self, filter: Filter) -> Result<Listed, StoreError> {
        self.readers.read(move |connection| list(connection, &filter)).await
    }

    async fn summaries(&self, filter: Filter) -> Result<Summaries, StoreError> {
        self.readers.read(move |connection| summaries(connection, &filter)).await
    }

    async fn events(&self, task: TaskId, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        self.readers.read(move |connection| events(connection, task, after, limit)).await
    }

    async fn newest_events(&self, task: TaskId, kinds: &[&str], limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let kinds = as_json(&kinds)?;
        self.readers.read(move |connection| newest_events(connection, task, &kinds, limit)).await
    }

    async fn candidates(&self) -> Result<Vec<Candidate>, StoreError> {
        self.readers.read(candidates).await
    }

    async fn news(&self, after: u64) -> Result<News, StoreError> {
        self.readers.read(move |connection| news(connection, after)).await
    }

    async fn other_owners(&self, worker: WorkerId) -> Result<Vec<WorkerId>, StoreError> {
        self.readers.read(move |connection| other_owners(connection, worker)).await
    }

    async fn turns(&self, cap: u32, passed_over: &[WorkerId]) -> Result<Turns, StoreError> {
        let passed_over = passed_over.to_vec();
        self.readers.read(move |connection| turns(connection, cap, &passed_over)).await
    }

    async fn family(&self, task: TaskId) -> Result<Vec<Task>, StoreError> {
        self.readers.read(move |connection| family(connection, task)).await
    }

    async fn directory_holder(&self, task: TaskId) -> Result<Option<TaskId>, StoreError> {
        let holder_of = move |connection: &Connection| match find_task(connection, task)? {
            Some(row) if row.stored.task.state.session().is_none() => {
                directory::holder(connection, task, row.stored.task.submission.directory())
            }
            Some(_) | None => Ok(None),
        };
        self.readers.read(holder_of).await
    }

    async fn works_in(&self, directory: &str) -> Result<Option<TaskId>, StoreError> {
        let directory = directory.to_owned();
        self.readers.read(move |connection| directory::works_in(connection, &directory)).await
    }

    async fn verify(&self, task: TaskId) -> Result<ChainReport, StoreError> {
        self.readers.read(move |connection| verify(connection, task)).await
    }

    async fn remove(&self, task: TaskId, guard: Guard) -> Result<(), RemoveError> {
        self.writer.ask(|()| true, move |connection, cache| remove(connection, cache, task, guard)).await
    }

    async fn backup(&self, target: &Path) -> Result<(), StoreError> {
        let (place, target) = (self.place.clone(), target.to_owned());
        let copied = tokio::task::spawn_blocking(move || back_up(&open_copier(&place)?, &target)).await;
        copied.map_err(|error| StoreError::Failed { what: format!("the copy was interrupted: {error}") })?
    }

    async fn check(&self) -> Result<Vec<Damaged>, StoreError> {
        self.readers.read(check).await
    }

    async fn account_limits(&self) -> Result<Vec<AccountLimit>, StoreError> {
        self.readers.read(accounts::limits).await
    }

    async fn pending_notices(&self) -> Result<Vec<Notice>, StoreError> {
        self.readers.read(outbox::pending).await
    }

    async fn notices(&self, task: TaskId) -> Result<Vec<Notice>, StoreError> {
        self.readers.read(move |connection| outbox::of_task(connection, task)).await
    }

    async fn claim_notice(&self, id: u64, tries_seen: u32, until: Time) -> Result<bool, StoreError> {
        self.writer.ask(|won| *won, move |connection, _| outbox::claim(connection, id, tries_seen, until)).await
    }

    async fn settle_notice(&self, id: u64, tries: u32, settled: Settled) -> Result<bool, StoreError> {
        self.writer.ask(|won| *won, move |connection, _| outbox::settle(connection, id, tries, &settled)).await
    }

    fn changes(&self) -> Result<Changes, StoreError> {
        let mut follower = self.follower.lock().unwrap_or_else(PoisonError::into_inner);
        if follower.is_none() {
            *follower = Some(Follower::start(&self.place, &self.listeners)?);
        }
        Ok(Changes { bell: self.listeners.subscribe() })
    }

    fn ring(&self) -> Result<(), StoreError> {
        Bell::open(&self.place, self.listeners.clone()).map(|bell| bell.ring())
    }
}
