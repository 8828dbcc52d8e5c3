//! Commits everything that is not ignored, in a worktree of ours only. Called after sessions that left work uncommitted.
//!
//! Made of git's low-level commands, so no hook, editor or signature is asked. Where a commit of ours could be wrong it does nothing,
//! says why and leaves it to the agent or a person.

use std::path::Path;

use super::branch::tip;
use super::command::LONG;
use super::error::GitError;
use super::id::CommitId;
use super::index_lock::IndexLock;
use super::lock::PathLock;
use super::reference::{Before, set};
use super::repository::Repository;
use super::snapshot::write_commit;
use super::tree::{Files, build, tracked, under_filter, untracked};
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// There is a new one.
    Commit(CommitId),
    /// Everything was committed already.
    Nothing,
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
        let _lock = PathLock::take(&repository.git().locks(), &repository.git_dir().common_dir)?;
        repository.check()?;
        if let Some(why) = self.why_not()? {
            return Ok(Committed::LeftToAgent { why });
        }
        let index = IndexLock::take(&repository.git_dir().git_dir)?;
        let view = View::new(repository, Objects::Repository)?;
        if let Some(why) = why_not_these_files(&view)? {
            return Ok(Committed::LeftToAgent { why });
        }
        let commit = self.commit_view(&view, message)?;
        // Also when there was nothing to commit: an earlier attempt may have ended before its index was in place.
        index.install(&view)?;
        Ok(commit.map_or(Committed::Nothing, Committed::Commit))
    }

    fn commit_view(&self, view: &View<'_>, message: &str) -> Result<Option<CommitId>, GitError> {
        let repository = self.repository();
        let (tree, _) = build(view, Files::WithUntracked)?;
        let head = repository.head_commit()?;
        if let Some(head) = &head
            && tree_of(repository, head)? == tree.as_str()
        {
            return Ok(None);
        }
        let commit = write_commit(view, &tree, head.as_ref(), message)?;
        let before = head.as_ref().map_or(Before::Absent, Before::At);
        let name = format!("refs/heads/{}", self.record().branch);
        set(repository, &name, &commit, &before, "longhaul: commit")?;
        Ok(Some(commit))
    }

    fn why_not(&self) -> Result<Option<String>, GitError> {
        let repository = self.repository();
        if let Some(what) = in_progress(&repository.git_dir().git_dir) {
            return Ok(Some(format!("{what} is in progress")));
        }
        let branch = &self.record().branch;
        match repository.branch()? {
            None => Ok(Some(format!("HEAD is detached instead of standing on `{branch}`"))),
            Some(found) if found != *branch => Ok(Some(format!("HEAD stands on `{found}`, not on `{branch}`"))),
            Some(_) if tip(repository, branch)?.is_none() => Ok(Some(format!("the branch `{branch}` was deleted"))),
            Some(_) => Ok(None),
        }
    }
}

/// What git is in the middle of, if anything.
pub(super) fn in_progress(git_dir: &Path) -> Option<&'static str> {
    let found = IN_PROGRESS.iter().find(|(name, _)| git_dir.join(name).symlink_metadata().is_ok());
    found.map(|(_, what)| *what)
}

fn why_not_these_files(view: &View<'_>) -> Result<Option<String>, GitError> {
    if !view.call().words(&["ls-files", "-z", "--unmerged"]).deadline(LONG).succeed()?.is_empty() {
        return Ok(Some("files have conflicts that nobody resolved".to_owned()));
    }
    let mut paths = tracked(view)?;
    paths.extend(untracked(view)?);
    let filtered = under_filter(view, paths.iter())?;
    let why = |path: &Vec<u8>| format!("attributes name a filter for `{}`", String::from_utf8_lossy(path));
    Ok(filtered.first().map(why))
}

fn tree_of(repository: &Repository, commit: &CommitId) -> Result<String, GitError> {
    let call = repository.call()?.words(&["rev-parse", "--verify", "--quiet", "--end-of-options"]);
    call.value(format!("{commit}^{{tree}}"))?.line()
}
