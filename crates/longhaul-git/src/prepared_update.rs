//! Moving a branch in two steps: git locks the reference and checks where it is, and the caller does its own work before it commits.
//!
//! Used while the files of a checkout follow the branch. If this process dies in between, git sees the end of its input and lets the
//! reference go unchanged.

use std::time::{Duration, Instant};

use longhaul_keeper::Bounded;

use super::command::Call;
use super::error::GitError;

/// How long git may take for one of the two steps.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);
/// What git prints once the reference is locked.
const LOCKED: &[u8] = b"prepare: ok\n";

/// A reference that is locked and can be moved.
pub(super) struct PreparedUpdate {
    git: Bounded,
    command: String,
}

impl PreparedUpdate {
    /// Locks a reference that is at `from`. An error if it is anywhere else, or locked by another git.
    pub(super) fn lock(call: Call, name: &str, from: &str, to: &str) -> Result<PreparedUpdate, GitError> {
        let words = format!("start\nupdate {name} {to} {from}\nprepare\n");
        let (git, command) = call.words(&["update-ref", "--stdin"]).input(words.into_bytes()).start()?;
        let mut prepared = PreparedUpdate { git: git.wanting_more(), command };
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(ended) = prepared.attend()? {
                return Err(prepared.refused(&ended));
            }
            if prepared.git.printed().ends_with(LOCKED) {
                return Ok(prepared);
            }
        }
        Err(GitError::Deadline { command: prepared.command, deadline: PATIENCE })
    }

    /// Moves the reference.
    pub(super) fn commit(mut self) -> Result<(), GitError> {
        self.git.finish(b"commit\n");
        let ended = self.git.wait_for(PATIENCE).map_err(|source| self.failed(source))?;
        match ended {
            Some(ended) if ended.status.success() => Ok(()),
            Some(ended) => Err(self.refused(&ended)),
            None => Err(GitError::Deadline { command: self.command, deadline: PATIENCE }),
        }
    }

    fn attend(&mut self) -> Result<Option<longhaul_keeper::ProgramEnd>, GitError> {
        self.git.attend(LOOK).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: std::io::Error) -> GitError {
        GitError::Start { command: self.command.clone(), source }
    }

    fn refused(&self, ended: &longhaul_keeper::ProgramEnd) -> GitError {
        let text = String::from_utf8_lossy(&ended.err).trim().to_owned();
        GitError::Refused { command: self.command.clone(), text }
    }
}
