//! Copies of the whole database: before a migration, and when a person asks for one.
//!
//! Each is written to a draft beside its place, synced, and renamed without ever replacing anything. Used by `schema` and the handle.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::failure::{damaged, file_failed, store_error};
use super::verify::check;
use crate::StoreError;

/// What becomes of a copy whose place was taken meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// The first copy is as good as this one.
    Keep,
    /// It is refused.
    Refuse,
}

/// Copies everything to a file that is not there yet, and checks the copy.
pub(super) fn back_up(connection: &Connection, target: &Path) -> Result<(), StoreError> {
    if fs::symlink_metadata(target).is_ok() {
        return Err(taken(target));
    }
    copy_aside(connection, target, Taken::Refuse, |draft| {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let copy = Connection::open_with_flags(draft, flags).map_err(store_error)?;
        match check(&copy)?.first() {
            None => Ok(()),
            Some(found) => Err(damaged(format!("{}: {}", found.row, found.what))),
        }
    })
}

/// Copies everything to a file that appears whole, once it has been looked at.
pub(super) fn copy_aside(
    connection: &Connection,
    target: &Path,
    if_taken: Taken,
    look: impl FnOnce(&Path) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}", RandomState::new().build_hasher().finish()));
    let draft = target.with_file_name(name);
    make_empty(&draft)?;
    let placed = fill(connection, &draft).and_then(|()| look(&draft)).and_then(|()| put(&draft, target, if_taken));
    if placed.is_err() {
        // The first error is the one to report; a draft that stays behind has a name nobody uses.
        let _left = fs::remove_file(&draft);
    }
    placed
}

fn fill(connection: &Connection, draft: &Path) -> Result<(), StoreError> {
    let text = draft.to_str().ok_or_else(|| file_failed("back up to", draft, "the path is not UTF-8"))?;
    connection.execute("VACUUM INTO ?1", [text]).map_err(store_error)?;
    sync(draft)
}

fn put(draft: &Path, target: &Path, if_taken: Taken) -> Result<(), StoreError> {
    match renameat_with(CWD, draft, CWD, target, RenameFlags::NOREPLACE) {
        Ok(()) => sync(target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))),
        Err(rustix::io::Errno::EXIST) if if_taken == Taken::Keep => {
            fs::remove_file(draft).map_err(|error| file_failed("remove", draft, error))
        }
        Err(rustix::io::Errno::EXIST) => Err(taken(target)),
        Err(error) => Err(file_failed("rename", draft, error)),
    }
}

fn sync(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| file_failed("sync", path, error))
}

/// An empty file for its owner only: SQLite fills it and keeps its mode.
fn make_empty(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(StoreError::Unfit {
            path: path.parent().unwrap_or(path).display().to_string(),
            why: "no such directory".into(),
        }),
        Err(error) => Err(file_failed("create", path, error)),
    }
}

fn taken(target: &Path) -> StoreError {
    StoreError::Unfit {
        path: target.display().to_string(),
        why: "a file or directory with this name already exists".into(),
    }
}
