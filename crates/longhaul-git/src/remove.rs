//! Removes a worktree of ours together with its branch, if nothing is lost by that; otherwise both are kept and the answer says why.
//! Called when a task is finished, cancelled or discarded. Git deletes the files itself, never forced.

use std::path::Path;

use super::branch::tip;
use super::command::LONG;
use super::commit::in_progress;
use super::error::GitError;
use super::id::CommitId;
use super::reference::{delete, patiently};
use super::repository::Repository;
use super::view::{path_of, zero_separated};
use super::worktree::Worktree;

/// What became of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Worktree and branch are gone.
    Removed,
    /// Nothing was removed.
    Kept {
        /// Why, for people to read.
        why: String,
    },
}

impl Worktree {
    /// What [`Worktree::remove`] would answer now, without removing anything.
    pub fn removable(&self) -> Result<Removal, GitError> {
        let tip = tip(&self.repository().shared(), &self.record().branch)?;
        Ok(self.why_keep(tip.as_ref())?.map_or(Removal::Removed, |why| Removal::Kept { why }))
    }

    /// Removes the worktree and its branch if there is no uncommitted work and every commit is in another branch or on a remote.
    pub fn remove(&self) -> Result<Removal, GitError> {
        let repository = self.repository();
        let _lock = repository.lock()?;
        let tip = tip(&repository.shared(), &self.record().branch)?;
        if let Some(why) = self.why_keep(tip.as_ref())? {
            return Ok(Removal::Kept { why });
        }
        // A file that stays keeps the worktree, because git does not remove it then.
        repository.remove_left_by_checks().ok();
        if repository.git_dir().git_dir.exists()
            && let Err(error) = self.unregister()
        {
            return match error {
                GitError::Refused { text, .. } => Ok(Removal::Kept { why: text }),
                other => Err(other),
            };
        }
        if let Some(tip) = tip {
            delete(&repository.shared(), &format!("refs/heads/{}", self.record().branch), &tip)?;
        }
        Ok(Removal::Removed)
    }

    /// The first of these files (relative to the worktree) that is there and in no commit, ignored or not.
    pub fn only_copy<'path>(&self, paths: impl Iterator<Item = &'path Path>) -> Result<Option<&'path Path>, GitError> {
        for path in paths.filter(|path| self.path().join(path).is_file()) {
            let call = self.repository().call()?.words(&["ls-tree", "-z", "--name-only", "HEAD", "--"]).value(path)?;
            if call.succeed()?.is_empty() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    fn why_keep(&self, tip: Option<&CommitId>) -> Result<Option<String>, GitError> {
        let repository = self.repository();
        let git_dir = &repository.git_dir().git_dir;
        if let Some(what) = in_progress(git_dir) {
            return Ok(Some(format!("{what} is in progress")));
        }
        if git_dir.join("locked").exists() {
            return Ok(Some("it is locked".to_owned()));
        }
        if self.path().exists() {
            repository.check()?;
            let uncommitted = repository.uncommitted()?;
            if let Some(first) = uncommitted.files.first() {
                return Ok(Some(format!("{} files are not committed, such as `{first}`", uncommitted.total)));
            }
            if let Some(name) = self.checked_out_submodule()? {
                return Ok(Some(format!("the submodule `{name}` is checked out in it")));
            }
        }
        let head = if git_dir.exists() { repository.head_commit()? } else { None };
        for commit in tip.into_iter().chain(head.as_ref()) {
            if let Some(lost) = self.would_be_lost(commit)? {
                return Ok(Some(format!("commit `{lost}` is in no other branch")));
            }
        }
        if git_dir.exists() { self.off_branch() } else { Ok(None) }
    }

    /// Git would look into it with its own configuration, and that can name programs.
    fn checked_out_submodule(&self) -> Result<Option<String>, GitError> {
        let call = self.repository().call()?.words(&["ls-tree", "-r", "-z", "HEAD"]);
        let output = call.deadline(LONG).succeed()?;
        let links = zero_separated(&output).filter(|entry| entry.starts_with(b"160000 "));
        let mut names = links.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
        let is_there = |name: &&[u8]| self.path().join(path_of(name)).join(".git").symlink_metadata().is_ok();
        Ok(names.find(is_there).map(|name| String::from_utf8_lossy(name).into_owned()))
    }

    fn would_be_lost(&self, commit: &CommitId) -> Result<Option<String>, GitError> {
        let record = self.record();
        only_on(self.repository(), &record.branch, commit, Some(&record.base))
    }

    fn unregister(&self) -> Result<(), GitError> {
        patiently(|| {
            // With attributes and settings: git looks itself whether all is clean, and line endings decide that.
            let call = self.repository().shared().call_with_attributes()?.words(&["worktree", "remove"]);
            let call = call.settings(&self.repository().rules()?.settings);
            call.value(self.path())?.deadline(LONG).succeed().map(drop)
        })
    }
}

/// A commit that is above `base` and that only this branch holds.
pub(super) fn only_on(
    repository: &Repository,
    branch: &str,
    commit: &CommitId,
    base: Option<&CommitId>,
) -> Result<Option<String>, GitError> {
    let exclude = format!("--exclude={branch}");
    let call = repository.shared().call()?.words(&["rev-list", "--max-count=1"]).value(commit.as_str())?;
    let mut call = call.words(&["--not"]);
    if let Some(base) = base {
        call = call.value(base.as_str())?;
    }
    let call = call.words(&[&exclude, "--branches", "--remotes", "--"]);
    Ok(Some(call.deadline(LONG).line()?).filter(|line| !line.is_empty()))
}
