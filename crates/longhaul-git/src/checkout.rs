//! A clean checkout of one commit, detached, in which checks run; made for one round and removed after it.
//!
//! It belongs to nobody: whatever checks leave in it is thrown away. So it is the only worktree that is removed by force. Git does that;
//! one that git does not know is kept here (see `checkouts`). No hook and no filter runs.

use std::fs;
use std::io;
use std::path::Path;

use longhaul_core::ids::TaskId;
use longhaul_keeper::files::replace;

use super::command::LONG;
use super::create::{CreateError, settled_path};
use super::error::{GitError, io_failed};
use super::id::CommitId;
use super::index_lock::install_first;
use super::reference::patiently;
use super::registry::{clear_half_made, metadata_of, registered};
use super::remove::Removal;
use super::repository::Repository;
use super::view::{Objects, View};

impl Repository {
    /// Makes a checkout of `commit` at `path` (absolute). Whatever an earlier attempt left there is removed first.
    pub fn make_checkout(&self, path: &Path, commit: &CommitId) -> Result<(), CreateError> {
        let path = &settled_path(path)?;
        self.remove_checkout(path)?;
        let lock = self.lock()?;
        self.clone().holding(Some(lock.file())).add(path, None, commit)?;
        drop(lock);
        let made = self.open_checkout(path)?;
        let view = View::new(&made, Objects::Private)?;
        view.call().words(&["read-tree", "--reset", "-u"]).value(commit.as_str())?.deadline(LONG).succeed()?;
        // Its exit says whether files differ, which is no failure here.
        view.call().words(&["update-index", "-q", "--refresh"]).deadline(LONG).run()?;
        Ok(install_first(&view, &made.git_dir().git_dir)?)
    }

    /// Opens a checkout under the rules of this repository's workspace. A check may have taken its link away, or led it elsewhere.
    pub(super) fn open_checkout(&self, path: &Path) -> Result<Repository, GitError> {
        let missing = || io_failed("find the git data of", path)(io::ErrorKind::NotFound.into());
        let metadata = metadata_of(&self.git_dir().common_dir, path).ok_or_else(missing)?;
        link(path, &metadata)?;
        let found = self.git().find(path)?.ok_or_else(missing)?;
        Ok(found.with_rules(self.rules()?.into_owned()))
    }

    /// The commit with exactly this tree: HEAD, or the snapshot that was kept before the checks of a task.
    pub fn commit_to_check(&self, task: TaskId, tree: &str) -> Result<Option<CommitId>, GitError> {
        for name in ["HEAD", &format!("refs/longhaul/{task}/tree-{}", tree.get(..12).unwrap_or(tree))] {
            if let Some(commit) = self.commit_of(name)?
                && self.tree_of(commit.as_str())? == tree
            {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// Removes a checkout with all that is in it. One that is gone, or half-made, is no failure; files that git does not know are kept.
    pub fn remove_checkout(&self, path: &Path) -> Result<Removal, GitError> {
        let common = &self.git_dir().common_dir;
        let _lock = self.lock()?;
        clear_half_made(common, path);
        if !registered(self)?.iter().any(|entry| entry.path == path) {
            return Ok(remove_empty(path));
        }
        let Some(metadata) = metadata_of(common, path) else { return Ok(remove_empty(path)) };
        if is_directory(path)? {
            // Git removes nothing that does not lead back to it.
            link(path, &metadata)?;
        }
        if metadata.join("locked").exists() {
            self.shared().call()?.words(&["worktree", "unlock"]).value(path)?.succeed()?;
        }
        patiently(|| {
            let call = self.shared().call()?.words(&["worktree", "remove", "--force"]).value(path)?;
            call.deadline(LONG).succeed().map(|_| Removal::Removed)
        })
    }
}

fn link(path: &Path, metadata: &Path) -> Result<(), GitError> {
    let line = format!("gitdir: {}\n", metadata.display());
    replace(path, ".git", line.as_bytes()).map_err(io_failed("write", path))
}

/// A link in its place leads to files of somebody else.
fn is_directory(path: &Path) -> Result<bool, GitError> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => Ok(true),
        Ok(_) => Err(io_failed("remove", path)(io::ErrorKind::NotADirectory.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io_failed("find", path)(error)),
    }
}

fn remove_empty(path: &Path) -> Removal {
    match fs::remove_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Removal::Kept { why: format!("git does not know `{}`: {error}", path.display()) }
        }
        Ok(()) | Err(_) => Removal::Removed,
    }
}
