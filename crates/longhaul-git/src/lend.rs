//! A finished task's worktree is lent to a landing whose target has moved: ignored files stay, so that checks find what was built and installed.
//!
//! Called by the effect of a follow-up, and by whoever removes the worktree. What was not committed is kept while it is lent and put back
//! afterwards. Every step can be repeated, and whatever a kill leaves, the next call makes whole.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use longhaul_core::ids::TaskId;
use longhaul_keeper::fail_point;

use super::command::LONG;
use super::commit::{PREFIX, in_progress, write_commit};
use super::error::GitError;
use super::locks::{IndexLock, PathLock};
use super::references::{CommitId, TreeId, delete, point_head, set};
use super::repository::Repository;
use super::tree::{Files, survey};
use super::view::{Objects, View, zero_separated};
use super::worktree::Worktree;

/// What follows the name of the task's branch in the name of a landing's. No task's branch has this sign in it.
const LANDING: &str = "+landing-";

/// The branch on which a landing merges the work of a task's branch.
pub fn landing_branch(branch: &str, landing: TaskId) -> String {
    let id = landing.to_string();
    format!("{branch}{LANDING}{}", &id[id.len() - 8..])
}

impl Worktree {
    /// Puts the worktree on a landing's branch at a commit: branch, files, HEAD and index. The finished task is `task`.
    pub fn lend(&self, task: TaskId, branch: &str, to: &CommitId) -> Result<(), GitError> {
        let is_lent = self.repository().shared().branch_tip(branch)?.is_some();
        if !is_lent {
            self.give_back(task)?;
            if let Some(what) = in_progress(self.repository().git_dir()) {
                return Err(refused(format!("{what} is in progress in `{}`", self.path().display())));
            }
        }
        let held = Held::take(self)?;
        let shared = self.repository().shared();
        let tip = shared.branch_tip(branch)?;
        if tip.is_none() {
            held.refuse_what_is_in_the_way(to)?;
            held.keep(&uncommitted_name(task), "longhaul: what was not committed\n")?;
        }
        if tip.as_ref() != Some(to) {
            set(&shared, &format!("refs/heads/{branch}"), to, tip.as_ref(), "longhaul: merge")?;
        }
        fail_point::reach("land.lent");
        held.fill(to)?;
        fail_point::reach("land.merge_written");
        point_head(self.repository(), branch)?;
        held.install()
    }

    /// Puts a worktree that was lent back on its own branch, with the files as they were before. What a landing left in it is kept.
    pub fn give_back(&self, task: TaskId) -> Result<(), GitError> {
        let shared = self.repository().shared();
        let lent = shared.tips_of(&format!("refs/heads/{}{LANDING}", self.branch()))?;
        if lent.is_empty() {
            return Ok(());
        }
        let held = Held::take(self)?;
        // After a kill HEAD may be back on the own branch, and what the landing left is kept already.
        let head = self.repository().branch()?.map(|branch| format!("refs/heads/{branch}"));
        if lent.iter().any(|(name, _)| head.as_ref() == Some(name)) {
            held.keep(&format!("{PREFIX}{task}/landing"), "longhaul: what a landing left\n")?;
        }
        let (uncommitted, own) = (uncommitted_name(task), format!("refs/heads/{}", self.branch()));
        let kept = shared.commit_of(&uncommitted)?;
        let tip =
            shared.commit_of(&own)?.ok_or_else(|| refused(format!("the branch `{}` was deleted", self.branch())))?;
        held.fill(kept.as_ref().unwrap_or(&tip))?;
        fail_point::reach("land.put_back");
        held.read(&tip)?;
        point_head(self.repository(), self.branch())?;
        held.install()?;
        for (name, at) in lent {
            delete(&shared, &name, &at)?;
        }
        kept.map_or(Ok(()), |kept| delete(&shared, &uncommitted, &kept))
    }
}

fn uncommitted_name(task: TaskId) -> String {
    format!("{PREFIX}{task}/uncommitted")
}

/// A worktree whose references and index nobody else writes, with its files as they are in a private index.
struct Held<'a> {
    worktree: &'a Worktree,
    view: View<'a>,
    index: IndexLock,
    content: TreeId,
    _lock: PathLock,
}

impl<'a> Held<'a> {
    fn take(worktree: &'a Worktree) -> Result<Held<'a>, GitError> {
        let repository = worktree.repository();
        worktree.clear_stale_lock(std::time::SystemTime::now())?;
        let lock = repository.lock()?;
        let view = View::new(repository, Objects::Repository)?;
        let index = IndexLock::take(repository.git_dir())?;
        let content = survey(&view, Files::All)?.stored_content(&view)?;
        Ok(Held { worktree, view, index, content, _lock: lock })
    }

    /// Keeps the files under a reference, if they are not those of HEAD.
    fn keep(&self, name: &str, message: &str) -> Result<(), GitError> {
        let repository = self.worktree.repository();
        let Some((head, tree)) = repository.commit_and_tree_of("HEAD")? else { return Ok(()) };
        let shared = repository.shared();
        let before = shared.commit_of(name)?;
        let kept = match tree == self.content {
            // One of an earlier landing would come back in its place.
            true if name.ends_with("/uncommitted") => {
                return before.map_or(Ok(()), |before| delete(&shared, name, &before));
            }
            true => head,
            false => write_commit(&self.view, &self.content, Some(&head), message)?,
        };
        set(&shared, name, &kept, before.as_ref(), "longhaul: kept")
    }

    /// Refuses a commit with a file where the worktree has an ignored one, which nothing keeps.
    fn refuse_what_is_in_the_way(&self, to: &CommitId) -> Result<(), GitError> {
        let words = &["diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=A"];
        let call = self.view.call().words(words).value(self.content.as_str())?.value(to.as_str())?;
        let added = call.deadline(LONG).succeed()?;
        let path = |name: &[u8]| self.worktree.path().join(OsStr::from_bytes(name));
        match zero_separated(&added).map(path).find(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Err(refused(format!(
                "the branch has a file where `{}` is ignored; move it away and try again",
                path.display()
            ))),
            None => Ok(()),
        }
    }

    /// Makes the files those of a commit. Ignored files, and what checks left behind, stay.
    fn fill(&self, to: &CommitId) -> Result<(), GitError> {
        let call = self.view.call().words(&["read-tree", "--reset", "-u"]).value(to.as_str())?;
        call.deadline(LONG).succeed().map(drop)
    }

    /// Makes the index that of a commit.
    fn read(&self, commit: &CommitId) -> Result<(), GitError> {
        self.view.call().words(&["read-tree"]).value(commit.as_str())?.deadline(LONG).succeed().map(drop)
    }

    fn install(self) -> Result<(), GitError> {
        // Its exit says whether files differ, which is no failure here.
        self.view.call().words(&["update-index", "-q", "--refresh"]).deadline(LONG).run()?;
        self.index.install(&self.view)
    }
}

impl Repository {
    /// The references that begin so, with what they stand for.
    fn tips_of(&self, prefix: &str) -> Result<Vec<(String, CommitId)>, GitError> {
        let call = self.reading().words(&["for-each-ref", "--format=%(objectname) %(refname)"]);
        let text = String::from_utf8_lossy(&call.value(format!("{prefix}*"))?.succeed()?).into_owned();
        let read = |line: &str| line.split_once(' ').and_then(|(id, name)| Some((name.to_owned(), id.parse().ok()?)));
        Ok(text.lines().filter_map(read).collect())
    }
}

fn refused(text: String) -> GitError {
    GitError::Refused { command: "lending a worktree".to_owned(), text }
}
