//! A task from its rows: the last snapshot, the events after it, and the columns that must say the same.
//!
//! Called by readers and by the writer. Row, snapshot and events are of one moment, because the row's statement is still open
//! while the others are read, or because the caller is in a transaction.

use std::sync::{Arc, LazyLock};

use longhaul_core::ids::TaskId;
use longhaul_core::task::Task;
use rusqlite::{Connection, OptionalExtension, Row};

use super::failure::{damaged, is_row_damage, store_error};
use super::replay::Replay;
use super::row::{
    CAME_TO, FROM_THE_TASK, TASK_COLUMNS, TaskRow, WAIT, came_to, damaged_task, parse_id, read_json, read_owner, says,
    values_of, wait,
};
use super::statement::first;
use crate::{ChainHead, Damaged, Salvaged, StoreError, Stored, Tenant};

/// One task by its id, or none; also none if it is not this tenant's.
pub(super) fn find_task(
    connection: &Connection,
    tenant: Option<&Tenant>,
    task: TaskId,
) -> Result<Option<TaskRow>, StoreError> {
    find_unless(connection, tenant, task, |_| None)?.map(|found| found.map_err(damage)).transpose()
}

/// Whether this tenant may know of a task; of every task if no tenant is named.
pub(super) fn is_of_tenant(connection: &Connection, tenant: Option<&Tenant>, task: TaskId) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT 1 FROM tasks WHERE id = ?1 AND tenant = ?2";
    let Some(tenant) = tenant else { return Ok(true) };
    Ok(first(connection, SQL, [task.to_string().as_str(), tenant.name()], |_| Ok(()))?.is_some())
}

/// Whose a task is.
pub(super) fn tenant_of(connection: &Connection, task: TaskId) -> Result<Option<Tenant>, StoreError> {
    const SQL: &str = "SELECT tenant FROM tasks WHERE id = ?1";
    first(connection, SQL, [task.to_string()], |row| Ok(Tenant::new(row.get::<_, String>(0)?)))
}

/// A task by its id for showing, although some of its history is damaged.
pub(super) fn salvage(
    connection: &Connection,
    tenant: Option<&Tenant>,
    task: TaskId,
) -> Result<Option<Salvaged>, StoreError> {
    // Row, snapshot and events must be of one moment.
    let moment = connection.unchecked_transaction().map_err(store_error)?;
    let mut statement = moment.prepare_cached(&BY_ID).map_err(store_error)?;
    let mut rows = statement.query((task.to_string(), tenant.map(Tenant::name))).map_err(store_error)?;
    let Some(row) = rows.next().map_err(store_error)? else { return Ok(None) };
    let unreadable = |what| damage(damaged_task(row, what));
    let standing = Standing::read(row).map_err(unreadable)?;
    let owner = read_owner(row, standing.epoch).map_err(unreadable)?;
    let (snapshot, mut damaged) = match last_snapshot(&moment, standing.number, task)? {
        Ok(snapshot) => (snapshot, Vec::new()),
        Err(what) => (None, vec![damaged_task(row, what)]),
    };
    let mut replay = snapshot.unwrap_or_else(|| Replay::of(task));
    while let Some(what) = replay.follow(&moment, standing.number)? {
        damaged.push(damaged_task(row, what));
    }
    match replay.task {
        Some(task) if !damaged.is_empty() => {
            Ok(Some(Salvaged { stored: Stored { task, epoch: standing.epoch, owner }, damaged }))
        }
        _ => {
            let whole = find_task(&moment, tenant, task)?;
            Ok(whole.map(|row| Salvaged { stored: Arc::unwrap_or_clone(row.stored), damaged }))
        }
    }
}

static BY_ID: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {TASK_COLUMNS} FROM tasks WHERE id = ?1 AND (?2 IS NULL OR tenant = ?2)"));

