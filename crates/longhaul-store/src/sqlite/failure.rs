//! What SQLite's own errors mean to a caller: busy, damaged, or failed.
//!
//! Used by every file of this store; it decides nothing else and hides no message.

use std::fmt::Display;
use std::path::Path;

use rusqlite::{Error, ErrorCode};

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
        _ => StoreError::Failed { what },
    }
}

/// Whether others hold what was wanted, so that waiting helps.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    )
}

/// Whether only the value in this row is wrong, while the statement can go on.
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
    StoreError::Failed { what: format!("failed to {doing} `{}`: {error}", path.display()) }
}

/// Damage in words.
pub(super) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::Damaged { what: what.into() }
}
