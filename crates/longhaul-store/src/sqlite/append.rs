//! Events appended to one task inside the transaction: applied, chained, and written with the task's new row.
//!
//! Used by commits and claims alike, so that there is one way a task moves. It checks no guard; whoever calls it has.

use std::sync::{Arc, LazyLock};

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::{Actor, Event, FollowUp, IllegalEvent, Task};
use longhaul_core::time::Time;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::cache::Cache;
use super::failure::{damaged, store_error};
use super::load::last_snapshot;
use super::row::{NAME, TASK_COLUMNS, TaskRow, values_of};
use super::statement::{execute, first};
use crate::{ChainEntry, ChainHead, CommitError, Lease, NewLease, Owner, StoreError, Stored, link};

/// A snapshot is written when so many events follow the last one, so that a load replays few.
const TAIL_EVENTS: u64 = 64;

/// Or so many bytes of events.
const TAIL_BYTES: u64 = 128 * 1024;

/// A task on its way from the stored row to the next one.
pub(super) struct Append {
    id: TaskId,
    before: Option<Arc<TaskRow>>,
    task: Option<Task>,
    epoch: u64,
    owner: Option<Owner>,
    claimed_on: Option<String>,
    head: ChainHead,
    events: Vec<NewEvent>,
}

/// Whose a new task is.
pub(super) struct Submitter<'a> {
    /// The name of its tenant.
    pub(super) tenant: &'a str,
    /// Who submitted it.
    pub(super) principal: &'a str,
}

/// An event's texts as they will be stored.
pub(super) struct EventText {
    /// Who, as JSON.
    pub(super) actor: Arc<str>,
    /// What, as JSON.
    pub(super) payload: Arc<str>,
}

struct NewEvent {
    seq: u64,
    at: Time,
    epoch: u64,
    kind: &'static str,
    text: EventText,
    hash: ChainHead,
}

impl Append {
    /// Starts from a stored row, or from nothing for a new task.
    pub(super) fn to(id: TaskId, before: Option<Arc<TaskRow>>) -> Append {
        let (epoch, owner, head) = match &before {
            Some(row) => (row.stored.epoch, row.stored.owner.clone(), row.head),
            None => (0, None, ChainHead::empty(id)),
        };
        Append { id, before, task: None, epoch, owner, claimed_on: None, head, events: Vec::new() }
    }

    /// Applies one event; an event without an edge is refused.
    pub(super) fn event(&mut self, event: &Event, text: EventText, at: Time) -> Result<(), IllegalEvent> {
        let task = match (&self.task, &self.before) {
            (Some(task), _) => task.apply(event, at)?,
            (None, Some(row)) => row.stored.task.apply(event, at)?,
            (None, None) => Task::begin(self.id, event, at)?,
        };
        let (seq, epoch, kind) = (task.version, self.epoch, event.kind());
        let entry = ChainEntry { seq, at, epoch, actor: &text.actor, kind, payload: &text.payload };
        self.head = link(&self.head, self.id, &entry);
        self.task = Some(task);
        self.events.push(NewEvent { seq, at, epoch, kind, text, hash: self.head });
        Ok(())
    }

    /// Takes the lease: the next epoch, and a `Claimed` event under it.
    pub(super) fn claim(&mut self, lease: &NewLease, from: Option<WorkerId>, at: Time) -> Result<(), CommitError> {
        let event = Event::Claimed { worker: lease.worker, host: lease.host.clone(), from };
        let text = EventText { actor: as_json(&Actor::worker())?.into(), payload: as_json(&event)?.into() };
        self.epoch += 1;
        self.event(&event, text, at)?;
        self.owner = Some(Owner {
            worker: lease.worker,
            host: lease.host.clone(),
            lease: Lease { epoch: self.epoch, id: lease.id },
            since: at,
        });
        self.claimed_on = Some(lease.host.clone());
        Ok(())
    }

    /// Writes the task's row and its new events, and gives the lease up if the task wants no owner any more.
    pub(super) fn write(
        mut self,
        connection: &Connection,
        cache: &mut Cache,
        by: &Submitter<'_>,
    ) -> Result<Arc<TaskRow>, CommitError> {
        let Some(task) = self.task.take() else {
            return Err(IllegalEvent { state: "nothing", event: "nothing" }.into());
        };
        let owner = self.owner.take().filter(|_| task.state.wants_owner());
        let mut row = self.next_row(Stored { task, epoch: self.epoch, owner });
        match &self.before {
            None => row.number = self.insert(connection, &mut row, by)?,
            Some(before) => self.update(connection, before, &row.values)?,
        }
        self.insert_events(connection, cache, row.number)?;
        let tail = row.stored.task.version - row.snapshot;
        if tail >= TAIL_EVENTS || row.tail_bytes >= TAIL_BYTES || row.stored.task.state.is_final() {
            write_snapshot(connection, &mut row)?;
        }
        Ok(Arc::new(row))
    }

    fn next_row(&self, stored: Stored) -> TaskRow {
        let new_bytes: usize = self.events.iter().map(|event| event.text.actor.len() + event.text.payload.len()).sum();
        let new_bytes = new_bytes as u64;
        let before = self.before.as_ref();
        let history_bytes = before.map_or(0, |row| row.history_bytes) + new_bytes;
        let number = before.map(|row| row.number);
        TaskRow {
            number: number.unwrap_or(0),
            values: values_of(number, &stored, &self.head, history_bytes),
            stored: Arc::new(stored),
            head: self.head,
            history_bytes,
            snapshot: before.map_or(0, |row| row.snapshot),
            tail_bytes: before.map_or(0, |row| row.tail_bytes) + new_bytes,
        }
    }

