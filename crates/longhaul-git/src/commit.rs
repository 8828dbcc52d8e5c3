//! Commits everything that is not ignored, in a worktree of ours only. Called after sessions that left work uncommitted.
//!
//! Made of git's low-level commands, so no hook, editor or signature is asked. Where a commit of ours could be wrong it does nothing,
//! says why and leaves it to the agent or a person.

use std::path::Path;

use super::branch::tip;
use super::command::LONG;
use super::error::GitError;
use super::id::{CommitId, TreeId};
use super::index_lock::IndexLock;
use super::reference::{Before, set};
use super::repository::Repository;
use super::snapshot::write_commit;
use super::tree::{Files, Survey, survey};
use super::view::{Objects, View};
use super::worktree::Worktree;

/// What git leaves in its directory while it is in the middle of something.
const IN_PROGRESS: &[(&str, &str)] = &[
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase or a patch"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisection"),
];

/// What became of a commit.
#[derive(Debug)]
pub enum Committed {
    /// The branch holds every file that can be committed here.
    All {
        /// The new commit; none if everything was committed already.
        commit: Option<CommitId>,
        /// The files.
        survey: Box<Survey>,
    },
    /// Nothing was done, because only the agent or a person can do it right.
    LeftToAgent {
        /// Why, for people to read.
        why: String,
    },
}

impl Worktree {
    /// Commits all files that are not ignored.
    pub fn commit_all(&self, message: &str) -> Result<Committed, GitError> {
        let repository = self.repository();
        let _lock = repository.lock()?;
        repository.check()?;
        if let Some(why) = self.why_not()? {
            return Ok(Committed::LeftToAgent { why });
        }
        let index = IndexLock::take(&repository.git_dir().git_dir)?;
        let view = View::new(repository, Objects::Repository)?;
        let survey = survey(&view, Files::All)?;
        if let Some(why) = survey.problem() {
            return Ok(Committed::LeftToAgent { why });
        }
        let commit = self.commit_tree(&view, &survey.tree, message)?;
        // Also when there was nothing to commit: an earlier attempt may have ended before its index was in place.
        index.install(&view)?;
        Ok(Committed::All { commit, survey: Box::new(survey) })
    }

    fn commit_tree(&self, view: &View<'_>, tree: &TreeId, message: &str) -> Result<Option<CommitId>, GitError> {
        let repository = self.repository();
        let head = repository.head_commit()?;
        if let Some(head) = &head
            && repository.tree_of(head.as_str())? == tree.as_str()
        {
            return Ok(None);
        }
        let commit = write_commit(view, tree, head.as_ref(), message)?;
        let before = head.as_ref().map_or(Before::Absent, Before::At);
        let name = format!("refs/heads/{}", self.record().branch);
        set(repository, &name, &commit, &before, "longhaul: commit")?;
        Ok(Some(commit))
    }

    /// Why only the agent or a person can commit here.
    fn why_not(&self) -> Result<Option<String>, GitError> {
        let repository = self.repository();
        if let Some(what) = in_progress(&repository.git_dir().git_dir) {
            return Ok(Some(format!("{what} is in progress")));
        }
        let conflicts = || has_conflicts(repository).then(|| "files have unresolved conflicts".to_owned());
        Ok(self.off_branch()?.or_else(conflicts))
    }

    /// How somebody switched this worktree to another branch, if so. A rebase only detaches HEAD until it ends.
    pub fn switched(&self) -> Result<Option<String>, GitError> {
        if in_progress(&self.repository().git_dir().git_dir).is_some() { Ok(None) } else { self.off_branch() }
    }

    /// How HEAD is not on the branch of this worktree, if it is not.
    pub(super) fn off_branch(&self) -> Result<Option<String>, GitError> {
        let (repository, branch) = (self.repository(), &self.record().branch);
        Ok(match repository.branch()? {
            None => Some(format!("HEAD is detached, not on `{branch}`")),
            Some(found) if found != *branch => Some(format!("HEAD is on `{found}`, not on `{branch}`")),
            Some(_) if tip(repository, branch)?.is_none() => Some(format!("the branch `{branch}` was deleted")),
            Some(_) => None,
        })
    }
}

/// What git is in the middle of, if anything.
pub(super) fn in_progress(git_dir: &Path) -> Option<&'static str> {
    let found = IN_PROGRESS.iter().find(|(name, _)| git_dir.join(name).symlink_metadata().is_ok());
    found.map(|(_, what)| *what)
}

/// Whether the agent's index has files with conflicts. One that git cannot read has none, and is replaced by ours.
fn has_conflicts(repository: &Repository) -> bool {
    let listed =
        repository.call().and_then(|call| call.words(&["ls-files", "-z", "--unmerged"]).deadline(LONG).succeed());
    listed.is_ok_and(|listed| !listed.is_empty())
}
