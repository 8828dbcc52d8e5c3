//! The schema's versions and the way from one to the next.
//!
//! Each migration is one transaction that also moves the version, so that a crash in it changes nothing and the next opening
//! runs it again. An existing database is copied aside first. A newer one, one from before the first release, or another program's, is
//! refused untouched.

use rusqlite::{Connection, TransactionBehavior};

use super::backup::{Taken, copy_aside};
use super::failure::{damaged, store_error};
use super::open::Probe;
use super::place::Place;
use crate::StoreError;

/// One step of the schema.
pub(super) struct Migration {
    /// The version it leads to.
    pub(super) version: u32,
    /// How.
    pub(super) sql: &'static str,
}

/// All steps, in order; never changed once released. Nothing before schema 4 was.
pub(super) const MIGRATIONS: &[Migration] = &[Migration { version: 4, sql: include_str!("migrations/0004.sql") }];

/// "LHdb": marks the file as ours.
const APPLICATION: i64 = 0x4c48_6462;

/// The version in the file.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Refuses a newer schema, one from before the first release, and a database of another program.
pub(super) fn refuse_strange(connection: &Connection, found: u32, known: &[Migration]) -> Result<(), StoreError> {
    // The mark is read last: whoever migrates meanwhile makes tables and mark in one transaction.
    let objects: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(store_error)?;
    let application: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(store_error)?;
    if application != APPLICATION && (found > 0 || objects > 0) {
        return Err(damaged("`longhaul.db` belongs to another program"));
    }
    let newest = known.last().map_or(0, |migration| migration.version);
    if found > newest {
        return Err(StoreError::NewerSchema { found, known: newest });
    }
    if is_unreleased(connection, found, known) { Err(StoreError::UnreleasedSchema { found }) } else { Ok(()) }
}

/// The first released schema had forms before it was complete; only the complete one has API keys and follow-ups.
fn is_unreleased(connection: &Connection, found: u32, known: &[Migration]) -> bool {
    let first = known.first().map_or(0, |migration| migration.version);
    let is_incomplete = || connection.prepare("SELECT digest, came_to FROM api_keys, tasks").is_err();
    found > 0 && (found < first || found == 4 && is_incomplete())
}

/// Brings the database to the newest schema. Safe when several processes do it at once, and after a crash.
pub(super) fn migrate(
    connection: &mut Connection,
    place: &Place,
    known: &[Migration],
    probe: Probe,
) -> Result<(), StoreError> {
    let found = version(connection).map_err(store_error)?;
    if known.iter().all(|migration| migration.version <= found) {
        return Ok(());
    }
    if found > 0 {
        back_up(connection, place, found)?;
    }
    known.iter().try_for_each(|migration| run(connection, migration, probe))
}

fn run(connection: &mut Connection, migration: &Migration, probe: Probe) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(store_error)?;
    // Read again under the lock: another process may have been first.
    if version(&transaction).map_err(store_error)? >= migration.version {
        return Ok(());
    }
    transaction.execute_batch(migration.sql).map_err(store_error)?;
    transaction.pragma_update(None, "application_id", APPLICATION).map_err(store_error)?;
    transaction.pragma_update(None, "user_version", migration.version).map_err(store_error)?;
    probe("store.before_migration_commit");
    transaction.commit().map_err(store_error)
}

/// Copies the database aside, once per version: the first copy is the one from before any attempt.
fn back_up(connection: &Connection, place: &Place, found: u32) -> Result<(), StoreError> {
    let target = place.backup(found);
    if target.exists() { Ok(()) } else { copy_aside(connection, &target, Taken::Keep, |_| Ok(())) }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
