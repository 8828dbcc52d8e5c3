//! The one thread that writes: takes what has queued up, commits it as a group, and only then answers.
//!
//! Each change has a savepoint of its own, so a refused one does not fail its neighbours; a failed COMMIT acknowledges none.
//! Started by the handle, ended by dropping it.

use std::fs;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use longhaul_core::ids::TaskId;
use longhaul_core::time::Time;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::claim::claim;
use super::commit::{Prepared, commit};
use super::doorbell::Bell;
use super::failure::store_error;
use super::open::Probe;
use super::place::Place;
use crate::{CommitError, Committed, NewLease, StoreError};

/// As many changes as one transaction takes.
const GROUP: usize = 256;

/// Groups between two looks at the size of the log.
const GROUPS_BETWEEN_LOOKS: u32 = 64;

/// A log longer than this is written back as soon as no reader is in the way.
const LONG_LOG: u64 = 16 * 1024 * 1024;

/// What the writer is asked for.
pub(super) enum Work {
    /// One change.
    Commit(Box<Prepared>),
    /// A lease to be taken.
    Claim { task: TaskId, epoch_seen: u64, lease: NewLease, at: Time },
}

type Outcome = Result<Committed, CommitError>;

struct Request {
    work: Work,
    answer: oneshot::Sender<Outcome>,
}

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
        let group = Group { connection, place, bell, probe, groups: 0 };
        let thread = thread::Builder::new()
            .name("longhaul-store".into())
            .spawn(move || group.serve(&requests))
            .map_err(|error| StoreError::Failed { what: format!("failed to start the writer thread: {error}") })?;
        Ok(Writer { queue: Some(queue), thread: Some(thread) })
    }

    /// Asks, and waits until the answer is durable.
    pub(super) async fn ask(&self, work: Work) -> Outcome {
        let gone = || StoreError::Failed { what: "the writer thread is gone".into() };
        let (answer, answered) = oneshot::channel();
        self.queue.as_ref().and_then(|queue| queue.send(Request { work, answer }).ok()).ok_or_else(gone)?;
        answered.await.map_err(|_| gone())?
    }
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
    place: Place,
    bell: Bell,
    probe: Probe,
    groups: u32,
}

impl Group {
    fn serve(mut self, requests: &Receiver<Request>) {
        while let Ok(first) = requests.recv() {
            let (works, answers): (Vec<Work>, Vec<oneshot::Sender<Outcome>>) = std::iter::once(first)
                .chain(requests.try_iter())
                .take(GROUP)
                .map(|request| (request.work, request.answer))
                .unzip();
            let outcomes = self.commit_group(works);
            for (index, answer) in answers.into_iter().enumerate() {
                // A caller that left does not want its answer; what was committed stays committed.
                let _unheard = answer.send(outcome_of(&outcomes, index));
            }
            self.keep_log_short();
        }
    }

    /// The outcome of each change, or why none of them was committed.
    fn commit_group(&mut self, works: Vec<Work>) -> Result<Vec<Outcome>, StoreError> {
        self.run("BEGIN IMMEDIATE")?;
        let written = self.write_group(works).and_then(|outcomes| self.finish_group(outcomes));
        if written.is_err() && !self.connection.is_autocommit() {
            // The first error is the one to report; a transaction that cannot be rolled back ends with the connection.
            let _second = self.run("ROLLBACK");
        }
        written
    }

    fn write_group(&mut self, works: Vec<Work>) -> Result<Vec<Outcome>, StoreError> {
        works.into_iter().map(|work| self.write_one(work)).collect()
    }

    fn finish_group(&mut self, outcomes: Vec<Outcome>) -> Result<Vec<Outcome>, StoreError> {
        if !outcomes.iter().any(|outcome| outcome.as_ref().is_ok_and(|committed| !committed.repeated)) {
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

    fn write_one(&mut self, work: Work) -> Result<Outcome, StoreError> {
        self.run("SAVEPOINT change")?;
        let outcome = match work {
            Work::Commit(prepared) => commit(&self.connection, *prepared),
            Work::Claim { task, epoch_seen, lease, at } => claim(&self.connection, task, epoch_seen, &lease, at),
        };
        if let Err(error) = &outcome {
            // Some failures (full disk, I/O) end the whole transaction: then there is nothing left to go back to.
            if self.connection.is_autocommit() {
                return Err(cause_of(error));
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

fn outcome_of(outcomes: &Result<Vec<Outcome>, StoreError>, index: usize) -> Outcome {
    match outcomes {
        Ok(outcomes) => outcomes[index].clone(),
        Err(error) => Err(error.clone().into()),
    }
}

fn cause_of(error: &CommitError) -> StoreError {
    match error {
        CommitError::Store(cause) => cause.clone(),
        refusal => StoreError::Failed { what: format!("transaction ended early: {refusal}") },
    }
}
