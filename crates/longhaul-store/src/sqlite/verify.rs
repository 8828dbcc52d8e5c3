//! Looks at stored history with suspicion: the hash chain, the gap-free order, the epochs, and the state rebuilt from events.
//!
//! Called for `verify` and `check`. It reads in transactions of its own and changes nothing.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, Task};
use rusqlite::{Connection, Row, params};

use super::failure::store_error;
use super::row::{EVENT_COLUMNS, find_task, read_event, text_of};
use crate::{ChainEntry, ChainHead, ChainReport, Damaged, StoreError, Stored, StoredEvent, link};

/// Recomputes one task's chain and rebuilds its state.
pub(super) fn verify(connection: &Connection, task: TaskId) -> Result<ChainReport, StoreError> {
    // Row and events must be of one moment.
    let moment = connection.unchecked_transaction().map_err(store_error)?;
    let row = match find_task(&moment, task) {
        Ok(Some(row)) => row,
        Ok(None) => return Ok(ChainReport { events: 0, broken: Some("no such task".into()) }),
        Err(StoreError::Damaged { what }) => return Ok(ChainReport { events: 0, broken: Some(what) }),
        Err(other) => return Err(other),
    };
    let mut replay = Replay::of(task);
    let broken = replay.all(&moment)?.or_else(|| replay.compare(&row.stored, &row.head));
    Ok(ChainReport { events: replay.events, broken })
}

/// Reads everything and names what is damaged.
pub(super) fn check(connection: &Connection) -> Result<Vec<Damaged>, StoreError> {
    let mut found = Vec::new();
    complaints(connection, "PRAGMA quick_check", &mut found, |row| {
        let what = text_of(row, 0);
        (what != "ok").then(|| Damaged { row: "database".into(), what })
    })?;
    complaints(connection, "PRAGMA foreign_key_check", &mut found, |row| {
        Some(Damaged { row: text_of(row, 0), what: format!("a row speaks of no row of `{}`", text_of(row, 2)) })
    })?;
    for id in task_ids(connection)? {
        let broken = match id.parse() {
            Ok(task) => verify(connection, task)?.broken,
            Err(_) => Some("its id is not an id".into()),
        };
        found.extend(broken.map(|what| Damaged { row: format!("tasks/{id}"), what }));
    }
    Ok(found)
}

fn complaints(
    connection: &Connection,
    sql: &str,
    found: &mut Vec<Damaged>,
    read: impl Fn(&Row<'_>) -> Option<Damaged>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare(sql).map_err(store_error)?;
    let mut rows = statement.query([]).map_err(store_error)?;
    while let Some(row) = rows.next().map_err(store_error)? {
        found.extend(read(row));
    }
    Ok(())
}

fn task_ids(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("SELECT id FROM tasks ORDER BY created, id").map_err(store_error)?;
    let mut rows = statement.query([]).map_err(store_error)?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        ids.push(text_of(row, 0));
    }
    Ok(ids)
}

struct Replay {
    id: TaskId,
    events: u64,
    epoch: u64,
    head: ChainHead,
    task: Option<Task>,
}

impl Replay {
    fn of(id: TaskId) -> Replay {
        Replay { id, events: 0, epoch: 0, head: ChainHead::empty(id), task: None }
    }

    /// The first thing that does not fit, if any.
    fn all(&mut self, connection: &Connection) -> Result<Option<String>, StoreError> {
        let sql = format!("SELECT {EVENT_COLUMNS} FROM events WHERE task = ?1 ORDER BY seq");
        let mut statement = connection.prepare_cached(&sql).map_err(store_error)?;
        let mut rows = statement.query(params![self.id.to_string()]).map_err(store_error)?;
        while let Some(row) = rows.next().map_err(store_error)? {
            self.events += 1;
            if let Err(what) = self.one(row) {
                return Ok(Some(format!("event {}: {what}", text_of(row, 1))));
            }
        }
        Ok(None)
    }

    fn one(&mut self, row: &Row<'_>) -> Result<(), String> {
        let StoredEvent { seq, at, epoch, event, hash, .. } = read_event(row).map_err(|damaged| damaged.what)?;
        if seq != self.events {
            return Err(format!("expected event {}", self.events));
        }
        let expected = self.epoch + u64::from(matches!(event, Event::Claimed { .. }));
        if epoch != expected {
            return Err(format!("epoch is {epoch}, expected {expected}"));
        }
        self.epoch = epoch;
        let text = |column| row.get::<_, String>(column).map_err(|error| error.to_string());
        let (actor, kind, payload) = (text(4)?, text(5)?, text(6)?);
        let entry = ChainEntry { seq, at, epoch, actor: &actor, kind: &kind, payload: &payload };
        self.head = link(&self.head, self.id, &entry);
        if hash != self.head.to_string() {
            return Err("hash does not fit what is stored".into());
        }
        let task = match &self.task {
            None => Task::begin(self.id, &event, at),
            Some(task) => task.apply(&event, at),
        };
        self.task = Some(task.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn compare(&self, stored: &Stored, head: &ChainHead) -> Option<String> {
        let what = if *head != self.head {
            "the chain's head is not the last event's hash"
        } else if stored.epoch != self.epoch {
            "the epoch is not the last event's"
        } else if self.task.as_ref() != Some(&stored.task) {
            "the stored state is not what its events make"
        } else {
            return None;
        };
        Some(what.into())
    }
}
