//! Taking a lease inside the writer's transaction. Each epoch is claimed once, whoever races for it.
//!
//! Called by the writer within a savepoint. Whether a former owner is dead was proved by the caller.

use longhaul_core::ids::TaskId;
use longhaul_core::time::Time;
use rusqlite::Connection;

use super::append::Append;
use super::row::find_task;
use crate::{CommitError, Committed, NewLease};

/// Takes the lease of a task if nobody claimed it since its epoch was seen.
pub(super) fn claim(
    connection: &Connection,
    task: TaskId,
    epoch_seen: u64,
    lease: &NewLease,
    at: Time,
) -> Result<Committed, CommitError> {
    let row = find_task(connection, task)?.ok_or(CommitError::NotFound)?;
    let from = row.stored.owner.as_ref().map(|owner| owner.worker);
    // Nobody proves its own death, so a second claim by the same worker is a mistake.
    if row.stored.epoch != epoch_seen || !row.stored.task.state.wants_owner() || from == Some(lease.worker) {
        return Err(CommitError::Conflict);
    }
    let mut append = Append::to(task, Some(row));
    append.claim(lease, from, at)?;
    let stored = append.write(connection, "")?;
    Ok(Committed { stored, repeated: false })
}
