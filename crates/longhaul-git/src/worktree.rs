//! A worktree that Longhaul made: the only kind of working tree in which it commits, clears locks, and which it removes.
//! Made by create, taken up again by open; what the caller stores of it is a [`WorktreeRecord`].

use std::path::{Path, PathBuf};

use longhaul_core::ids::TaskId;
use serde::{Deserialize, Serialize};

use super::error::GitError;
use super::id::CommitId;
use super::repository::{GitDir, Repository};
use super::rules::Whose;
use longhaul_keeper::Environment;

/// What must be remembered of a worktree to find it again and to know it from a swapped one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRecord {
    /// Its directory.
    pub path: PathBuf,
    /// Its branch, without `refs/heads/`.
    pub branch: String,
    /// The commit the branch began at.
    pub base: CommitId,
    /// Where its git data is.
    pub git_dir: GitDir,
}

/// A worktree of ours.
#[derive(Debug, Clone)]
pub struct Worktree {
    record: WorktreeRecord,
    repository: Repository,
}

impl Worktree {
    pub(super) fn new(record: WorktreeRecord, repository: Repository) -> Worktree {
        Worktree { record, repository }
    }

    /// The same worktree under the rules of the task it was made for.
    pub fn with_rules_of(self, task: TaskId) -> Result<Worktree, GitError> {
        self.with_rules_in(task, &Environment::of_process())
    }

    /// The same with the environment of the person whose task it is.
    pub fn with_rules_in(self, task: TaskId, environment: &Environment) -> Result<Worktree, GitError> {
        Ok(Worktree { repository: self.repository.with_rules_in(task, Whose::Ours, environment)?, ..self })
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.record.path
    }

    /// What the caller stores.
    pub fn record(&self) -> &WorktreeRecord {
        &self.record
    }

    /// The repository as seen from this worktree: for trees, differences and snapshots.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }
}
