//! Statements with their errors sorted: how the other files of this store ask SQLite. Each is prepared once for a connection.
//!
//! Statements whose errors mean something to their caller, or that are left before their last row, are run where they are.

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::failure::store_error;
use crate::StoreError;

/// Runs a statement without rows; says how many it changed.
pub(super) fn execute(connection: &Connection, sql: &str, values: impl Params) -> Result<usize, StoreError> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values)).map_err(store_error)
}

/// The first row, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    let row = connection.prepare_cached(sql).and_then(|mut statement| statement.query_row(values, read).optional());
    row.map_err(store_error)
}

/// The one value of a statement that always has one.
pub(super) fn value<T: FromSql>(connection: &Connection, sql: &str, values: impl Params) -> Result<T, StoreError> {
    let row = |row: &Row<'_>| row.get(0);
    connection.prepare_cached(sql).and_then(|mut statement| statement.query_row(values, row)).map_err(store_error)
}

/// Runs over all rows.
pub(super) fn each(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let mut rows = statement.query(values).map_err(store_error)?;
    while let Some(row) = rows.next().map_err(store_error)? {
        read(row)?;
    }
    Ok(())
}
