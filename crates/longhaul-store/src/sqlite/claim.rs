//! Taking a lease inside the writer's transaction. Each epoch is claimed once, whoever races for it.
//!
//! Called by the writer. Whether a former owner is dead was proved by the caller.

use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::time::Time;
use rusqlite::Connection;

use super::append::{Append, Submitter};
use super::cache::Cache;
use super::request::Made;
use crate::{CommitError, NewLease};

/// Takes the lease of a task if nobody claimed it since its epoch was seen.
pub(super) fn claim(
    connection: &Connection,
    cache: &mut Cache,
    task: TaskId,
    epoch_seen: u64,
    lease: &NewLease,
    at: Time,
) -> Result<Made, CommitError> {
    let row = cache.find(connection, task)?.ok_or(CommitError::NotFound)?;
    let from = row.stored.owner.as_ref().map(|owner| owner.worker);
    // Nobody proves its own death, so a second claim by the same worker is a mistake.
    if row.stored.epoch != epoch_seen || !row.stored.task.state.wants_owner() || from == Some(lease.worker) {
        return Err(CommitError::Conflict);
    }
    let mut append = Append::to(task, Some(row));
    append.claim(lease, from, at)?;
    let row = append.write(connection, cache, &Submitter { tenant: "", principal: "" })?;
    let stored = Arc::clone(&row.stored);
    cache.keep(task, row);
    Ok(Made { stored, repeated: false })
}
