//! Opens connections: the checks before SQLite touches a file, the pragmas, and what was really set.
//!
//! Called by the handle for the writer and for backups, by the readers and by the doorbell's follower. Refuses rather than repairs.

use std::sync::{Mutex, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::busy::{patiently, wait_with_jitter};
use super::disk_failure_note;
use super::failure::{damaged, store_error};
use super::place::Place;
use super::schema::{self, MIGRATIONS};
use crate::StoreError;

/// A seam for crash tests: called with a name at points where a kill must lose nothing.
pub type Probe = fn(&'static str);

/// 3.51.3 is the first release without the log-reset bug that corrupts databases with several writers.
const OLDEST_LIBRARY: i32 = 3_051_003;

/// Beyond this the log file is cut back after a checkpoint.
const LOG_BYTES: i64 = 64 * 1024 * 1024;

/// How many pages the log takes before it is written back, which costs two syncs: 8 MB, half of what the writer calls a long log.
const PAGES_BETWEEN_CHECKPOINTS: i64 = 2_000;

/// Opens the connection that writes, at the newest schema. The file must be there.
pub(super) fn open_writer(place: &Place, probe: Probe) -> Result<Connection, StoreError> {
    // Two openings in one process share SQLite's locks on the file; one after the other keeps them simple.
    static OPENING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    place.create()?;
    let mut connection = connect(place)?;
    let found = patiently_do(|| schema::version(&connection))?;
    schema::refuse_strange(&connection, found, MIGRATIONS).inspect_err(|_| leave_log(&connection, place))?;
    prepare_for_writing(&connection)?;
    disk_failure_note::settle(&connection, place)?;
    schema::migrate(&mut connection, place, MIGRATIONS, probe)?;
    Ok(connection)
}

/// A refused database stays as it is: closing must not write its log back.
fn leave_log(connection: &Connection, place: &Place) {
    if place.has_log() {
        let _without = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }
}

/// Opens a connection that reads and cannot write. The database must be there, at the newest schema.
pub(super) fn open_reader(place: &Place) -> Result<Connection, StoreError> {
    let connection = connect(place)?;
    connection.pragma_update(None, "query_only", true).map_err(store_error)?;
    Ok(connection)
}

/// Opens a connection that copies the database; unlike a reader's it may write, into the copy.
pub(super) fn open_copier(place: &Place) -> Result<Connection, StoreError> {
    connect(place)
}

fn connect(place: &Place) -> Result<Connection, StoreError> {
    let library = rusqlite::version_number();
    if library < OLDEST_LIBRARY {
        return Err(StoreError::Failed { what: format!("SQLite library {library} is older than {OLDEST_LIBRARY}") });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let mut connection = Connection::open_with_flags(place.database(), flags).map_err(store_error)?;
    wait_with_jitter(&mut connection).map_err(store_error)?;
    connection.set_prepared_statement_cache_capacity(64);
    for (name, value) in [("foreign_keys", 1), ("trusted_schema", 0), ("cell_size_check", 1)] {
        patiently(|| connection.pragma_update(None, name, value)).map_err(store_error)?;
    }
    // A mapped file turns a disk error into a signal.
    patiently(|| connection.pragma_update_and_check(None, "mmap_size", 0, |_| Ok(()))).or_else(no_answer)?;
    Ok(connection)
}

/// `mmap_size` answers with no row when the library was built without it, which is what we want.
fn no_answer(error: rusqlite::Error) -> Result<(), StoreError> {
    match error {
        rusqlite::Error::QueryReturnedNoRows => Ok(()),
        other => Err(store_error(other)),
    }
}

fn prepare_for_writing(connection: &Connection) -> Result<(), StoreError> {
    let mode: String =
        patiently_do(|| connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)))?;
    if mode != "wal" {
        return Err(StoreError::Failed { what: format!("journal mode is `{mode}`, expected `wal`") });
    }
    connection.pragma_update(None, "synchronous", "full").map_err(store_error)?;
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0)).map_err(store_error)?;
    if synchronous != 2 {
        return Err(StoreError::Failed { what: format!("synchronous is `{synchronous}`, expected `2`") });
    }
    let _limit: i64 = connection
        .pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |row| row.get(0))
        .map_err(store_error)?;
    let _pages: i64 = connection
        .pragma_update_and_check(None, "wal_autocheckpoint", PAGES_BETWEEN_CHECKPOINTS, |row| row.get(0))
        .map_err(store_error)?;
    let keys: i64 = connection.pragma_query_value(None, "foreign_keys", |row| row.get(0)).map_err(store_error)?;
    if keys == 1 { Ok(()) } else { Err(damaged("foreign keys cannot be switched on")) }
}

fn patiently_do<T>(attempt: impl FnMut() -> rusqlite::Result<T>) -> Result<T, StoreError> {
    patiently(attempt).map_err(store_error)
}
