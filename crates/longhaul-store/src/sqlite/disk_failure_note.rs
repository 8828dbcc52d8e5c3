//! The note that the disk failed under this database, so that the next opening checks everything first.
//!
//! Written by the writer when a sync failed, as well as a failing disk lets it; read and taken back when a store is opened.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use rusqlite::Connection;

use super::failure::{damaged, file_failed, store_error};
use super::place::Place;
use crate::StoreError;

/// Leaves the note.
pub(super) fn raise(place: &Place) {
    // The disk may refuse this too; then nothing more can be done here than what the writer does: to stop.
    let _refused = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(place.suspect());
    let _unsynced = place.sync_directory();
}

/// Looks at every page and index if there is a note, and takes it back when all is well.
pub(super) fn settle(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    if !place.suspect().exists() {
        return Ok(());
    }
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(store_error)?;
    if verdict != "ok" {
        return Err(damaged(verdict));
    }
    fs::remove_file(place.suspect()).map_err(|error| file_failed("remove", &place.suspect(), error))
}
