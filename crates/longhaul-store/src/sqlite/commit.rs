//! One change of one task inside the writer's transaction: guard, key, events, notices, accounts, cap and claim, all or nothing.
//!
//! Called by the writer, again if its transaction was rolled back. Whatever can refuse a sound change comes before the first write: a
//! refusal after it costs the whole group its transaction.

use std::sync::Arc;

use longhaul_core::task::{Event, IllegalEvent};
use rusqlite::Connection;

use super::append::{Append, EventText, Submitter, as_json};
use super::cache::Cache;
use super::load::is_of_tenant;
use super::request::Made;
use super::row::TaskRow;
use super::statement::first;
use super::{accounts, family, keys, outbox, turns};
use crate::{Change, CommitError, Guard, StoreError, Stored, Tenant};

/// A change with its texts made, outside the writer thread.
pub(super) struct Prepared {
    change: Change,
    /// Whose store it came through; none for the whole store.
    tenant: Option<Tenant>,
    actor: Arc<str>,
    payloads: Vec<Arc<str>>,
}

impl Prepared {
    /// Spells a change out as it will be stored.
    pub(super) fn new(change: Change, tenant: Option<Tenant>) -> Result<Prepared, StoreError> {
        let actor = as_json(&change.actor)?.into();
        let payloads =
            change.events.iter().map(|event| Ok(as_json(event)?.into())).collect::<Result<_, StoreError>>()?;
        Ok(Prepared { change, tenant, actor, payloads })
    }

    /// Whose new tasks and keys are.
    fn tenant(&self) -> &str {
        self.tenant.as_ref().map_or(Tenant::DEFAULT, Tenant::name)
    }
}

/// Makes one change, or says why not.
pub(super) fn commit(connection: &Connection, cache: &mut Cache, prepared: &Prepared) -> Result<Made, CommitError> {
    if let Some(earlier) = keys::repeat_of_change(connection, cache, prepared.tenant(), &prepared.change)? {
        return Ok(Made { stored: earlier, repeated: true });
    }
    let found = cache.find(connection, prepared.change.task)?;
    let is_foreign = found.is_some() && !is_of_tenant(connection, prepared.tenant.as_ref(), prepared.change.task)?;
    let found = match (prepared.change.guard, found) {
        (Guard::New, None) => None,
        // Ids are chosen by us, so nobody learns by this which exist.
        (Guard::New, Some(_)) if is_foreign => return Err(CommitError::Conflict),
        (_, Some(_)) if is_foreign => return Err(CommitError::NotFound),
        (Guard::New, Some(row)) => return repeat_of_submission(connection, prepared, &row),
        (Guard::Version(_) | Guard::Owner { .. }, None) => return Err(CommitError::NotFound),
        (guard, Some(row)) => {
            check_guard(guard, &row.stored)?;
            Some(row)
        }
    };
    refuse_by_shape(&prepared.change, found.as_deref())?;
    let task = prepared.change.task;
    let row = match found {
        // A request that changes nothing still uses its key.
        Some(row) if prepared.change.events.is_empty() && prepared.change.claim.is_none() => row,
        found => append(connection, cache, prepared, found.as_ref())?,
    };
    if let Some(key) = &prepared.change.key {
        keys::remember(connection, prepared.tenant(), &row, key, &prepared.change.actor)?;
    }
    let stored = Arc::clone(&row.stored);
    cache.keep(task, row);
    Ok(Made { stored, repeated: false })
}

fn append(
    connection: &Connection,
    cache: &mut Cache,
    prepared: &Prepared,
    found: Option<&Arc<TaskRow>>,
) -> Result<Arc<TaskRow>, CommitError> {
    let Prepared { change, actor, payloads, .. } = prepared;
    let mut append = Append::to(change.task, found.cloned());
    for (event, payload) in change.events.iter().zip(payloads) {
        let text = EventText { actor: Arc::clone(actor), payload: Arc::clone(payload) };
        append.event(event, text, change.at)?;
    }
    if let Some(lease) = &change.claim {
        append.claim(lease, None, change.at)?;
    }
    let before = found.map(|row| &row.stored.task);
    turns::check_start(connection, before, change)?;
    family::check_caps(connection, prepared.tenant(), &change.events)?;
    let by = Submitter { tenant: prepared.tenant(), principal: &change.actor.principal };
    let row = append.write(connection, cache, &by)?;
    outbox::enqueue(connection, before, &change.events, &row)?;
    accounts::record(connection, before, &row.stored.task)?;
    Ok(row)
}

fn check_guard(guard: Guard, stored: &Stored) -> Result<(), CommitError> {
    let version = match guard {
        Guard::New => return Ok(()),
        Guard::Version(version) => version,
        Guard::Owner { version, lease } => {
            if stored.owner.as_ref().map(|owner| owner.lease) != Some(lease) {
                return Err(CommitError::Fenced);
            }
            version
        }
    };
    if stored.task.version == version { Ok(()) } else { Err(CommitError::Conflict) }
}

/// A claim inside a commit brings no proof of the owner's death, so an owned task is not for it; and `Claimed` is written by
/// the store alone, because only here the epoch moves with it.
fn refuse_by_shape(change: &Change, found: Option<&TaskRow>) -> Result<(), CommitError> {
    let state = found.map_or("nothing", |row| row.stored.task.state.name());
    if change.claim.is_some() && found.is_some_and(|row| row.stored.owner.is_some()) {
        return Err(CommitError::Conflict);
    }
    if change.events.is_empty() && change.claim.is_none() && (change.key.is_none() || found.is_none()) {
        return Err(IllegalEvent { state, event: "nothing" }.into());
    }
    match change.events.iter().find(|event| matches!(event, Event::Claimed { .. })) {
        Some(event) => Err(IllegalEvent { state, event: event.kind() }.into()),
        None => Ok(()),
    }
}

fn repeat_of_submission(connection: &Connection, prepared: &Prepared, row: &TaskRow) -> Result<Made, CommitError> {
    const FIRST: &str = "SELECT payload FROM events WHERE task = ?1 AND seq = 1";
    let stored_first: Option<String> = first(connection, FIRST, [row.number], |row| row.get(0))?;
    if stored_first.is_some() && stored_first.as_deref() == prepared.payloads.first().map(|payload| &**payload) {
        Ok(Made { stored: Arc::clone(&row.stored), repeated: true })
    } else {
        Err(CommitError::Conflict)
    }
}
