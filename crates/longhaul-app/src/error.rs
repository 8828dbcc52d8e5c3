//! The one error type of every front end: what, because of what, and what to do, with a kind.
//! The command line maps the kind to an exit code, a server to a status. Library errors become causes; no text is matched.

use std::error::Error as StdError;

use longhaul_core::task::Refusal;
use longhaul_store::{CommitError, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::ChangeError;
use crate::choices::Choices;
use crate::handover::RefusalKind;
use crate::home::HomeError;
use crate::text;

/// The kind of failure. Match on this, never on texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The input is invalid; nothing was changed.
    Usage,
    /// There is no such task, or the caller may not see it.
    NotFound,
    /// The state of the task or another caller does not allow it.
    Conflict,
    /// The caller's scope or rights do not allow it.
    Forbidden,
    /// Only a person can help.
    NeedsPerson,
    /// It waits for a time that is known; asking again later is right.
    Waiting,
    /// Something did not answer in time.
    TimedOut,
    /// The caller interrupted it.
    Interrupted,
    /// Stored data is damaged or newer than this version.
    Damaged,
    /// Anything else.
    Failure,
}

/// Why something was not done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AppError {
    /// What kind of failure it is; exit codes follow from it.
    pub kind: ErrorKind,
    /// What went wrong.
    pub what: String,
    /// The causes, outermost first.
    pub because: Vec<String>,
    /// What a person can do.
    pub hints: Vec<String>,
    /// What to choose from, if a choice is all that is missing; a front end with a person at it may ask.
    #[serde(skip)]
    pub choices: Option<Box<Choices>>,
    /// A code that says more than the kind does.
    #[serde(skip)]
    pub(crate) code: Option<&'static str>,
}

/// An error as front ends send it.
#[derive(Serialize, JsonSchema)]
pub struct ErrorView<'a> {
    /// What it is, for programs; it never changes.
    pub code: &'static str,
    /// The error.
    #[serde(flatten)]
    pub error: &'a AppError,
}

impl AppError {
    /// A failure without causes or hints.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> AppError {
        AppError { kind, what: what.into(), because: Vec::new(), hints: Vec::new(), choices: None, code: None }
    }

    /// The stable code for programs, of tools and routes alike.
    pub fn code(&self) -> &'static str {
        self.code.unwrap_or(match self.kind {
            ErrorKind::Usage => "invalid_argument",
            ErrorKind::NotFound => "not_found",
            ErrorKind::Conflict => "conflict",
            ErrorKind::Forbidden => "forbidden",
            ErrorKind::NeedsPerson => "needs_person",
            ErrorKind::Waiting => "waiting",
            ErrorKind::TimedOut => "timed_out",
            ErrorKind::Interrupted => "interrupted",
            ErrorKind::Damaged => "storage_damaged",
            ErrorKind::Failure => "internal",
        })
    }

    /// The same with a code that says more than the kind does.
    pub fn coded(self, code: &'static str) -> AppError {
        AppError { code: Some(code), ..self }
    }

    /// The same with one more hint.
    pub fn hint(mut self, hint: impl Into<String>) -> AppError {
        self.hints.push(hint.into());
        self
    }

    /// The same with what to choose from.
    pub(crate) fn choose(self, choices: Choices) -> AppError {
        AppError { choices: Some(Box::new(choices)), ..self }
    }

    /// The same with the causes of this error.
    pub fn because(mut self, error: &dyn StdError) -> AppError {
        self.because.push(error.to_string());
        let mut source = error.source();
        while let Some(cause) = source {
            self.because.push(cause.to_string());
            source = cause.source();
        }
        self
    }

    /// The error as one JSON document.
    pub fn document(&self) -> String {
        /// In the order in which people read it.
        #[derive(Serialize)]
        struct Document<'a> {
            v: u32,
            kind: &'static str,
            error: ErrorView<'a>,
        }
        // Texts and lists of texts: no error has what JSON has no words for.
        let document = Document { v: 1, kind: "error", error: ErrorView { code: self.code(), error: self } };
        text::safe_json(&serde_json::to_string(&document).unwrap_or_default())
    }

    /// What went wrong and why, on one line.
    pub fn sentence(&self) -> String {
        std::iter::once(&self.what).chain(&self.because).cloned().collect::<Vec<_>>().join(": ")
    }

    /// The error as a person reads it.
    pub fn text(&self) -> String {
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

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> AppError {
        let (kind, hint) = match &error {
            StoreError::NewerSchema { .. } => {
                (ErrorKind::Damaged, "install the newer longhaul, or set LONGHAUL_HOME to another directory")
            }
            StoreError::UnreleasedSchema { .. } => (
                ErrorKind::Damaged,
                "nothing was changed; move the home away to start with a new one, or set LONGHAUL_HOME to another directory",
            ),
            StoreError::Damaged { .. } => (
                ErrorKind::Damaged,
                "nothing was overwritten; keep the file, and set LONGHAUL_HOME to another directory to keep working",
            ),
            StoreError::Unfit { .. } => (ErrorKind::Usage, "set LONGHAUL_HOME to a directory you own on a local disk"),
            StoreError::Busy => (ErrorKind::Conflict, "another process has kept the database locked; try again"),
            StoreError::Full { .. } => (ErrorKind::Failure, "nothing was changed; free some space and try again"),
            StoreError::Later { .. } => (ErrorKind::Failure, "nothing was changed; close some programs and try again"),
            StoreError::StorageFailed { .. } => {
                (ErrorKind::Damaged, "the disk failed to store data: check the disk, then run `longhaul store check`")
            }
            StoreError::Failed { .. } => {
                (ErrorKind::Failure, "make sure that the disk is not full and the home is writable")
            }
        };
        let refused = AppError::new(kind, "cannot use the store").because(&error).hint(hint);
        if let StoreError::Full { .. } = error { refused.coded("storage_full") } else { refused }
    }
}

