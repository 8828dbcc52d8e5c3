//! What SQLite's own errors mean to a caller: busy, damaged, full, for later, storage failed, or just failed.
//!
//! Used by every file of this store; it decides nothing else and hides no message.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};
use rustix::io::Errno;

use crate::StoreError;

/// Sorts an error of the database library by what a caller can do about it.
#[expect(clippy::needless_pass_by_value, reason = "takes what `map_err` hands over")]
pub(super) fn store_error(error: Error) -> StoreError {
    let what = error.to_string();
    if is_busy(&error) {
        return StoreError::Busy;
    }
    if is_row_damage(&error) {
        return StoreError::Damaged { what };
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Damaged { what },
        Some(ErrorCode::DiskFull) => StoreError::Full { what },
        Some(ErrorCode::OutOfMemory) => StoreError::Later { what },
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) if no_descriptor_is_left() => {
            StoreError::Later { what }
        }
        Some(ErrorCode::SystemIoFailure) => io_failure(extended(&error), what),
        _ => StoreError::Failed { what },
    }
}

/// After a failed sync the kernel may have dropped what it could not write, and a second sync would say that all is well.
fn io_failure(code: i32, what: String) -> StoreError {
    match code {
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => StoreError::StorageFailed { what },
        // The shared index cannot grow: it is a file beside the database.
        ffi::SQLITE_IOERR_SHMSIZE => StoreError::Full { what },
        _ => StoreError::Failed { what },
    }
}

fn extended(error: &Error) -> i32 {
    error.sqlite_error().map_or(0, |failure| failure.extended_code)
}

/// SQLite does not tell why a file could not be opened, so another one is tried.
fn no_descriptor_is_left() -> bool {
    const NONE_LEFT: [i32; 2] = [Errno::MFILE.raw_os_error(), Errno::NFILE.raw_os_error()];
    File::open("/dev/null").err().and_then(|error| error.raw_os_error()).is_some_and(|code| NONE_LEFT.contains(&code))
}

/// Whether others hold what was wanted, so that waiting helps.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    )
}

/// Whether only the value in this row is wrong, while the statement can continue.
pub(super) fn is_row_damage(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..)
            | Error::InvalidColumnType(..)
    )
}

/// A failed operation on a file, with its path.
pub(super) fn file_failed(doing: &str, path: &Path, error: impl Display) -> StoreError {
    let what = format!("failed to {doing} `{}`: {error}", path.display());
    if no_descriptor_is_left() { StoreError::Later { what } } else { StoreError::Failed { what } }
}

/// Damage in words.
pub(super) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::Damaged { what: what.into() }
}
