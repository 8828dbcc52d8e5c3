//! The one error type of the command line: what, because of what, and what to do, with an exit code of the table.
//! Made by the verbs, printed once by `commands::main`. Library errors become causes; no text is matched.

use std::error::Error as StdError;

use longhaul_core::task::Refusal;
use longhaul_store::{CommitError, StoreError};
use longhaul_worker::{ChangeError, HomeError, RefusalKind, WorkerError};

use crate::exit::Code;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) code: Code,
    pub(crate) what: String,
    pub(crate) because: Vec<String>,
    pub(crate) hints: Vec<String>,
}

impl CliError {
    pub(crate) fn new(code: Code, what: impl Into<String>) -> CliError {
        CliError { code, what: what.into(), because: Vec::new(), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn because(mut self, error: &dyn StdError) -> CliError {
        self.because.push(error.to_string());
        let mut source = error.source();
        while let Some(cause) = source {
            self.because.push(cause.to_string());
            source = cause.source();
        }
        self
    }

    /// The error as a person reads it.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("error: {}", self.what);
        for cause in &self.because {
            text.push_str(&format!("\n  because {cause}"));
        }
        for hint in &self.hints {
            text.push_str(&format!("\nhint: {hint}"));
        }
        text
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> CliError {
        let (code, hint) = match &error {
            StoreError::NewerSchema { .. } => {
                (Code::Damaged, "install the newer longhaul, or point LONGHAUL_HOME elsewhere")
            }
            StoreError::UnreleasedSchema { .. } => (
                Code::Damaged,
                "nothing was changed; move the home away and start with a new one, or point LONGHAUL_HOME elsewhere",
            ),
            StoreError::Damaged { .. } => (
                Code::Damaged,
                "nothing was overwritten; keep the file, and point LONGHAUL_HOME elsewhere to go on meanwhile",
            ),
            StoreError::Unfit { .. } => (Code::Usage, "point LONGHAUL_HOME to a directory of yours on a local disk"),
            StoreError::Busy => (Code::Conflict, "another process holds the database for long; try again"),
            StoreError::Full { .. } => (Code::Failure, "nothing was changed; free some space and try again"),
            StoreError::Later { .. } => (Code::Failure, "nothing was changed; close some programs and try again"),
            StoreError::StorageFailed { .. } => {
                (Code::Damaged, "the disk could not keep what was written: look at it, then `longhaul store check`")
            }
            StoreError::Failed { .. } => (Code::Failure, "see that the disk is not full and the home is writable"),
        };
        CliError::new(code, "cannot use the store").because(&error).hint(hint)
    }
}

impl From<HomeError> for CliError {
    fn from(error: HomeError) -> CliError {
        CliError::new(Code::Usage, "cannot use Longhaul's home")
            .because(&error)
            .hint("point LONGHAUL_HOME to a directory of yours")
    }
}

impl From<ChangeError> for CliError {
    fn from(error: ChangeError) -> CliError {
        match error {
            ChangeError::NotFound => CliError::new(Code::NotFound, "there is no such task"),
            ChangeError::Refused(refusal) => refusal.into(),
            ChangeError::Commit(CommitError::Store(error)) => error.into(),
            ChangeError::Commit(error) => CliError::new(Code::Conflict, "the change was not made").because(&error),
        }
    }
}

impl From<Refusal> for CliError {
    fn from(refusal: Refusal) -> CliError {
        let code = match refusal {
            Refusal::BadGoal { .. } | Refusal::BadInput { .. } | Refusal::ReasonMissing => Code::Usage,
            Refusal::WrongState { .. }
            | Refusal::LimitReached { .. }
            | Refusal::Scope { .. }
            | Refusal::UnknownCaller { .. } => Code::Conflict,
        };
        CliError::new(code, refusal.to_string())
    }
}

impl From<WorkerError> for CliError {
    fn from(error: WorkerError) -> CliError {
        match error {
            WorkerError::Store(error) => error.into(),
            WorkerError::Lock(_) => CliError::new(Code::Failure, "the worker cannot start").because(&error),
        }
    }
}

/// The exit code of a refusal that came back from a worker.
pub(crate) fn code_of(kind: RefusalKind) -> Code {
    match kind {
        RefusalKind::Usage => Code::Usage,
        RefusalKind::Refused | RefusalKind::Conflict => Code::Conflict,
        RefusalKind::NotFound => Code::NotFound,
        RefusalKind::Store => Code::Failure,
    }
}
