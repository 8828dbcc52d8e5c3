//! The one thread that writes: takes what has queued up, commits it as a group, and only then answers.
//!
//! Nearly every refusal comes before its change has written anything, so a group needs no savepoints. If one comes later, the group is
//! rolled back and each change gets its own transaction. A failed COMMIT acknowledges none.
//! Started by the handle, ended by dropping it.

use std::fs;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::cache::Cache;
use super::disk_failure_note;
use super::doorbell::Bell;
use super::open::Probe;
use super::place::Place;
use super::request::{Refusal, Request, Step, request};
use super::statement::execute;
use crate::StoreError;

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
    queue: Option<Sender<Box<dyn Request>>>,
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

    /// Asks for a piece of work, and waits until the answer is durable.
    pub(super) async fn ask<T: Send + 'static, E: Refusal>(
        &self,
        is_written: fn(&T) -> bool,
        work: impl FnMut(&Connection, &mut Cache) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (request, answered) = request(is_written, work);
        self.queue.as_ref().and_then(|queue| queue.send(request).ok()).ok_or_else(gone)?;
        answered.await.map_err(|_| gone())?
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

/// How a transaction ended.
enum Ended {
    Committed,
    /// Nothing was to be written; it has to be rolled back.
    Unchanged,
    /// A change was refused after it had written something; it has to be rolled back.
    Spoiled,
}

impl Group {
    fn serve(mut self, requests: &Receiver<Box<dyn Request>>) {
        while let Some(first) = Group::next(requests) {
            let group = self.gather(first, requests);
            self.commit_group(group);
            self.cache.tidy();
            self.keep_log_short();
        }
    }

    /// The next request, or none when all callers are gone. Right after a group it looks for a moment before it sleeps: a caller
    /// that commits one change after the other comes back sooner than a thread wakes up.
    fn next(requests: &Receiver<Box<dyn Request>>) -> Option<Box<dyn Request>> {
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
    fn gather(&mut self, first: Box<dyn Request>, requests: &Receiver<Box<dyn Request>>) -> Vec<Box<dyn Request>> {
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

    /// Commits a group and answers its callers.
    fn commit_group(&mut self, mut group: Vec<Box<dyn Request>>) {
        let ended = self.failure.clone().map_or_else(|| self.transact(&mut group), Err);
        if !self.connection.is_autocommit() {
            // The first error is the one to report; a transaction that cannot be rolled back ends with the connection.
            let _second = self.run("ROLLBACK");
        }
        if !matches!(ended, Ok(Ended::Committed)) {
            self.cache.distrust();
        }
        match ended {
            Ok(Ended::Spoiled) if group.len() > 1 => group.into_iter().for_each(|alone| self.commit_group(vec![alone])),
            Ok(_) => group.into_iter().for_each(|request| request.answer(None)),
            Err(error) => {
                let failure = self.record_failure(error);
                group.into_iter().for_each(|request| request.answer(Some(failure.clone())));
            }
        }
    }

    /// After a failed sync nothing is written here any more, and nothing is synced again as if it could be made good.
    fn record_failure(&mut self, error: StoreError) -> StoreError {
        match error {
            StoreError::StorageFailed { .. } if self.failure.is_none() => {
                let _without = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
                disk_failure_note::raise(&self.place);
                self.failure = Some(error.clone());
                error
            }
            StoreError::Failed { what } if self.place.is_read_only() => StoreError::Full { what },
            other => other,
        }
    }

    /// Runs a group in one transaction and commits what it wrote.
    fn transact(&mut self, group: &mut [Box<dyn Request>]) -> Result<Ended, StoreError> {
        self.run("BEGIN IMMEDIATE")?;
        self.cache.begin(&self.connection)?;
        let mut written = false;
        for request in group {
            let changes = self.connection.total_changes();
            match request.run(&self.connection, &mut self.cache) {
                Step::Written => written = true,
                // Some failures (full disk, I/O) end the whole transaction: then there is nothing left to commit.
                Step::Refused(failure) if self.connection.is_autocommit() => return Err(failure),
                Step::Refused(_) if self.connection.total_changes() > changes => return Ok(Ended::Spoiled),
                Step::Refused(_) | Step::Unchanged => {}
            }
        }
        if !written {
            return Ok(Ended::Unchanged);
        }
        (self.probe)("store.before_commit");
        self.run("COMMIT")?;
        (self.probe)("store.committed");
        // Before the answers: a caller may end its process as soon as it has one.
        self.bell.ring();
        Ok(Ended::Committed)
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
        execute(&self.connection, sql, []).map(drop)
    }
}
