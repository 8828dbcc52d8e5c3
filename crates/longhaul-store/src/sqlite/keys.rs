//! Idempotency keys: looked up before a change is made, and kept in the commit that makes it.
//!
//! Looked up by the writer within its transaction and by the handle; kept by the writer alone.

use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::task::Actor;
use rusqlite::{Connection, params};

use super::cache::Cache;
use super::failure::damaged;
use super::row::TaskRow;
use super::statement::{execute, first};
use crate::{Change, CommitError, Guard, Key, StoreError, Stored};

/// The task that the request with this key changed, and its last event then; none if nobody used the key.
pub(super) fn task_of(
    connection: &Connection,
    tenant: &str,
    key: &Key,
    principal: &str,
) -> Result<Option<(TaskId, u64)>, CommitError> {
    const SQL: &str = "SELECT tasks.id, (operation, input) = (?4, ?5), keys.seq, \
         ?6 IS NULL OR (created > ?6 AND final = 0 AND waits_for_person = 0) \
         FROM keys LEFT JOIN tasks ON number = task WHERE keys.tenant = ?1 AND key = ?2 AND keys.principal = ?3";
    let guessed_after = key.guessed_after.map(|time| time.0);
    let values = params![tenant, key.name, principal, key.operation, key.input, guessed_after];
    let found: Option<(Option<String>, bool, u64, bool)> =
        first(connection, SQL, values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    match found {
        None | Some((Some(_), true, _, false)) => Ok(None),
        Some((_, false, ..)) => Err(CommitError::KeyReused),
        Some((id, true, seq, _)) => match id.and_then(|id| id.parse().ok()) {
            Some(task) => Ok(Some((task, seq))),
            None => Err(missing(key).into()),
        },
    }
}

/// The task as it is now, if the request behind this change was made before.
pub(super) fn repeat_of_change(
    connection: &Connection,
    cache: &mut Cache,
    tenant: &str,
    change: &Change,
) -> Result<Option<Arc<Stored>>, CommitError> {
    let Some(key) = &change.key else { return Ok(None) };
    let Some((task, _)) = task_of(connection, tenant, key, &change.actor.principal)? else { return Ok(None) };
    // A repeated submission may come with an id that was minted again.
    if task != change.task && change.guard != Guard::New {
        return Err(CommitError::KeyReused);
    }
    let row = cache.find(connection, task)?.ok_or_else(|| missing(key))?;
    Ok(Some(Arc::clone(&row.stored)))
}

/// Keeps a key with the change that its request made. Only a guessed one can have been kept before.
pub(super) fn remember(
    connection: &Connection,
    tenant: &str,
    row: &TaskRow,
    key: &Key,
    actor: &Actor,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO keys (tenant, key, principal, operation, input, task, seq) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    const AGAIN: &str = "INSERT OR REPLACE INTO keys (tenant, key, principal, operation, input, task, seq) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let sql = if key.guessed_after.is_some() { AGAIN } else { SQL };
    let seq = row.stored.task.version;
    let values = params![tenant, key.name, actor.principal, key.operation, key.input, row.number, seq];
    execute(connection, sql, values).map(drop)
}

fn missing(key: &Key) -> StoreError {
    damaged(format!("keys/{}: its task is missing", key.name))
}
