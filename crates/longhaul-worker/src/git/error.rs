//! What can go wrong with any call of git. Returned by every function of the wrapper, alone or inside a narrower error.
//! It never hides what git said: a refusal carries git's own text.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why git could not answer.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GitError {
    #[error("found no program `git` in `PATH`")]
    NoProgram,
    #[error("failed to start `{command}`")]
    Start {
        command: String,
        #[source]
        source: io::Error,
    },
    #[error("`{command}` did not end within `{deadline:?}` and was killed")]
    Deadline { command: String, deadline: Duration },
    #[error("`{command}` refused: {text}")]
    Refused { command: String, text: String },
    #[error("`{command}` printed more than `{cap}` bytes")]
    TooMuch { command: String, cap: usize },
    #[error("`{command}` answered something unknown: `{text}`")]
    Unreadable { command: String, text: String },
    #[error("`{value}` begins with a hyphen or has a NUL byte, so it can not be an argument of git")]
    BadArgument { value: String },
    #[error("the git directory of `{directory}` is `{found}`, not `{recorded}` as recorded")]
    Swapped { directory: PathBuf, recorded: PathBuf, found: String },
    #[error("`{directory}` has no files to work on: it is a bare repository or lies inside a git directory")]
    NoWorkTree { directory: PathBuf },
    #[error("`{directory}` looks like a repository, but git does not take it for one: {text}")]
    Damaged { directory: PathBuf, text: String },
    #[error("`{path}` is held by another git")]
    IndexLocked { path: PathBuf },
    #[error("failed to {what} `{path}`")]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Says what was tried with which path when the system refused.
pub(super) fn io_failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
    let path = path.to_owned();
    move |source| GitError::Io { what, path, source }
}
