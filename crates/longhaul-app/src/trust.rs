//! Which `longhaul.toml` a person has trusted: path and SHA-256, kept in `trust.toml` of Longhaul's home.
//! Asked by `config::load` for every project with such a file, changed only by `longhaul trust`. It never reads a project.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use longhaul_keeper::files::{if_exists, replace};
use longhaul_keeper::{Beneath, BeneathError};
use serde::{Deserialize, Serialize};

use crate::error::{AppError, ErrorKind};

const FILE: &str = "trust.toml";
const LOCK: &str = "trust.lock";
const VERSION: u32 = 1;
const CAP: u64 = 16 << 20;

/// Why trust cannot be looked up or changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("failed to use `{path}`", path = path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("failed to read `{path}`", path = path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: BeneathError,
    },
    #[error("`{path}` is damaged: {what}", path = path.display())]
    Damaged { path: PathBuf, what: String },
}

/// One trusted file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// The file.
    pub path: String,
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// When it was trusted.
    pub since: String,
}

/// Whether a file is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Trusted with exactly this content.
    Trusted,
    /// Trusted once, with another content.
    Changed,
    /// Never trusted.
    Unknown,
}

impl Standing {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Standing::Trusted => "trusted",
            Standing::Changed => "changed since it was trusted",
            Standing::Unknown => "not trusted",
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    #[serde(default)]
    trusted: Vec<Trusted>,
}

/// The SHA-256 of a file's content, in hexadecimal.
pub fn fingerprint(bytes: &[u8]) -> String {
    longhaul_core::fingerprint::of_bytes(bytes)
}

/// Whether a file with this content is trusted. Without a home nothing is trusted.
pub(crate) fn standing(home: &Path, path: &Path, bytes: &[u8]) -> Result<Standing, TrustError> {
    let all = list(home)?;
    // A path that is not UTF-8 can not have been trusted.
    let Some(entry) = all.iter().find(|trusted| Some(trusted.path.as_str()) == path.to_str()) else {
        return Ok(Standing::Unknown);
    };
    Ok(if entry.sha256 == fingerprint(bytes) { Standing::Trusted } else { Standing::Changed })
}

/// Everything that is trusted, by path.
pub(crate) fn list(home: &Path) -> Result<Vec<Trusted>, TrustError> {
    let path = home.join(FILE);
    let opened = if_exists(Beneath::open(home)).map_err(|source| TrustError::Io { path: home.to_owned(), source })?;
    let Some(beneath) = opened else { return Ok(Vec::new()) };
    let bytes = beneath.read(FILE, CAP).map_err(|source| TrustError::Read { path: path.clone(), source })?;
    let Some(bytes) = bytes else { return Ok(Vec::new()) };
    let damaged = |what: String| TrustError::Damaged { path: path.clone(), what };
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8".to_owned()))?;
    let stored: Stored = toml::from_str(&text).map_err(|error| damaged(error.message().to_owned()))?;
    if stored.version != VERSION {
        return Err(damaged(format!("it has version {}; this program supports version {VERSION}", stored.version)));
    }
    Ok(stored.trusted)
}

/// Trusts a file with this very content, instead of any content it was trusted with before.
pub(crate) fn add(home: &Path, trusted: Trusted) -> Result<(), TrustError> {
    change(home, |all| {
        all.retain(|have| have.path != trusted.path);
        all.push(trusted);
        all.sort_by(|a, b| a.path.cmp(&b.path));
    })
}

/// Stops trusting a file; none if it was not trusted.
pub(crate) fn remove(home: &Path, path: &str) -> Result<Option<Trusted>, TrustError> {
    let mut removed = None;
    if list(home)?.iter().any(|trusted| trusted.path == path) {
        change(home, |all| removed = all.extract_if(.., |trusted| trusted.path == path).next())?;
    }
    Ok(removed)
}

/// Reads, changes and replaces the list while nobody else does.
fn change(home: &Path, edit: impl FnOnce(&mut Vec<Trusted>)) -> Result<(), TrustError> {
    let path = home.join(FILE);
    let failed = |source| TrustError::Io { path: path.clone(), source };
    let lock = open_lock(home).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut trusted = list(home)?;
    edit(&mut trusted);
    let text = toml::to_string(&Stored { version: VERSION, trusted })
        .map_err(|error| TrustError::Damaged { path: path.clone(), what: error.to_string() })?;
    replace(home, FILE, text.as_bytes()).map_err(failed)
}

fn open_lock(home: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(home.join(LOCK))
}

impl From<TrustError> for AppError {
    fn from(error: TrustError) -> AppError {
        let kind = if matches!(error, TrustError::Damaged { .. }) { ErrorKind::Damaged } else { ErrorKind::Failure };
        AppError::new(kind, "cannot use the list of trusted files")
            .because(&error)
            .hint("the list is trust.toml in Longhaul's home; without that file nothing is trusted")
    }
}

#[cfg(test)]
mod tests;
