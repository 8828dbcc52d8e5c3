//! Removing the directory of a session that has ended: only files of ours, by exact name, below a directory handle.
//!
//! Called by `gc` for the sessions of a finished task and for unknown ones. It takes the session's lock first, so a live keeper
//! keeps its directory; and it never deletes what it does not know, nor by a path.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use longhaul_core::ids::SessionId;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, statat, unlinkat};

use crate::files::{if_exists, open_directory};
use crate::layout::{
    BALLAST, END, EXIT, IDENTITY, INDEX, LOCK, PROMPT, REVOKED, SPEC, STALLED, TRANSCRIPT, segment_number,
};
use crate::log::index::Stream;

/// Names of ours besides the logs and the lock. The spec is the first to go: without it no keeper that comes late can run anything.
const RECORDS: [&str; 10] = [SPEC, PROMPT, INDEX, EXIT, END, IDENTITY, REVOKED, STALLED, BALLAST, TRANSCRIPT];

/// What is in a session directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFiles {
    /// Bytes of all files of ours.
    pub bytes: u64,
    /// The last change of the directory or of a file in it.
    pub changed: SystemTime,
    /// Names that are not ours, made readable; they keep the directory.
    pub strange: Vec<String>,
    /// Ours, in the order in which they go.
    known: Vec<OsString>,
}

/// What became of a session directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discarded {
    /// It is gone, or was gone already; so many bytes went with it.
    Gone {
        /// How many.
        bytes: u64,
    },
    /// A keeper, or somebody who looks after one, holds its lock. Nothing was deleted.
    InUse,
    /// There is something in it that is not ours. Nothing was deleted.
    Strange {
        /// What, made readable.
        names: Vec<String>,
    },
}

/// Looks what is in the directory of a session; none if there is no such directory.
pub fn survey_session(sessions: &Path, session: SessionId) -> io::Result<Option<SessionFiles>> {
    match open_session(&open_directory(sessions)?, session)? {
        Some(directory) => survey(&directory).map(Some),
        None => Ok(None),
    }
}

/// Removes the directory of a session. A kill in between leaves a directory that the next call removes.
pub fn discard_session(sessions: &Path, session: SessionId) -> io::Result<Discarded> {
    let above = open_directory(sessions)?;
    let Some(directory) = open_session(&above, session)? else { return Ok(Discarded::Gone { bytes: 0 }) };
    let Some(_held) = hold_lock(&directory)? else { return Ok(Discarded::InUse) };
    let files = survey(&directory)?;
    if !files.strange.is_empty() {
        return Ok(Discarded::Strange { names: files.strange });
    }
    for name in &files.known {
        remove(&directory, name, AtFlags::empty())?;
        crate::fail_point::reach("keeper.discarding");
    }
    remove(&above, OsStr::new(&session.to_string()), AtFlags::REMOVEDIR)?;
    above.sync_all()?;
    Ok(Discarded::Gone { bytes: files.bytes })
}

/// Deletes one plain file or socket by its exact name in a directory; false if there is none of this name.
pub fn discard_file(directory: &Path, name: &str) -> io::Result<bool> {
    let directory = open_directory(directory)?;
    match if_exists(statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW))? {
        Some(stat) if !name.contains('/') && is_plain(FileType::from_raw_mode(stat.st_mode)) => {
            remove(&directory, OsStr::new(name), AtFlags::empty()).map(|()| true)
        }
        Some(_) | None => Ok(false),
    }
}

fn is_plain(kind: FileType) -> bool {
    kind.is_file() || kind.is_socket()
}

fn open_session(sessions: &File, session: SessionId) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if_exists(openat(sessions, session.to_string(), flags, Mode::empty()))
}

/// What keeps others away: the lock, or nothing where there is none any more. None when somebody else holds it.
fn hold_lock(directory: &OwnedFd) -> io::Result<Option<Option<File>>> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // The lock goes last, so without it nothing else is left.
    let Some(lock) = if_exists(openat(directory, LOCK, flags, Mode::empty()))? else { return Ok(Some(None)) };
    let lock = File::from(lock);
    match lock.try_lock() {
        Ok(()) => Ok(Some(Some(lock))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn survey(directory: &OwnedFd) -> io::Result<SessionFiles> {
    let mut files = SessionFiles {
        bytes: 0,
        changed: changed(&rustix::fs::fstat(directory)?),
        strange: Vec::new(),
        known: Vec::new(),
    };
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let Some(stat) = if_exists(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW))? else { continue };
        if !FileType::from_raw_mode(stat.st_mode).is_file() || !name.to_str().is_some_and(is_ours) {
            files.strange.push(name.to_string_lossy().into_owned());
            continue;
        }
        files.bytes += u64::try_from(stat.st_size).unwrap_or(0);
        files.changed = files.changed.max(changed(&stat));
        files.known.push(name.to_owned());
    }
    files.strange.sort();
    files.known.sort_by_key(|name| turn(name));
    Ok(files)
}

/// When it is a file's turn to go: the spec first, the lock last.
fn turn(name: &OsStr) -> u8 {
    match name.to_str() {
        Some(SPEC) => 0,
        Some(LOCK) => 2,
        _ => 1,
    }
}

fn changed(stat: &Stat) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0))
}

fn is_ours(name: &str) -> bool {
    is_final_name(name) || temporary_of(name).is_some_and(is_final_name)
}

fn is_final_name(name: &str) -> bool {
    let is_segment = [Stream::Out, Stream::Err].iter().any(|stream| segment_number(*stream, name).is_some());
    name == LOCK || RECORDS.contains(&name) || is_segment
}

/// The name that a half-written file of ours was to get, if it is one: `.name.<pid>-<count>.tmp`.
pub fn temporary_of(name: &str) -> Option<&str> {
    let (base, maker) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let (pid, count) = maker.split_once('-')?;
    let is_number = |text: &str| text.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == text);
    (is_number(pid) && is_number(count)).then_some(base)
}

fn remove(directory: &impl std::os::fd::AsFd, name: &OsStr, flags: AtFlags) -> io::Result<()> {
    if_exists(unlinkat(directory, name, flags)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{is_ours, temporary_of};

    #[test]
    fn only_names_that_are_ever_written_are_ours() {
        for name in
            ["spec", "session.lock", "out.log", "err.log", "out.1.log", "err.12.log", ".spec.77-0.tmp", ".exit.1-2.tmp"]
        {
            assert!(is_ours(name), "{name}");
        }
        for name in [
            "out.0.log",
            "out.01.log",
            "out.+1.log",
            "out.1.2.log",
            "out",
            "outlog",
            "log",
            ".log",
            "other.log",
            "Spec",
            "spec~",
            ".notes.77-0.tmp",
            ".spec.tmp",
            ".spec.77.tmp",
            ".spec.x-0.tmp",
            ".spec.077-0.tmp",
            "",
            "..",
        ] {
            assert!(!is_ours(name), "{name}");
        }
        assert_eq!(temporary_of(".trust.toml.77-0.tmp"), Some("trust.toml"));
    }
}
