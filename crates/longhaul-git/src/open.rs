//! Takes a recorded worktree up again, before each session: is it still there, registered, and the same?
//! HEAD on another branch is for whoever commits: an agent that left it there can put it back.
//! It repairs nothing and recreates nothing over what a person did; each error names what is wrong.

use std::path::PathBuf;

use super::error::GitError;
use super::program::Git;
use super::registry::metadata_of;
use super::worktree::{Worktree, WorktreeRecord};

/// Why a worktree can not be used any more.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OpenError {
    #[error("the worktree `{path}` was deleted")]
    Deleted { path: PathBuf },
    #[error("the worktree `{path}` was pruned: its git data `{git_dir}` is gone")]
    Pruned { path: PathBuf, git_dir: PathBuf },
    #[error("the worktree `{path}` is not registered in its repository")]
    NotRegistered { path: PathBuf },
    #[error("the branch `{branch}` of the worktree `{path}` was deleted")]
    BranchGone { path: PathBuf, branch: String },
    #[error("failed to open the worktree")]
    Git {
        #[from]
        source: GitError,
    },
}

impl Worktree {
    /// Takes up a worktree that was made earlier.
    pub fn open(git: &Git, record: &WorktreeRecord) -> Result<Worktree, OpenError> {
        let path = || record.path.clone();
        let git_dir = &record.git_dir.git_dir;
        if !record.path.is_dir() {
            return Err(OpenError::Deleted { path: path() });
        }
        if !git_dir.is_dir() {
            return Err(OpenError::Pruned { path: path(), git_dir: git_dir.clone() });
        }
        let repository = git.find_recorded(&record.path, &record.git_dir)?;
        if metadata_of(&record.git_dir.common_dir, &record.path).is_none() {
            return Err(OpenError::NotRegistered { path: path() });
        }
        if super::branch::tip(&repository, &record.branch)?.is_none() {
            return Err(OpenError::BranchGone { path: path(), branch: record.branch.clone() });
        }
        Ok(Worktree::new(record.clone(), repository))
    }
}
