//! Removing a finished task inside the writer's transaction: its events, keys, snapshot, notices and row, all or nothing.
//!
//! Called by the writer. It refuses what may still be needed; how old a task must be is its caller's rule.

use longhaul_core::ids::TaskId;
use rusqlite::Connection;

use super::cache::Cache;
use super::statement::{execute, value};
use crate::{Guard, RemoveError, StoreError};

/// Removes one task, or says why not.
pub(super) fn remove(
    connection: &Connection,
    cache: &mut Cache,
    task: TaskId,
    guard: Guard,
) -> Result<(), RemoveError> {
    let row = cache.find(connection, task)?.ok_or(RemoveError::NotFound)?;
    let state = &row.stored.task.state;
    if !state.is_final() || row.stored.owner.is_some() {
        return Err(RemoveError::Unfinished { state: state.name() });
    }
    if guard != Guard::Version(row.stored.task.version) {
        return Err(RemoveError::Conflict);
    }
    const CHILDREN: &str = "SELECT count(*) FROM tasks WHERE parent = ?1 OR follows = ?1";
    match value(connection, CHILDREN, [task.to_string()])? {
        0 => Ok(remove_rows(connection, row.number)?),
        children => Err(RemoveError::HasChildren { children }),
    }
}

fn remove_rows(connection: &Connection, number: i64) -> Result<(), StoreError> {
    const STEPS: [&str; 8] = [
        "INSERT INTO removed_history (tenant, position) SELECT tenant, max(position) FROM tasks JOIN events ON task = number \
         WHERE number = ?1 GROUP BY tenant ON CONFLICT (tenant) DO UPDATE SET position = max(position, excluded.position)",
        "INSERT INTO removals (task) VALUES (?1)",
        "DELETE FROM events WHERE task = ?1",
        "DELETE FROM keys WHERE task = ?1",
        "DELETE FROM snapshots WHERE task = ?1",
        "DELETE FROM outbox WHERE task = ?1",
        "DELETE FROM tasks WHERE number = ?1",
        "DELETE FROM removals WHERE task = ?1",
    ];
    for sql in STEPS {
        execute(connection, sql, [number])?;
    }
    Ok(())
}
