//! Rows as values: a task with its ownership, and an event. A row that does not fit itself is named, never guessed at.
//!
//! Read by every query of this store. The columns beside a snapshot must say what the snapshot says.

use std::str::FromStr;
use std::sync::LazyLock;

use longhaul_core::ids::{LeaseId, TaskId, WorkerId};
use longhaul_core::task::Task;
use longhaul_core::time::Time;
use rusqlite::{Connection, OptionalExtension, Row};

use super::failure::{damaged, is_row_damage, store_error};
use crate::{ChainHead, Damaged, Lease, Owner, StoreError, Stored, StoredEvent};

/// What [`read_task`] needs of a row, in order.
pub(super) const TASK_COLUMNS: &str = "id, project, name, parent, driver, state, final, wants_owner, waits_for_person, \
     live_session, version, created, updated, epoch, owner, owner_host, lease_id, owner_since, head, snapshot";

/// What [`read_event`] needs of a row, in order.
pub(super) const EVENT_COLUMNS: &str = "task, seq, at, epoch, actor, kind, payload, hash";

/// A row of `tasks`.
pub(super) struct TaskRow {
    /// The task and who owns it.
    pub(super) stored: Stored,
    /// The hash of its history.
    pub(super) head: ChainHead,
}

/// The columns of `tasks` that are written from the task itself.
#[derive(PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) name: String,
    pub(super) parent: Option<String>,
    pub(super) driver: String,
    pub(super) state: String,
    pub(super) is_final: bool,
    pub(super) wants_owner: bool,
    pub(super) waits_for_person: bool,
    pub(super) live_session: Option<String>,
    pub(super) version: u64,
    pub(super) created: i64,
    pub(super) updated: i64,
}

impl Columns {
    /// What the columns must say of a task.
    pub(super) fn of(task: &Task) -> Columns {
        Columns {
            id: task.id.to_string(),
            project: task.submission.project.clone(),
            name: task.submission.name.as_str().to_owned(),
            parent: task.submission.parent.map(|parent| parent.to_string()),
            driver: task.submission.driver.name().to_owned(),
            state: task.state.name().to_owned(),
            is_final: task.state.is_final(),
            wants_owner: task.state.wants_owner(),
            waits_for_person: task.state.waits_for_person(),
            live_session: task.state.session().map(|session| session.id.to_string()),
            version: task.version,
            created: task.created.0,
            updated: task.updated.0,
        }
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Columns> {
        Ok(Columns {
            id: row.get(0)?,
            project: row.get(1)?,
            name: row.get(2)?,
            parent: row.get(3)?,
            driver: row.get(4)?,
            state: row.get(5)?,
            is_final: row.get(6)?,
            wants_owner: row.get(7)?,
            waits_for_person: row.get(8)?,
            live_session: row.get(9)?,
            version: row.get(10)?,
            created: row.get(11)?,
            updated: row.get(12)?,
        })
    }
}

/// One task by its id, or none.
pub(super) fn find_task(connection: &Connection, task: TaskId) -> Result<Option<TaskRow>, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| format!("SELECT {TASK_COLUMNS} FROM tasks WHERE id = ?1"));
    let mut statement = connection.prepare_cached(&SQL).map_err(store_error)?;
    let mut rows = statement.query([task.to_string()]).map_err(store_error)?;
    match rows.next().map_err(store_error)? {
        None => Ok(None),
        Some(row) => read_task(row).map(Some).map_err(|found| damaged(format!("{}: {}", found.row, found.what))),
    }
}

/// A row of [`TASK_COLUMNS`] as a value.
pub(super) fn read_task(row: &Row<'_>) -> Result<TaskRow, Damaged> {
    read_fitting_task(row).map_err(|what| Damaged { row: format!("tasks/{}", text_of(row, 0)), what })
}

