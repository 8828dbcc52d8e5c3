//! The one thread that writes: takes what has queued up, commits it as a group, and only then answers.
//!
//! Each change has a savepoint of its own, so a refused one does not fail its neighbours; a failed COMMIT acknowledges none.
//! Started by the handle, ended by dropping it.

use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use longhaul_core::ids::TaskId;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::sync::oneshot;

use super::cache::Cache;
use super::claim::claim;
use super::commit::commit;
use super::disk_failure_note;
use super::doorbell::Bell;
use super::failure::store_error;
use super::open::Probe;
use super::outbox::{self, NoticeWork};
use super::place::Place;
use super::remove::remove;
use super::request::{Answer, Made, Outcome, Request, Work};
use crate::{CommitError, Committed, Guard, RemoveError, StoreError};

/// As many changes as one transaction takes.
const GROUP: usize = 256;

/// The longest wait for a group to become as large as the last one; less than a sync takes.
const LINGER: Duration = Duration::from_micros(150);

/// How long a writer that just answered stays awake.
const WATCHFUL: Duration = Duration::from_micros(60);

/// Groups between two looks at the size of the log.
const GROUPS_BETWEEN_LOOKS: u32 = 64;

/// A log longer than this is written back as soon as no reader is in the way.
const LONG_LOG: u64 = 16 * 1024 * 1024;

/// The writer's queue. Dropping it waits until what was asked for is written and the connection is closed.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(connection: Connection, place: Place, bell: Bell, probe: Probe) -> Result<Writer, StoreError> {
        let (queue, requests) = mpsc::channel();
        let group =
            Group { connection, cache: Cache::default(), place, bell, probe, groups: 0, last_group: 1, failure: None };
        let thread = thread::Builder::new()
            .name("longhaul-store".into())
            .spawn(move || group.serve(&requests))
            .map_err(|error| StoreError::Failed { what: format!("failed to start the writer thread: {error}") })?;
        Ok(Writer { queue: Some(queue), thread: Some(thread) })
    }

    /// Asks for a change, and waits until the answer is durable.
    pub(super) async fn ask(&self, work: Work) -> Result<Committed, CommitError> {
        let (answer, answered) = oneshot::channel();
        self.send(Request { work, answer: Answer::Change(answer) })?;
        let Made { stored, repeated } = answered.await.map_err(|_| gone())??;
        Ok(Committed { stored: Arc::unwrap_or_clone(stored), repeated })
    }

    /// Asks for a removal, and waits until the answer is durable.
    pub(super) async fn remove(&self, task: TaskId, guard: Guard) -> Result<(), RemoveError> {
        let (answer, answered) = oneshot::channel();
        self.send(Request { work: Work::Remove { task, guard }, answer: Answer::Removal(answer) })?;
        answered.await.map_err(|_| gone())?
    }

    /// Asks for a notice to be claimed or settled, and waits until the answer is durable.
    pub(super) async fn notice(&self, work: NoticeWork) -> Result<bool, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.send(Request { work: Work::Notice(work), answer: Answer::Notice(answer) })?;
        answered.await.map_err(|_| gone())?
    }

    fn send(&self, request: Request) -> Result<(), StoreError> {
        self.queue.as_ref().and_then(|queue| queue.send(request).ok()).ok_or_else(gone)
    }
}

fn gone() -> StoreError {
    StoreError::Failed { what: "the writer thread is gone".into() }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the writer was answered to its callers already.
            let _panic = thread.join();
        }
    }
}

struct Group {
    connection: Connection,
    cache: Cache,
    place: Place,
    bell: Bell,
    probe: Probe,
    groups: u32,
    last_group: usize,
    /// The disk failed: nothing is written any more.
    failure: Option<StoreError>,
}

impl Group {
    fn serve(mut self, requests: &Receiver<Request>) {
        while let Some(first) = Group::next(requests) {
            let group = self.gather(first, requests);
            let (works, answers): (Vec<Work>, Vec<Answer>) =
                group.into_iter().map(|request| (request.work, request.answer)).unzip();
            let outcomes = self.commit_group(works);
            match outcomes {
                Ok(outcomes) => answers.into_iter().zip(outcomes).for_each(|(answer, outcome)| answer.give(outcome)),
                Err(error) => answers.into_iter().for_each(|answer| answer.fail(error.clone())),
            }
            self.cache.tidy();
            self.keep_log_short();
        }
    }

    /// The next request, or none when all callers are gone. Right after a group it looks for a moment before it sleeps: a caller
    /// that commits one change after the other comes back sooner than a thread wakes up.
    fn next(requests: &Receiver<Request>) -> Option<Request> {
        let deadline = Instant::now() + WATCHFUL;
        while Instant::now() < deadline {
            match requests.try_recv() {
                Ok(request) => return Some(request),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => thread::yield_now(),
            }
        }
        requests.recv().ok()
    }

