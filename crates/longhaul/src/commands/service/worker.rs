//! The worker that a service starts: which program, for which home, with which search path.
//! Made once for an invocation of `service`; each kind writes it down in its own language.

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
    /// PATH, as it is here: where the agents are found that are found here.
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
                return Err(AppError::new(
                    ErrorKind::Usage,
                    "a path with control characters cannot stand in a service",
                )
                .hint("move the program or Longhaul's home, or mend PATH"));
            }
        }
        Ok(Worker { program, home, path })
    }
}

/// The path by which a person finds this program, which outlives an upgrade; else where it lies.
fn program() -> Result<PathBuf, AppError> {
    let own = std::env::current_exe()
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot tell where this program lies").because(&error))?;
    let is_own = |path: &Path| path.canonicalize().ok() == own.canonicalize().ok();
    Ok(find_program("longhaul").filter(|found| is_own(found)).unwrap_or(own))
}
