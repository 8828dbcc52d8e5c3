//! The worker's side of a start: the session directory with its spec, and the keeper process.
//!
//! Workers prepare, commit the session's start, then spawn. A keeper is started through a descriptor of our own
//! executable opened when the worker started, so that an upgrade on disk never mixes versions.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use longhaul_core::ids::SessionId;

use crate::contract::{Spec, record_bytes};
use crate::files::{PrivateDirError, create_private_dir, replace};
use crate::layout::{LOCK, PROMPT, SPEC, SessionDir};
use crate::os;
use crate::scope::Standing;

/// An executable opened once and run as it was then, whatever becomes of its path.
#[derive(Debug)]
pub struct Executable {
    file: File,
    path: PathBuf,
}

impl Executable {
    /// Opens the executable of the calling process.
    pub fn open_own() -> io::Result<Executable> {
        Ok(Executable { file: os::own_executable()?, path: std::env::current_exe()? })
    }

    /// Opens the executable at a path.
    pub fn open(path: &Path) -> io::Result<Executable> {
        Ok(Executable { file: File::open(path)?, path: path.to_owned() })
    }

    /// A command that runs it under the name `longhaul` in its own session, with nothing on its standard streams.
    ///
    /// The command must be spawned while this value lives.
    pub fn command<Arguments>(&self, arguments: Arguments) -> Command
    where
        Arguments: IntoIterator,
        Arguments::Item: AsRef<OsStr>,
    {
        let mut command = Command::new(os::path_of_executable(&self.file, &self.path));
        command.arg0("longhaul").args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        os::detach(&mut command);
        command
    }

    /// Where it was found, if a file is still there.
    pub fn path(&self) -> Option<&Path> {
        Some(&*self.path).filter(|path| path.is_file())
    }

    /// The path under which a program of the system can execute it, while this process lives.
    pub(crate) fn path_for_others(&self) -> PathBuf {
        os::path_for_others(&self.file, &self.path)
    }

    /// Whether this process runs it. One that is not to be looked at is: only a keeper of ours hides itself.
    pub(crate) fn is_run_by(&self, pid: u32) -> bool {
        match (std::fs::metadata(format!("/proc/{pid}/exe")), self.file.metadata()) {
            (Ok(running), Ok(own)) => (running.dev(), running.ino()) == (own.dev(), own.ino()),
            (Err(error), _) => error.kind() == io::ErrorKind::PermissionDenied,
            (Ok(_), Err(_)) => false,
        }
    }
}

/// Why a session directory was not prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The spec is for another session.
    #[error("the spec is for session `{found}`, not for `{wanted}`")]
    ForeignSpec {
        /// In the spec.
        found: SessionId,
        /// Asked for.
        wanted: SessionId,
    },
    /// There is such a session already; an id is used once.
    #[error("session directory `{path}` already exists")]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// The directory can not be ours.
    #[error("failed to create the session directory")]
    Directory(#[from] PrivateDirError),
    /// A file in it could not be written.
    #[error("failed to write `{name}` into session directory `{path}`")]
    Io {
        /// The directory.
        path: PathBuf,
        /// The file.
        name: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Makes the directory of a session with everything its keeper needs; durable on return. No prompt means no input.
pub fn prepare_session(
    sessions: &Path,
    session: SessionId,
    spec: &Spec,
    prompt: &[u8],
) -> Result<SessionDir, PrepareError> {
    if spec.session != session {
        return Err(PrepareError::ForeignSpec { found: spec.session, wanted: session });
    }
    let path = sessions.join(session.to_string());
    if path.symlink_metadata().is_ok() {
        return Err(PrepareError::Exists { path });
    }
    create_private_dir(&path)?;
    let failed = |name: &'static str| {
        let path = path.clone();
        move |source| PrepareError::Io { path, name, source }
    };
    create_lock(&path).map_err(failed(LOCK))?;
    if !prompt.is_empty() {
        replace(&path, PROMPT, prompt).map_err(failed(PROMPT))?;
    }
    let bytes = record_bytes(spec).map_err(failed(SPEC))?;
    replace(&path, SPEC, &bytes).map_err(failed(SPEC))?;
    SessionDir::at(&path).map_err(|error| failed(SPEC)(io::Error::other(error)))
}

/// Starts the keeper of a prepared session; the caller waits for the child some time after it ended.
///
/// Where a scope fails a second keeper is started plainly; whichever comes first to the session's lock keeps it.
pub fn spawn_keeper(executable: &Executable, directory: &SessionDir, standing: Standing) -> io::Result<Child> {
    let variables: Vec<_> = std::env::vars_os().collect();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect();
    spawn_keeper_with(executable, directory, standing, &variables)
}

/// The same with these variables and no others of the calling process.
pub fn spawn_keeper_with(
    executable: &Executable,
    directory: &SessionDir,
    standing: Standing,
    environment: &[(&OsStr, &OsStr)],
) -> io::Result<Child> {
    let unit = format!("longhaul-keeper-{}", directory.session());
    executable.spawn(standing, &unit, &[OsStr::new("keep"), directory.path().as_os_str()], |command| {
        command.env_clear().envs(environment.iter().copied());
        Ok(())
    })
}

/// Makes room for the descriptors of many sessions. The processes that an [`Executable`] starts keep the limit of before.
pub fn raise_descriptor_limit() -> io::Result<()> {
    const ENOUGH: u64 = 1 << 16;
    os::raise_descriptor_limit(ENOUGH)
}

fn create_lock(directory: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(directory.join(LOCK)).map(drop)
}
