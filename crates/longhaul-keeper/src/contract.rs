//! The records in a session directory: what keeper and worker, perhaps of different versions, say to each other.
//!
//! Every record is one JSON object with a `version`. A newer version is an error and so is damage; neither is ever
//! taken for absence. To change a record: raise the version and keep reading the one before.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use longhaul_core::ids::SessionId;
use longhaul_core::task::StopStep;
use longhaul_core::time::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::files::if_exists;
use crate::tree::process::Process;

/// The version this build writes.
pub const CONTRACT_VERSION: u32 = 2;
/// Nothing older was released.
const OLDEST_READ: u32 = 2;

/// What to run and how to stop it; written by the worker before the keeper starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Of this record.
    pub version: u32,
    /// The session; also the directory's name.
    pub session: SessionId,
    /// The task it belongs to.
    pub task: String,
    /// The owner's epoch when it was started.
    pub epoch: u64,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where the program starts.
    pub cwd: PathBuf,
    /// Names of variables to remove.
    pub env_unset: Vec<String>,
    /// Variables to set; never a secret.
    pub env_set: BTreeMap<String, String>,
    /// Names to pass on from the keeper's environment; none passes all.
    pub env_pass: Option<Vec<String>>,
    /// Names of further variables whose values are secrets, beside those whose names tell.
    pub secret_names: Vec<String>,
    /// Who sees our own variables.
    pub marking: Marking,
    /// The program gets nothing to read, though there is a prompt: it got the file's path.
    pub no_input: bool,
    /// How to stop it, step by step; after the last step the tree is killed.
    pub stop: Vec<StopStep>,
    /// Longest time without output.
    pub silence_ms: Option<u64>,
    /// A silent program whose tree keeps the processors busy is left alone.
    pub spare_busy: bool,
    /// Longest time at all.
    pub wall_ms: Option<u64>,
    /// How long output may still arrive after the program has ended.
    pub drain_ms: u64,
    /// What it may take of the machine.
    pub caps: Caps,
}

/// When a program and all it starts carry our own variables: the marker of its session, by which strays are found, and the home.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marking {
    /// Always: an agent may call us, and is known by them.
    #[default]
    Always,
    /// Only where no control group holds it. A check must behave as it does without us, so it should not know that it is one.
    WithoutGroup,
}

/// What one session may take of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// The size of a log's segment.
    pub segment_bytes: u64,
    /// The most that is kept of one stream: the first half and the last half.
    pub log_bytes: u64,
    /// The most processes and threads at once, where a cgroup can hold them to it.
    pub pids_max: u32,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps { segment_bytes: 16 << 20, log_bytes: 256 << 20, pids_max: 4096 }
    }
}

/// Who keeps and who runs; synced before the program is executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Of this record.
    pub version: u32,
    /// The boot in which the processes mean anything.
    pub boot: String,
    /// The keeper.
    pub keeper: Process,
    /// The program, or the fork that is about to become it.
    pub child: Process,
    /// The session.
    pub session: SessionId,
    /// The epoch from the spec.
    pub epoch: u64,
    /// When it was written.
    pub at: Time,
    /// The cgroup that holds the tree, if there is one.
    pub cgroup: Option<PathBuf>,
}

/// How the program ended; written right after it was waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// Of this record.
    pub version: u32,
    /// What the wait said.
    pub status: ExitStatus,
    /// What the keeper had done to it before.
    pub why: Why,
    /// How long it ran on the monotonic clock, whatever happened to the other; none when it never did.
    pub ran_ms: Option<u64>,
    /// When it was waited for.
    pub at: Time,
}

/// The end of a program as its parent saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// Which one.
        number: i32,
        /// Whether a core was written.
        core: bool,
    },
    /// It was never executed, for a lasting reason.
    ExecFailed {
        /// The system's error number, where there was one.
        errno: Option<i32>,
        /// What failed, in words.
        message: String,
    },
}

/// What the keeper had done to the program before it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Nothing: it ended on its own or was stopped by something else.
    Own,
    /// The stop recipe, because the keeper got TERM. Whether a task or a shutdown asked, only the worker knows.
    Terminated,
    /// The end of the whole tree at once, because the keeper got INT.
    EndedNow,
    /// The stop recipe, because nothing was printed for too long.
    Silence,
    /// The stop recipe, because it ran for too long.
    Wall,
}

/// The last word of a keeper: the tree is gone and the logs are on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRecord {
    /// Of this record.
    pub version: u32,
    /// Length of all segments of standard output that are kept.
    pub out_len: u64,
    /// Length of all segments of standard error that are kept.
    pub err_len: u64,
    /// Length of `index`.
    pub index_len: u64,
    /// Processes other than the program itself that had to be killed.
    pub killed_leftovers: u32,
    /// Whether nothing of the tree is left.
    pub tree_empty: bool,
    /// Bytes of output that are not kept: dropped for the cap, never written, or removed by somebody.
    pub gap_bytes: u64,
    /// The first failure of a log, in words.
    pub log_error: Option<String>,
    /// Whether a sync failed, so that it is unknown which of the kept bytes are on disk.
    pub sync_failed: bool,
    /// How the tree was held together.
    pub containment: Containment,
    /// When it was written.
    pub at: Time,
}

/// How a tree of processes is held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// By its own cgroup, with the walk as a second line of defence.
    Cgroup,
    /// By walking from parents to children, with the keeper as parent of orphans.
    Walk,
}

/// That the keeper waits for room on the disk, and its program with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalled {
    /// Of this record.
    pub version: u32,
    /// What the system said.
    pub cause: String,
    /// Since when.
    pub since: Time,
}

/// Why a record can not be used; never means that it is absent.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A newer program wrote it.
    #[error("`{path}` has contract version {found}; this program supports up to {known}")]
    NewerContract {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest we know.
        known: u32,
    },
    /// A program too old to be understood wrote it.
    #[error("`{path}` has contract version {found}; this program supports {oldest} and newer")]
    OlderContract {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The oldest we read.
        oldest: u32,
    },
    /// Its content makes no sense.
    #[error("`{path}` is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where it stops making sense.
        #[source]
        source: serde_json::Error,
    },
    /// It can not be read.
    #[error("failed to read `{path}`")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Reads one record; none only if there is no such file.
pub(crate) fn read_record<Record: DeserializeOwned>(path: &Path) -> Result<Option<Record>, RecordError> {
    #[derive(Deserialize)]
    struct Header {
        version: u32,
    }
    let unreadable = |source| RecordError::Io { path: path.to_owned(), source };
    let Some(bytes) = if_exists(std::fs::read(path)).map_err(unreadable)? else { return Ok(None) };
    let damaged = |source| RecordError::Damaged { path: path.to_owned(), source };
    let Header { version: found } = serde_json::from_slice(&bytes).map_err(damaged)?;
    if found > CONTRACT_VERSION {
        return Err(RecordError::NewerContract { path: path.to_owned(), found, known: CONTRACT_VERSION });
    }
    if found < OLDEST_READ {
        return Err(RecordError::OlderContract { path: path.to_owned(), found, oldest: OLDEST_READ });
    }
    serde_json::from_slice(&bytes).map(Some).map_err(damaged)
}

/// The bytes of one record, ended by a newline.
pub(crate) fn record_bytes<Record: Serialize>(record: &Record) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(record).map_err(io::Error::from)?;
    bytes.push(b'\n');
    Ok(bytes)
}