fn read_fitting_task(row: &Row<'_>) -> Result<TaskRow, String> {
    let columns = Columns::read(row).map_err(|error| error.to_string())?;
    let snapshot = row.get_ref(19).and_then(|value| Ok(value.as_str()?)).map_err(|error| error.to_string())?;
    let task: Task = serde_json::from_str(snapshot).map_err(|error| format!("snapshot does not parse: {error}"))?;
    if Columns::of(&task) != columns {
        return Err("snapshot and columns disagree".into());
    }
    let head: String = row.get(18).map_err(|error| error.to_string())?;
    let head = ChainHead::parse(&head).ok_or("head is not a hash")?;
    let epoch = row.get(13).map_err(|error| error.to_string())?;
    let owner = read_owner(row, epoch)?;
    Ok(TaskRow { stored: Stored { task, epoch, owner }, head })
}

fn read_owner(row: &Row<'_>, epoch: u64) -> Result<Option<Owner>, String> {
    let fields = (|| Ok((row.get(14)?, row.get(15)?, row.get(16)?, row.get(17)?)))();
    let fields: (Option<String>, Option<String>, Option<String>, Option<i64>) =
        fields.map_err(|error: rusqlite::Error| error.to_string())?;
    match fields {
        (None, None, None, None) => Ok(None),
        (Some(worker), Some(host), Some(lease), Some(since)) => Ok(Some(Owner {
            worker: parse_id::<WorkerId>("owner", &worker)?,
            host,
            lease: Lease { epoch, id: parse_id::<LeaseId>("lease_id", &lease)? },
            since: Time(since),
        })),
        _ => Err("owner columns disagree".into()),
    }
}

/// A row of [`EVENT_COLUMNS`] as a value.
pub(super) fn read_event(row: &Row<'_>) -> Result<StoredEvent, Damaged> {
    read_fitting_event(row)
        .map_err(|what| Damaged { row: format!("events/{}/{}", text_of(row, 0), text_of(row, 1)), what })
}

fn read_fitting_event(row: &Row<'_>) -> Result<StoredEvent, String> {
    let text = |column| row.get::<_, String>(column).map_err(|error| error.to_string());
    let number = |column| row.get::<_, u64>(column).map_err(|error| error.to_string());
    let event: longhaul_core::task::Event =
        serde_json::from_str(&text(6)?).map_err(|error| format!("payload does not parse: {error}"))?;
    if event.kind() != text(5)? {
        return Err("payload and kind disagree".into());
    }
    Ok(StoredEvent {
        seq: number(1)?,
        at: Time(row.get(2).map_err(|error| error.to_string())?),
        epoch: number(3)?,
        actor: serde_json::from_str(&text(4)?).map_err(|error| format!("actor does not parse: {error}"))?,
        event,
        hash: text(7)?,
    })
}

/// The payload of a task's first event, as stored.
pub(super) fn first_payload(connection: &Connection, task: TaskId) -> Result<Option<String>, StoreError> {
    connection
        .prepare_cached("SELECT payload FROM events WHERE task = ?1 AND seq = 1")
        .and_then(|mut statement| statement.query_row([task.to_string()], |row| row.get(0)).optional())
        .map_err(store_error)
}

/// An id of a column.
pub(super) fn parse_id<Id: FromStr<Err: ToString>>(column: &str, text: &str) -> Result<Id, String> {
    text.parse().map_err(|error: Id::Err| format!("{column}: {}", error.to_string()))
}

/// A column for naming a row, whatever is in it.
pub(super) fn text_of(row: &Row<'_>, column: usize) -> String {
    match row.get_ref(column) {
        Ok(rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes)) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        Ok(rusqlite::types::ValueRef::Integer(number)) => number.to_string(),
        Ok(rusqlite::types::ValueRef::Null | rusqlite::types::ValueRef::Real(_)) | Err(_) => "?".into(),
    }
}

/// Runs over rows that each may be damaged: damage goes to `None`, failures of the database end it.
pub(super) fn unless_damaged<T>(value: rusqlite::Result<T>) -> Result<Option<T>, StoreError> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_row_damage(&error) => Ok(None),
        Err(error) => Err(store_error(error)),
    }
}