/// One task by its id; its row alone is read when `known` takes it for what it knows already.
pub(super) fn find_unless<Found: From<TaskRow>>(
    connection: &Connection,
    tenant: Option<&Tenant>,
    task: TaskId,
    known: impl FnOnce(&Row<'_>) -> Option<Found>,
) -> Result<Option<Result<Found, Damaged>>, StoreError> {
    let mut statement = connection.prepare_cached(&BY_ID).map_err(store_error)?;
    let mut rows = statement.query((task.to_string(), tenant.map(Tenant::name))).map_err(store_error)?;
    match rows.next().map_err(store_error)? {
        None => Ok(None),
        Some(row) => match known(row) {
            Some(found) => Ok(Some(Ok(found))),
            None => Ok(Some(read_task(connection, row)?.map(Found::from))),
        },
    }
}

/// A row of [`TASK_COLUMNS`] as a value, or what is wrong with it.
pub(super) fn read_task(connection: &Connection, row: &Row<'_>) -> Result<Result<TaskRow, Damaged>, StoreError> {
    Ok(read_fitting(connection, row)?.map_err(|what| damaged_task(row, what)))
}

/// Damage of a task's row as an error.
#[expect(clippy::needless_pass_by_value, reason = "takes what `map_err` hands over")]
pub(super) fn damage(found: Damaged) -> StoreError {
    damaged(format!("{}: {}", found.row, found.what))
}

fn read_fitting(connection: &Connection, row: &Row<'_>) -> Result<Result<TaskRow, String>, StoreError> {
    let standing = match Standing::read(row) {
        Ok(standing) => standing,
        Err(what) => return Ok(Err(what)),
    };
    let mut replay = match last_snapshot(connection, standing.number, standing.id)? {
        Ok(replay) => replay.unwrap_or_else(|| Replay::of(standing.id)),
        Err(what) => return Ok(Err(what)),
    };
    let snapshot = replay.seq;
    if let Some(what) = replay.follow(connection, standing.number)? {
        return Ok(Err(what));
    }
    Ok(standing.compare(row, replay, snapshot))
}

/// What a row says of itself before anything is compared with it.
struct Standing {
    number: i64,
    id: TaskId,
    head: ChainHead,
    history_bytes: u64,
    epoch: u64,
}

impl Standing {
    fn read(row: &Row<'_>) -> Result<Standing, String> {
        let fields = (|| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(FROM_THE_TASK)?)))();
        let (number, head, history_bytes, epoch, id): (i64, String, u64, u64, String) =
            fields.map_err(|error: rusqlite::Error| error.to_string())?;
        let head = ChainHead::parse(&head).ok_or("head is not a hash")?;
        Ok(Standing { number, id: parse_id("id", &id)?, head, history_bytes, epoch })
    }

    fn compare(self, row: &Row<'_>, replay: Replay, snapshot: u64) -> Result<TaskRow, String> {
        let Standing { number, head, history_bytes, epoch, .. } = self;
        let owner = read_owner(row, epoch)?;
        let task = replay.task.ok_or("it has no events")?;
        let stored = Arc::new(Stored { task, epoch, owner });
        let values = values_of(Some(number), &stored, &head, history_bytes);
        let waits_so = read_json(row, WAIT)?.as_ref() == wait(&stored.task);
        let came_so = read_json(row, CAME_TO)?.as_ref() == came_to(&stored.task);
        if !waits_so || !came_so || !says(row, FROM_THE_TASK, &values[FROM_THE_TASK..WAIT]) {
            return Err("columns do not match its snapshot and events".into());
        }
        if head != replay.head {
            return Err("the chain's head is not the last event's hash".into());
        }
        if epoch != replay.epoch {
            return Err("the epoch does not match the last event".into());
        }
        Ok(TaskRow { number, stored, head, history_bytes, snapshot, tail_bytes: replay.bytes, values })
    }
}

/// The snapshot of a task, if it has one, or what is wrong with it.
pub(super) fn last_snapshot(
    connection: &Connection,
    number: i64,
    id: TaskId,
) -> Result<Result<Option<Replay>, String>, StoreError> {
    let found = connection
        .prepare_cached("SELECT version, epoch, head, body FROM snapshots WHERE task = ?1")
        .and_then(|mut statement| statement.query_row([number], |row| Ok(read_snapshot(row, id))).optional());
    match found {
        Ok(found) => Ok(found.transpose()),
        Err(error) if is_row_damage(&error) => Ok(Err(error.to_string())),
        Err(error) => Err(store_error(error)),
    }
}

fn read_snapshot(row: &Row<'_>, id: TaskId) -> Result<Replay, String> {
    let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str()?)).map_err(|error| error.to_string());
    let number = |column| row.get::<_, u64>(column).map_err(|error| error.to_string());
    let task: Task = serde_json::from_str(text(3)?).map_err(|error| format!("snapshot does not parse: {error}"))?;
    if task.id != id || task.version != number(0)? {
        return Err("the snapshot belongs to another task or version".into());
    }
    let head = ChainHead::parse(text(2)?).ok_or("the snapshot's head is not a hash")?;
    Ok(Replay::behind(task, number(1)?, head))
}
