//! Looks at everything stored with suspicion: each task's whole history, and what its row and snapshot make of it.
//!
//! Called for `verify` and `check`. It reads in its own transactions and changes nothing.

use longhaul_core::ids::TaskId;
use rusqlite::{Connection, Row};

use super::failure::store_error;
use super::load::find_task;
use super::outbox;
use super::read::sound_rows;
use super::replay::Replay;
use super::row::{TaskRow, text_of};
use super::statement::each;
use crate::{ChainReport, Damaged, StoreError, Tenant};

/// Recomputes one task's chain and rebuilds its state.
pub(super) fn verify(
    connection: &Connection,
    tenant: Option<&Tenant>,
    task: TaskId,
) -> Result<ChainReport, StoreError> {
    // Row and events must be of one moment.
    let moment = connection.unchecked_transaction().map_err(store_error)?;
    let row = match find_task(&moment, tenant, task) {
        Ok(Some(row)) => row,
        Ok(None) => return Ok(ChainReport { events: 0, broken: Some("no such task".into()) }),
        Err(StoreError::Damaged { what }) => return Ok(ChainReport { events: 0, broken: Some(what) }),
        Err(other) => return Err(other),
    };
    let mut replay = Replay::of(task);
    let broken = replay.follow(&moment, row.number)?.or_else(|| difference(&replay, &row));
    Ok(ChainReport { events: replay.seq, broken })
}

/// How the whole history differs from the row, if at all.
fn difference(replay: &Replay, row: &TaskRow) -> Option<String> {
    let what = if row.head != replay.head {
        "the chain's head is not the last event's hash"
    } else if row.stored.epoch != replay.epoch {
        "the epoch does not match the last event"
    } else if replay.task.as_ref() != Some(&row.stored.task) {
        "the stored state does not match its events"
    } else if row.history_bytes != replay.bytes {
        "the stored size of its history is wrong"
    } else {
        return None;
    };
    Some(what.into())
}

/// Reads everything and names what is damaged.
pub(super) fn check(connection: &Connection) -> Result<Vec<Damaged>, StoreError> {
    let mut found = Vec::new();
    complaints(connection, "PRAGMA quick_check", &mut found, |row| {
        let what = text_of(row, 0);
        (what != "ok").then(|| Damaged { row: "database".into(), what })
    })?;
    complaints(connection, "PRAGMA foreign_key_check", &mut found, |row| {
        Some(Damaged { row: text_of(row, 0), what: format!("a row refers to a missing row of `{}`", text_of(row, 2)) })
    })?;
    complaints(connection, &outbox::looked_at(), &mut found, outbox::damage)?;
    let ids = "SELECT id FROM tasks ORDER BY created, id";
    for id in sound_rows(connection, ids, [], |row| Ok(Some(text_of(row, 0))))? {
        let broken = match id.parse() {
            Ok(task) => verify(connection, None, task)?.broken,
            Err(_) => Some("its id is not valid".into()),
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
    each(connection, sql, [], |row| {
        found.extend(read(row));
        Ok(())
    })
}
