//! The names in a session directory, and the directory as a type.
//!
//! Keeper and worker both find their files here. It writes none; `contract` lists who writes which file.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_core::ids::SessionId;

use crate::contract::{EndRecord, ExitRecord, Identity, RecordError, Spec, Stalled, read_record};
use crate::files::{if_exists, reclaim};
use crate::log::index::Stream;

/// The variable that marks every process of a session with the session's id.
pub const SESSION_VARIABLE: &str = "LONGHAUL_SESSION";
/// The variable that names the home, passed on to agents.
pub const HOME_VARIABLE: &str = "LONGHAUL_HOME";
pub(crate) const LOCK: &str = "session.lock";
pub(crate) const SPEC: &str = "spec";
/// The prompt, as a plain file.
pub const PROMPT: &str = "prompt";
pub(crate) const IDENTITY: &str = "identity";
pub(crate) const INDEX: &str = "index";
pub(crate) const EXIT: &str = "exit";
pub(crate) const END: &str = "end";
pub(crate) const REVOKED: &str = "revoked";
pub(crate) const STALLED: &str = "stalled";
pub(crate) const BALLAST: &str = "ballast";
/// The copy of the agent's own transcript, made by the worker when the session has ended.
pub const TRANSCRIPT: &str = "transcript.jsonl";

/// Whether a variable is one of our own; programs of others see none of them but those that are meant for them.
pub fn is_own_variable(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"LONGHAUL_")
}

/// A path that does not end in a session id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not named after a session")]
pub struct BadSessionDir {
    path: PathBuf,
}

/// One session's directory, named after its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDir {
    path: PathBuf,
    session: SessionId,
}

impl SessionDir {
    /// Takes a path whose last component is a session id; looks at nothing on disk.
    pub fn at(path: &Path) -> Result<SessionDir, BadSessionDir> {
        let name = path.file_name().and_then(|name| name.to_str());
        let session = name.and_then(|name| name.parse().ok()).ok_or_else(|| BadSessionDir { path: path.to_owned() })?;
        Ok(SessionDir { path: path.to_owned(), session })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets its owner in again where an agent has closed the directory, one above it, or the lock.
    pub fn reclaim(&self) {
        let sessions = self.path.parent();
        let above = [sessions.and_then(Path::parent), sessions, Some(&*self.path)];
        above.into_iter().flatten().for_each(|path| reclaim(path, 0o700));
        reclaim(&self.path.join(LOCK), 0o600);
    }

    /// Whose it is.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The first segment of standard output's log, after redaction.
    pub fn out_log(&self) -> PathBuf {
        self.segment(Stream::Out, 0)
    }

    /// The first segment of standard error's log, after redaction.
    pub fn err_log(&self) -> PathBuf {
        self.segment(Stream::Err, 0)
    }

    /// One segment of a stream's log.
    pub fn segment(&self, stream: Stream, number: u32) -> PathBuf {
        let base = base_name(stream);
        self.path.join(if number == 0 { format!("{base}.log") } else { format!("{base}.{number}.log") })
    }

    /// The segments of a stream's log that exist, in order; none without a directory.
    pub fn segments(&self, stream: Stream) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for entry in if_exists(std::fs::read_dir(&self.path))?.into_iter().flatten() {
            numbers.extend(entry?.file_name().to_str().and_then(|name| segment_number(stream, name)));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// When output last reached the logs; none if there never was a log.
    pub fn last_output(&self) -> Option<SystemTime> {
        let newest = |stream| {
            let number = self.segments(stream).ok()?.pop()?;
            self.segment(stream, number).metadata().and_then(|about| about.modified()).ok()
        };
        newest(Stream::Out).max(newest(Stream::Err))
    }

    /// The index of both logs.
    pub fn index(&self) -> PathBuf {
        self.path.join(INDEX)
    }

    /// What was to be run.
    pub fn spec(&self) -> Result<Option<Spec>, RecordError> {
        read_record(&self.path.join(SPEC))
    }

    /// Who keeps and who runs; present from just before the program is executed.
    pub fn identity(&self) -> Result<Option<Identity>, RecordError> {
        read_record(&self.path.join(IDENTITY))
    }

    /// How the program ended.
    pub fn exit(&self) -> Result<Option<ExitRecord>, RecordError> {
        read_record(&self.path.join(EXIT))
    }

    /// That tree and logs are done.
    pub fn end(&self) -> Result<Option<EndRecord>, RecordError> {
        read_record(&self.path.join(END))
    }

    /// That the keeper waits for room on the disk, and its program with it; none while it does not.
    pub fn stalled(&self) -> Result<Option<Stalled>, RecordError> {
        let path = self.path.join(STALLED);
        // Blanks hold the room for it.
        if std::fs::read(&path).is_ok_and(|bytes| bytes.trim_ascii().is_empty()) {
            return Ok(None);
        }
        read_record(&path)
    }
}

fn base_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Out => "out",
        Stream::Err => "err",
    }
}

/// The number of a segment by its file name: `out.log`, `out.1.log` and so on, in the one spelling that is ever written.
pub(crate) fn segment_number(stream: Stream, name: &str) -> Option<u32> {
    let middle = name.strip_prefix(base_name(stream))?.strip_suffix(".log")?;
    if middle.is_empty() {
        return Some(0);
    }
    let digits = middle.strip_prefix('.')?;
    let number: u32 = digits.parse().ok()?;
    (number > 0 && number.to_string() == digits).then_some(number)
}