    /// All that has queued up. Callers that were answered together mostly come back together, so a group waits a moment until it
    /// is as large as the last one: one sync then serves them all.
    fn gather(&mut self, first: Request, requests: &Receiver<Request>) -> Vec<Request> {
        let mut group = vec![first];
        let deadline = Instant::now() + LINGER;
        loop {
            group.extend(requests.try_iter().take(GROUP - group.len()));
            if group.len() >= self.last_group || Instant::now() >= deadline {
                break;
            }
            thread::yield_now();
        }
        self.last_group = group.len().min(GROUP);
        group
    }

    /// The outcome of each change, or why none of them was committed.
    fn commit_group(&mut self, works: Vec<Work>) -> Result<Vec<Outcome>, StoreError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let written = self.run("BEGIN IMMEDIATE").and_then(|()| self.write_group(works));
        let written = written.and_then(|outcomes| self.finish_group(outcomes));
        if written.is_err() && !self.connection.is_autocommit() {
            // The first error is the one to report; a transaction that cannot be rolled back ends with the connection.
            let _second = self.run("ROLLBACK");
        }
        written.map_err(|error| self.weigh(error))
    }

    /// After a failed sync nothing is written here any more, and nothing is synced again as if it could be made good.
    fn weigh(&mut self, error: StoreError) -> StoreError {
        match error {
            StoreError::StorageFailed { .. } => {
                let _without = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
                disk_failure_note::raise(&self.place);
                self.failure = Some(error.clone());
                error
            }
            StoreError::Failed { what } if self.place.is_read_only() => StoreError::Full { what },
            other => other,
        }
    }

    /// A change alone in its transaction needs no savepoint: refused, it takes the transaction with it.
    fn write_group(&mut self, works: Vec<Work>) -> Result<Vec<Outcome>, StoreError> {
        let alone = works.len() == 1;
        works.into_iter().map(|work| if alone { self.write_alone(work) } else { self.write_among(work) }).collect()
    }

    fn write_alone(&mut self, work: Work) -> Result<Outcome, StoreError> {
        let outcome = self.write(work);
        if self.connection.is_autocommit() { Err(outcome.cause()) } else { Ok(outcome) }
    }

    fn finish_group(&mut self, outcomes: Vec<Outcome>) -> Result<Vec<Outcome>, StoreError> {
        if !outcomes.iter().any(Outcome::is_written) {
            self.run("ROLLBACK")?;
            return Ok(outcomes);
        }
        (self.probe)("store.before_commit");
        self.run("COMMIT")?;
        (self.probe)("store.committed");
        // Before the answers: a caller may end its process as soon as it has one.
        self.bell.ring();
        Ok(outcomes)
    }

    fn write(&mut self, work: Work) -> Outcome {
        let (connection, cache) = (&self.connection, &mut self.cache);
        match work {
            Work::Commit(prepared) => Outcome::Change(commit(connection, cache, *prepared)),
            Work::Claim { task, epoch_seen, lease, at } => {
                Outcome::Change(claim(connection, cache, task, epoch_seen, &lease, at))
            }
            Work::Remove { task, guard } => Outcome::Removal(remove(connection, cache, task, guard)),
            Work::Notice(work) => Outcome::Notice(outbox::work(connection, &work)),
        }
    }

    fn write_among(&mut self, work: Work) -> Result<Outcome, StoreError> {
        self.run("SAVEPOINT change")?;
        let outcome = self.write(work);
        if outcome.is_refused() {
            // Some failures (full disk, I/O) end the whole transaction: then there is nothing left to go back to.
            if self.connection.is_autocommit() {
                return Err(outcome.cause());
            }
            self.run("ROLLBACK TO change")?;
        }
        self.run("RELEASE change")?;
        Ok(outcome)
    }

    /// Readers that overlap all the time keep SQLite from reusing the log; a checkpoint that waits for nobody shortens it in
    /// the first gap between them.
    fn keep_log_short(&mut self) {
        self.groups += 1;
        if self.groups < GROUPS_BETWEEN_LOOKS {
            return;
        }
        self.groups = 0;
        if fs::metadata(self.place.log()).is_ok_and(|log| log.len() > LONG_LOG) {
            let no_waiting: Option<fn(i32) -> bool> = None;
            let _next_time = self
                .connection
                .busy_handler(no_waiting)
                .and_then(|()| self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
            let _kept = super::busy::wait_with_jitter(&mut self.connection);
        }
    }

    fn run(&self, sql: &'static str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute([]))
            .map(drop)
            .map_err(store_error)
    }
}
