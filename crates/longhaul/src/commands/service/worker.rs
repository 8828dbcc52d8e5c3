//! The worker that a service starts: its program, home and search path.
//! Built once per invocation of `service`; each kind writes it in its own format.

use std::path::{Path, PathBuf};

use longhaul_app::{AppError, ErrorKind, locations};
use longhaul_keeper::{Environment, find_program};

use longhaul_app::submit::files::utf8;

/// What a service starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Worker {
    /// Absolute.
    pub(super) program: String,
    /// LONGHAUL_HOME.
    pub(super) home: String,
    /// PATH of this process, so that the worker finds the same agents.
    pub(super) path: String,
}

impl Worker {
    /// The worker of this program and this home.
    pub(super) fn here() -> Result<Worker, AppError> {
        let program = utf8(&program()?)?;
        let home = utf8(&locations::home(&Environment::of_process())?)?;
        let path = std::env::var("PATH").unwrap_or_default();
        for text in [&program, &home, &path] {
            if text.chars().any(char::is_control) {
                return Err(AppError::new(ErrorKind::Usage, "a service cannot use a path with control characters")
                    .hint("move the program or Longhaul's home, or fix PATH"));
            }
        }
        Ok(Worker { program, home, path })
    }
}

/// This program's path on PATH, which survives an upgrade; otherwise the path of its file.
fn program() -> Result<PathBuf, AppError> {
    let own = std::env::current_exe()
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot find the path of this program").because(&error))?;
    let is_own = |path: &Path| path.canonicalize().ok() == own.canonicalize().ok();
    Ok(find_program("longhaul").filter(|found| is_own(found)).unwrap_or(own))
}
