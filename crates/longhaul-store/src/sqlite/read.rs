//! Queries on their own connections, so that no reader waits for the writer or holds it up.
//!
//! Used by the handle. Every read ends its statement before it answers: an open one would keep the log from being reused.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::{Driver, State};
use rusqlite::{Connection, Row, params};
use tokio::sync::Semaphore;

use super::load::damage;
use super::open::open_reader;
use super::place::Place;
use super::row::{EVENT_COLUMNS, damaged_event, parse_optional, read_event, unless_damaged};
use super::statement::{each, value};
use crate::{Candidate, Carrier, History, MovedTask, News, StoreError, StoredEvent, Tenant};

/// What `read_candidate` reads.
static CANDIDATE_COLUMNS: LazyLock<String> =
    LazyLock::new(|| format!("id, epoch, owner, parent, live_session IS NOT NULL, {}, version", *ONLY_ITS_RUNNER));

/// Whether only its runner may carry a task out. Any worker may end a session that was asked to stop.
static ONLY_ITS_RUNNER: LazyLock<String> =
    LazyLock::new(|| format!("(driver = '{}' AND state <> '{}')", Driver::Runner.word(), State::STOPPING));

/// So many reads run at once.
const READERS: usize = 4;

/// A few connections that read.
#[derive(Debug)]
pub(super) struct Readers {
    place: Place,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Readers {
    /// None is opened before it is needed.
    pub(super) fn new(place: Place) -> Readers {
        Readers { place, idle: Mutex::new(Vec::new()), permits: Semaphore::new(READERS) }
    }

    /// Runs a query off the caller's thread.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let failed =
            |error: &dyn std::fmt::Display| StoreError::Failed { what: format!("the read was interrupted: {error}") };
        let _permit = self.permits.acquire().await.map_err(|error| failed(&error))?;
        let readers = Arc::clone(self);
        tokio::task::spawn_blocking(move || readers.run(query)).await.map_err(|error| failed(&error))?
    }

    /// Runs a query on the caller's thread.
    pub(super) fn run<T>(&self, query: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open_reader(&self.place)?,
        };
        let answer = query(&connection)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(answer)
    }
}

/// The number of the task ?1, if it is the tenant ?2's.
const NUMBER: &str = "(SELECT number FROM tasks WHERE id = ?1 AND (?2 IS NULL OR tenant = ?2))";

/// Events of a task after a sequence number, in order.
pub(super) fn events(
    connection: &Connection,
    tenant: Option<&Tenant>,
    task: TaskId,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!("SELECT {EVENT_COLUMNS} FROM events WHERE task = {NUMBER} AND seq > ?3 ORDER BY seq LIMIT ?4")
    });
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let values = params![task.to_string(), tenant.map(Tenant::name), after, limit];
    let History { events, damaged } = read_events(connection, &SQL, task, values)?;
    damaged.into_iter().next().map_or(Ok(events), |first| Err(damage(first)))
}

/// The newest events of a task whose kinds are in a JSON list, or of any kind if that is empty, in order.
pub(super) fn newest_events(
    connection: &Connection,
    tenant: Option<&Tenant>,
    task: TaskId,
    kinds: &str,
    limit: u32,
) -> Result<History, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {EVENT_COLUMNS} FROM events WHERE task = {NUMBER} \
             AND (?3 = '[]' OR kind IN (SELECT value FROM json_each(?3))) ORDER BY seq DESC LIMIT ?4"
        )
    });
    let values = params![task.to_string(), tenant.map(Tenant::name), kinds, limit];
    let mut history = read_events(connection, &SQL, task, values)?;
    history.events.reverse();
    Ok(history)
}

fn read_events(
    connection: &Connection,
    sql: &str,
    task: TaskId,
    values: impl rusqlite::Params,
) -> Result<History, StoreError> {
    let mut history = History::default();
    each(connection, sql, values, |row| {
        match read_event(row) {
            Ok(event) => history.events.push(event),
            Err(what) => history.damaged.push(damaged_event(task, row, what)),
        }
        Ok(())
    })?;
    Ok(history)
}

/// Unfinished tasks that want an owner, the most urgent first, then the oldest. A damaged row is left out here: `list` and `check` name it.
pub(super) fn candidates(connection: &Connection) -> Result<Vec<Candidate>, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let columns = &*CANDIDATE_COLUMNS;
        format!("SELECT {columns} FROM tasks WHERE wants_owner = 1 ORDER BY priority DESC, created, id")
    });
    sound_rows(connection, &SQL, [], read_candidate)
}

fn read_candidate(row: &Row<'_>) -> rusqlite::Result<Option<Candidate>> {
    let (id, owner, parent): (String, Option<String>, Option<String>) = (row.get(0)?, row.get(2)?, row.get(3)?);
    let parsed = (id.parse().ok(), parse_optional(owner), parse_optional(parent));
    let (Some(task), Some(owner), Some(parent)) = parsed else { return Ok(None) };
    let carrier = if row.get(5)? { Carrier::Runner } else { Carrier::Worker };
    Ok(Some(Candidate { task, version: row.get(6)?, epoch: row.get(1)?, owner, parent, live: row.get(4)?, carrier }))
}

/// The newest position ever given to an event, also if that event is gone.
pub(super) const LAST_POSITION: &str = "SELECT max(coalesce((SELECT max(position) FROM events), 0), \
     coalesce((SELECT max(position) FROM removed_history), 0))";

/// The same, read.
pub(super) fn last_position(connection: &Connection) -> Result<i64, StoreError> {
    value(connection, LAST_POSITION, [])
}

/// Tasks with events after a position.
pub(super) fn news(connection: &Connection, after: u64) -> Result<News, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let columns = &*CANDIDATE_COLUMNS;
        format!(
            "SELECT {columns}, state, wants_owner FROM tasks \
             WHERE number IN (SELECT task FROM events WHERE position > ?1 AND position <= ?2)"
        )
    });
    // Read first: what is committed in between is beyond it, and news the next time.
    let position = last_position(connection)?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let tasks = sound_rows(connection, &SQL, [after, position], |row| {
        let (state, wants_owner): (String, bool) = (row.get(7)?, row.get(8)?);
        let moved = |candidate: Candidate| MovedTask {
            task: candidate.task,
            version: candidate.version,
            state,
            candidate: wants_owner.then_some(candidate),
        };
        Ok(read_candidate(row)?.map(moved))
    })?;
    Ok(News { position: position.unsigned_abs(), tasks })
}

/// The other owners of tasks that any worker may carry out. Two ranges of the index, so that a worker's own tasks are not read.
pub(super) fn other_owners(connection: &Connection, worker: WorkerId) -> Result<Vec<WorkerId>, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let only_its_runner = &*ONLY_ITS_RUNNER;
        format!(
            "SELECT owner FROM tasks WHERE owner < ?1 AND NOT {only_its_runner} \
             UNION SELECT owner FROM tasks WHERE owner > ?1 AND NOT {only_its_runner}"
        )
    });
    sound_rows(connection, &SQL, [worker.to_string()], |row| Ok(row.get::<_, String>(0)?.parse().ok()))
}

/// The rows that can be read.
pub(super) fn sound_rows<T>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Option<T>>,
) -> Result<Vec<T>, StoreError> {
    let mut sound = Vec::new();
    each(connection, sql, values, |row| {
        sound.extend(unless_damaged(read(row))?.flatten());
        Ok(())
    })?;
    Ok(sound)
}
