//! Takes up a worktree that nobody recorded: its maker was killed, or its task given up, before the place could be stored.
//! Called by the sweep, only to ask whether it can be removed. It repairs and completes nothing.

use std::path::{Path, PathBuf};

use super::branch::{is_of_tasks, tip};
use super::error::GitError;
use super::id::CommitId;
use super::program::Git;
use super::registry::metadata_of;
use super::remove::only_on;
use super::repository::Repository;
use super::worktree::{Worktree, WorktreeRecord};

/// Why a directory can not be taken up as a worktree of ours.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AdoptError {
    #[error("`{path}` is no worktree of a repository")]
    NoWorktree { path: PathBuf },
    #[error("the worktree `{path}` stands on `{found}`, which is no branch of a task")]
    OtherBranch { path: PathBuf, found: String },
    #[error("the branch `{branch}` of the worktree `{path}` is missing")]
    NoBranch { path: PathBuf, branch: String },
    #[error("commit `{commit}` is in no other branch")]
    OnlyHere { commit: String },
    #[error("failed to look at the worktree")]
    Git {
        #[from]
        source: GitError,
    },
}

impl Worktree {
    /// Takes up the worktree at `path` as it is found. Without a known base every commit of it must be in another branch.
    pub fn adopt(git: &Git, path: &Path, base: Option<&CommitId>) -> Result<Worktree, AdoptError> {
        let none = || AdoptError::NoWorktree { path: path.to_owned() };
        let path = path.canonicalize().map_err(|_| none())?;
        // Above a directory without git there may be a repository that has nothing to do with it.
        let repository = git.find(&path)?.filter(|found| found.top_level() == path).ok_or_else(none)?;
        let dir = repository.git_dir().clone();
        if dir.git_dir == dir.common_dir || metadata_of(&dir.common_dir, &path).is_none() {
            return Err(none());
        }
        let branch = repository.branch()?.unwrap_or_else(|| "a detached HEAD".to_owned());
        if !is_of_tasks(&branch) {
            return Err(AdoptError::OtherBranch { path, found: branch });
        }
        let base = match base {
            Some(base) => base.clone(),
            None => known_elsewhere(&repository, &path, &branch)?,
        };
        Ok(Worktree::new(WorktreeRecord { path, branch, base, git_dir: dir }, repository))
    }
}

/// The tip of the branch, if all of it is in other branches too: then that is as good as the base.
fn known_elsewhere(repository: &Repository, path: &Path, branch: &str) -> Result<CommitId, AdoptError> {
    let missing = || AdoptError::NoBranch { path: path.to_owned(), branch: branch.to_owned() };
    let tip = tip(repository, branch)?.ok_or_else(missing)?;
    match only_on(repository, branch, &tip, None)? {
        Some(commit) => Err(AdoptError::OnlyHere { commit }),
        None => Ok(tip),
    }
}
