//! Putting a finished task's worktree away and bringing it back: everything in it is kept under one private reference first.
//!
//! Called when its work has landed or was discarded. Nothing that git does not have by then is removed, except ignored files.

use longhaul_core::ids::TaskId;

use super::commit::{Committed, PREFIX};
use super::error::GitError;
use super::references::{CommitId, delete, set};
use super::repository::Repository;
use super::worktree::{Removal, Worktree};

impl Repository {
    /// What is kept of a task's work once its branch is gone.
    pub fn final_state(&self, task: TaskId) -> Result<Option<CommitId>, GitError> {
        self.commit_of(&final_name(task))
    }

    /// A commit by its id, if the repository has it.
    pub fn commit(&self, id: &str) -> Result<Option<CommitId>, GitError> {
        let Ok(id) = id.parse::<CommitId>() else { return Ok(None) };
        self.commit_of(id.as_str())
    }

    /// Keeps a commit as the final state of a task.
    pub fn keep_final_state(&self, task: TaskId, commit: &CommitId) -> Result<(), GitError> {
        let before = self.final_state(task)?;
        if before.as_ref() == Some(commit) {
            return Ok(());
        }
        set(&self.shared(), &final_name(task), commit, before.as_ref(), "longhaul: final state")
    }

    /// Removes the branch of a worktree that is gone, if all of it is kept as the final state of the task. Whether it is gone now.
    pub fn remove_kept_branch(&self, task: TaskId, branch: &str) -> Result<bool, GitError> {
        let _lock = self.lock()?;
        let tip = self.branch_tip(branch)?;
        if let Some(tip) = tip.filter(|tip| self.final_state(task).is_ok_and(|kept| kept.as_ref() == Some(tip))) {
            delete(&self.shared(), &format!("refs/heads/{branch}"), &tip)?;
        }
        Ok(self.branch_tip(branch)?.is_none())
    }
}

impl Worktree {
    /// Commits what is left in the worktree, keeps the tip of its branch as the final state of the task, and removes both.
    pub fn put_away(&self, task: TaskId, message: &str) -> Result<Removal, GitError> {
        if let Committed::LeftToAgent { why } = self.commit_all(message)? {
            return Ok(Removal::Kept { why });
        }
        if let Some(tip) = self.repository().branch_tip(self.branch())? {
            self.repository().keep_final_state(task, &tip)?;
        }
        self.remove(Some(task))
    }
}

fn final_name(task: TaskId) -> String {
    format!("{PREFIX}{task}/final")
}