    fn insert(&self, connection: &Connection, row: &mut TaskRow, by: &Submitter<'_>) -> Result<i64, CommitError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            let places = (1..=40).map(|place| format!("?{place}")).collect::<Vec<_>>().join(", ");
            format!(
                "INSERT INTO tasks ({TASK_COLUMNS}, host, principal, tenant, directory, lineage) VALUES ({places}, ?41, ?42, \
                 ?43, ?44, coalesce((SELECT lineage || '/' FROM tasks WHERE id = ?12 AND tenant = ?43), '') || ?9)"
            )
        });
        if let Some(follow_up) = &row.stored.task.submission.follow_up {
            refuse_second(connection, follow_up)?;
        }
        let directory = row.stored.task.submission.directory().map(str::to_owned);
        let (principal, tenant) = (Some(by.principal.to_owned()), Some(by.tenant.to_owned()));
        let beside = [self.claimed_on.clone(), principal, tenant, directory].map(Value::from);
        let values = &mut row.values;
        let inserted = connection
            .prepare_cached(&SQL)
            .map_err(store_error)?
            .execute(params_from_iter(values.iter().chain(beside.iter())));
        match inserted {
            Ok(_) => {
                let number = connection.last_insert_rowid();
                values[0] = Value::Integer(number);
                Ok(number)
            }
            Err(error) if is_name_clash(&error) => Err(CommitError::NameTaken { name: name_in(values) }),
            Err(error) => Err(store_error(error).into()),
        }
    }

    /// Writes only what changed: SQLite rewrites every index that a statement names a column of, even if its value is the same.
    fn update(&self, connection: &Connection, before: &TaskRow, values: &[Value]) -> Result<(), CommitError> {
        static COLUMNS: LazyLock<Vec<&str>> = LazyLock::new(|| TASK_COLUMNS.split(", ").collect());
        let mut sql = String::with_capacity(256);
        sql.push_str("UPDATE tasks SET ");
        let mut changed: Vec<&Value> = Vec::with_capacity(values.len());
        let columns = COLUMNS.iter().zip(values.iter().zip(&before.values));
        let host = self.claimed_on.clone().map(Value::Text);
        let moved = columns.filter(|(_, (now, then))| now != then).map(|(column, (now, _))| (*column, now));
        for (column, value) in moved.chain(host.iter().map(|host| ("host", host))) {
            let comma = if changed.is_empty() { "" } else { ", " };
            sql.extend([comma, column, " = ?"]);
            changed.push(value);
        }
        sql.push_str(" WHERE number = ?");
        changed.push(&values[0]);
        let rows =
            connection.prepare_cached(&sql).and_then(|mut statement| statement.execute(params_from_iter(changed)));
        match rows {
            Ok(1) => Ok(()),
            Ok(rows) => Err(damaged(format!("tasks/{}: expected one row, changed {rows}", self.id)).into()),
            // A person renames an unfinished task.
            Err(error) if is_name_clash(&error) => Err(CommitError::NameTaken { name: name_in(values) }),
            Err(error) => Err(store_error(error).into()),
        }
    }

    fn insert_events(&self, connection: &Connection, cache: &mut Cache, task: i64) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO events (position, task, seq, at, epoch, actor, kind, payload, hash) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        for event in &self.events {
            let EventText { actor, payload } = &event.text;
            let hash = event.hash.to_string();
            let position = cache.next_position(connection)?;
            let values = params![position, task, event.seq, event.at.0, event.epoch, actor, event.kind, payload, hash];
            execute(connection, SQL, values)?;
        }
        Ok(())
    }
}

/// One thing at a time is done with the work of a finished task.
fn refuse_second(connection: &Connection, follow_up: &FollowUp) -> Result<(), CommitError> {
    const FIRST: &str = "SELECT name FROM tasks WHERE follows = ?1 AND final = 0";
    match first(connection, FIRST, [follow_up.task.to_string()], |row| row.get(0))? {
        Some(by) => Err(CommitError::FollowedUp { name: follow_up.name.to_string(), by }),
        None => Ok(()),
    }
}

/// Puts a snapshot in the last one's place, if that one is sound.
fn write_snapshot(connection: &Connection, row: &mut TaskRow) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO snapshots (task, version, epoch, head, body) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (task) DO UPDATE SET version = ?2, epoch = ?3, head = ?4, body = ?5";
    let Stored { task, epoch, .. } = &*row.stored;
    let body = as_json(task)?;
    let last = last_snapshot(connection, row.number, task.id)?;
    let last = last.map_err(|what| damaged(format!("tasks/{}: {what}", task.id)))?.map_or(0, |last| last.seq);
    if last != row.snapshot {
        return Err(damaged(format!("tasks/{}: the snapshot has another version", task.id)));
    }
    execute(connection, SQL, params![row.number, task.version, epoch, row.head.to_string(), body])?;
    row.snapshot = task.version;
    row.tail_bytes = 0;
    Ok(())
}

/// A value of ours as the JSON text that is stored.
pub(super) fn as_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::Failed { what: format!("cannot encode a value as JSON: {error}") })
}

fn name_in(values: &[Value]) -> String {
    match &values[NAME] {
        Value::Text(name) => name.clone(),
        _ => String::new(),
    }
}

/// Beside ids, which were looked up before, only the names of unfinished tasks are unique.
fn is_name_clash(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|failure| failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}
