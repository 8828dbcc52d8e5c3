//! The worker that a service starts: its program, home and search path.
//! Built once per invocation of `service`; each kind writes it in its own format.

use longhaul_app::{AppError, ErrorKind, locations};
use longhaul_keeper::Environment;

use crate::start::own_program;
use longhaul_app::submit::files::utf8;

/// What a service starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Worker {
    /// Absolute.
    pub(super) program: String,
    /// LONGHAUL_HOME.
    pub(super) home: String,
    /// PATH of the caller, so that the worker finds the same agents.
    pub(super) path: String,
    /// The caller's variables.
    pub(super) environment: Environment,
    /// Whether it serves HTTP too.
    pub(super) serves: bool,
}

impl Worker {
    /// The worker of this program and the home that these variables name; it does not serve HTTP.
    pub(super) fn of(environment: &Environment) -> Result<Worker, AppError> {
        let program = utf8(&own_program(environment)?)?;
        let home = utf8(&locations::home(environment)?)?;
        let path = environment.get("PATH").and_then(|path| path.to_str()).unwrap_or_default().to_owned();
        for text in [&program, &home, &path] {
            if text.chars().any(char::is_control) {
                return Err(AppError::new(ErrorKind::Usage, "a service cannot use a path with control characters")
                    .hint("move the program or Longhaul's home, or fix PATH"));
            }
        }
        Ok(Worker { program, home, path, environment: environment.clone(), serves: false })
    }

    /// The arguments of its program.
    pub(super) fn arguments(&self) -> &'static [&'static str] {
        if self.serves { &["serve"] } else { &["worker", "--stay"] }
    }
}
