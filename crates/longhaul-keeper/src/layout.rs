//! The names in a session directory, and the directory as a type.
//!
//! Keeper and worker both find their files here. It only reads; who writes which file is told in `contract`.

use std::path::{Path, PathBuf};

use longhaul_core::ids::SessionId;

use crate::contract::{EndRecord, ExitRecord, Identity, RecordError, Spec, read_record};

/// The variable that marks every process of a session with the session's id.
pub const SESSION_VARIABLE: &str = "LONGHAUL_SESSION";
/// The variable that names the home, passed on to agents.
pub const HOME_VARIABLE: &str = "LONGHAUL_HOME";

pub(crate) const OWN_PREFIX: &str = "LONGHAUL_";
pub(crate) const LOCK: &str = "session.lock";
pub(crate) const SPEC: &str = "spec";
pub(crate) const PROMPT: &str = "prompt";
pub(crate) const IDENTITY: &str = "identity";
pub(crate) const OUT_LOG: &str = "out.log";
pub(crate) const ERR_LOG: &str = "err.log";
pub(crate) const INDEX: &str = "index";
pub(crate) const EXIT: &str = "exit";
pub(crate) const END: &str = "end";
pub(crate) const REVOKED: &str = "revoked";

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

    /// Whose it is.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The log of standard output, after redaction.
    pub fn out_log(&self) -> PathBuf {
        self.path.join(OUT_LOG)
    }

    /// The log of standard error, after redaction.
    pub fn err_log(&self) -> PathBuf {
        self.path.join(ERR_LOG)
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
}