impl From<HomeError> for AppError {
    fn from(error: HomeError) -> AppError {
        AppError::new(ErrorKind::Usage, "cannot use Longhaul's home")
            .because(&error)
            .hint("set LONGHAUL_HOME to a directory you own")
    }
}

impl From<ChangeError> for AppError {
    fn from(error: ChangeError) -> AppError {
        match error {
            ChangeError::NotFound => AppError::new(ErrorKind::NotFound, "no such task"),
            ChangeError::Refused(refusal) => refusal.into(),
            ChangeError::Commit(error) => error.into(),
        }
    }
}

impl From<CommitError> for AppError {
    fn from(error: CommitError) -> AppError {
        match error {
            CommitError::Store(error) => error.into(),
            CommitError::KeyReused => AppError::new(ErrorKind::Conflict, error.to_string()).hint(
                "a key names one request: repeat that one unchanged and from the same directory, or use a new key",
            ),
            error => AppError::new(ErrorKind::Conflict, "the change was not made").because(&error),
        }
    }
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> AppError {
        let kind = match refusal {
            Refusal::BadGoal { .. } | Refusal::BadInput { .. } | Refusal::ReasonMissing => ErrorKind::Usage,
            Refusal::WrongState { .. } | Refusal::LimitReached { .. } => ErrorKind::Conflict,
            Refusal::Scope { .. } | Refusal::Right { .. } | Refusal::UnknownCaller { .. } => ErrorKind::Forbidden,
        };
        let is_scope = matches!(refusal, Refusal::Scope { .. });
        let error = AppError::new(kind, refusal.to_string());
        if is_scope { error.hint("ask a person to do it") } else { error }
    }
}

impl From<RefusalKind> for ErrorKind {
    fn from(kind: RefusalKind) -> ErrorKind {
        match kind {
            RefusalKind::Usage => ErrorKind::Usage,
            RefusalKind::Refused | RefusalKind::Conflict => ErrorKind::Conflict,
            RefusalKind::NotFound => ErrorKind::NotFound,
            RefusalKind::Store => ErrorKind::Failure,
        }
    }
}
