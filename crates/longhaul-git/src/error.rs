//! What can go wrong with any call of git. Returned by every function of the wrapper, alone or inside a narrower error.
//! It never hides what git said: a refusal carries git's own text.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_keeper::files::wants_resources;

/// Why git could not answer.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GitError {
    #[error("`git` was not found in `PATH`")]
    NoProgram,
    #[error("failed to start `{command}`")]
    Start {
        command: String,
        #[source]
        source: io::Error,
    },
    #[error("`{command}` did not finish within `{deadline:?}` and was killed")]
    Deadline { command: String, deadline: Duration },
    #[error("`{command}` was killed by signal {signal}")]
    Killed { command: String, signal: i32 },
    #[error("`{command}` failed: {text}")]
    Refused { command: String, text: String },
    #[error("`{command}` printed more than `{cap}` bytes")]
    TooMuch { command: String, cap: usize },
    #[error("unexpected output of `{command}`: `{text}`")]
    Unreadable { command: String, text: String },
    #[error("`{value}` starts with a hyphen or contains a NUL byte, so it cannot be passed to git")]
    BadArgument { value: String },
    #[error("the git directory of `{directory}` is `{found}`, not `{recorded}` as recorded")]
    Swapped { directory: PathBuf, recorded: PathBuf, found: String },
    #[error("`{directory}` has no working tree: it is a bare repository or inside a git directory")]
    NoWorkTree { directory: PathBuf },
    #[error("`{directory}` looks like a repository, but git does not recognize it: {text}")]
    Damaged { directory: PathBuf, text: String },
    #[error("another git process holds `{path}`")]
    IndexLocked { path: PathBuf },
    #[error("`{}` is not UTF-8", path.display())]
    NotText { path: PathBuf },
    #[error("`{name}` is not a reference below `refs/longhaul/`")]
    BadSnapshotName { name: String },
    #[error("`{name}` already holds another snapshot")]
    SnapshotTaken { name: String },
    #[error("failed to {what} `{path}`")]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// What the system and git say when memory, processes or descriptors have run out, in the C locale that git gets from us.
const SCARCE: &[&str] = &[
    "Cannot allocate memory",
    "Out of memory",
    "out of memory",
    "Resource temporarily unavailable",
    "Too many open files",
    "died of signal",
];

impl GitError {
    /// Whether the machine is at fault and the same call may succeed later: git was killed, was too slow, or found no memory,
    /// process or descriptor. A missing program and a refusal are not of this kind.
    pub fn is_transient(&self) -> bool {
        match self {
            GitError::Killed { .. } | GitError::Deadline { .. } => true,
            GitError::Start { source, .. } | GitError::Io { source, .. } => wants_resources(source),
            GitError::Refused { text, .. } | GitError::Damaged { text, .. } => {
                SCARCE.iter().any(|words| text.contains(words))
            }
            _ => false,
        }
    }
}

/// The same for an error with a [`GitError`] anywhere among its sources.
pub fn is_transient(error: &(dyn std::error::Error + 'static)) -> bool {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.filter_map(|error| error.downcast_ref::<GitError>()).any(GitError::is_transient)
}

/// Says what was tried with which path when the system refused.
pub fn io_failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
    let path = path.to_owned();
    move |source| GitError::Io { what, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(errno: rustix::io::Errno) -> GitError {
        GitError::Start { command: "git x".into(), source: errno.into() }
    }

    fn refused(text: &str) -> GitError {
        GitError::Refused { command: "git x".into(), text: text.into() }
    }

    #[test]
    fn the_machine_passes_and_a_refusal_stays() {
        use rustix::io::Errno;
        for passes in [
            GitError::Killed { command: "git x".into(), signal: 9 },
            GitError::Deadline { command: "git x".into(), deadline: Duration::ZERO },
            start(Errno::NOMEM),
            start(Errno::AGAIN),
            start(Errno::MFILE),
            start(Errno::NFILE),
            refused("error: cannot fork() for git-index-pack: Resource temporarily unavailable"),
            refused("fatal: Out of memory, malloc failed (tried to allocate 8 bytes)"),
        ] {
            assert!(passes.is_transient(), "{passes}");
            assert!(is_transient(&crate::WorktreeError::from(passes)), "as the source of another error");
        }
        for stays in [GitError::NoProgram, start(Errno::NOENT), start(Errno::ACCESS), refused("fatal: not a tree")] {
            assert!(!stays.is_transient(), "{stays}");
        }
    }
}
