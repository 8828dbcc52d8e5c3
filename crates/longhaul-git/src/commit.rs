//! Keeps work: as a commit on the branch of a worktree of ours, or as a snapshot under a private reference that no branch, index or
//! file notices.
//!
//! Called after sessions that left work uncommitted and before checks. Made of git's low-level commands, so no hook, editor or signature
//! is asked. Where a commit of ours could be wrong it does nothing, says why and leaves it to the agent or a person. In a snapshot, files
//! under a filter are kept as the raw bytes they are.

use std::path::Path;

use longhaul_core::ids::TaskId;

use super::command::{Call, unreadable};
use super::error::GitError;
use super::locks::IndexLock;
use super::references::{CommitId, TreeId, delete, set};
use super::repository::{Head, Repository};
use super::tree::{Files, Start, Survey, survey, survey_from};
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
        let head = repository.commit_and_tree_of("HEAD")?;
        if let Some(why) = self.why_not(head.as_ref())? {
            return Ok(Committed::LeftToAgent { why });
        }
        let view = View::new(repository, Objects::Repository)?;
        let index = IndexLock::take(repository.git_dir())?;
        let start = Start::from(&view, head.as_ref().map(|(_, tree)| tree.clone()))?;
        if start.agent_index.has_conflicts {
            return Ok(Committed::LeftToAgent { why: "files have unresolved conflicts".to_owned() });
        }
        let survey = survey_from(&view, &start, Files::All)?;
        if let Some(why) = survey.problem() {
            return Ok(Committed::LeftToAgent { why });
        }
        let commit = self.commit_tree(&view, head.as_ref(), &survey.tree, message)?;
        // Also when there was nothing to commit: an earlier attempt may have ended before its index was in place.
        index.install(&view)?;
        Ok(Committed::All { commit, survey: Box::new(survey) })
    }

    fn commit_tree(
        &self,
        view: &View<'_>,
        head: Option<&Head>,
        tree: &TreeId,
        message: &str,
    ) -> Result<Option<CommitId>, GitError> {
        if head.is_some_and(|(_, present)| present == tree) {
            return Ok(None);
        }
        let parent = head.map(|(commit, _)| commit);
        let commit = write_commit(view, tree, parent, message)?;
        let name = format!("refs/heads/{}", self.branch());
        set(self.repository(), &name, &commit, parent, "longhaul: commit")?;
        Ok(Some(commit))
    }

    /// Why only the agent or a person can commit here.
    fn why_not(&self, head: Option<&Head>) -> Result<Option<String>, GitError> {
        match in_progress(self.repository().git_dir()) {
            Some(what) => Ok(Some(format!("{what} is in progress"))),
            None => self.off_branch(head),
        }
    }

    /// How somebody switched this worktree to another branch, if so. A rebase only detaches HEAD until it ends.
    pub fn switched(&self) -> Result<Option<String>, GitError> {
        match in_progress(self.repository().git_dir()) {
            Some(_) => Ok(None),
            None => self.on_other_branch(),
        }
    }

    /// How HEAD is not on the branch of this worktree, if it is not.
    pub(super) fn off_branch(&self, head: Option<&Head>) -> Result<Option<String>, GitError> {
        let deleted = || format!("the branch `{}` was deleted", self.branch());
        Ok(self.on_other_branch()?.or_else(|| head.is_none().then(deleted)))
    }

    fn on_other_branch(&self) -> Result<Option<String>, GitError> {
        let branch = self.branch();
        Ok(match self.repository().branch()? {
            None => Some(format!("HEAD is detached, not on `{branch}`")),
            Some(found) if found != branch => Some(format!("HEAD is on `{found}`, not on `{branch}`")),
            Some(_) => None,
        })
    }
}

/// What git is in the middle of, if anything.
pub(super) fn in_progress(git_dir: &Path) -> Option<&'static str> {
    let found = IN_PROGRESS.iter().find(|(name, _)| git_dir.join(name).symlink_metadata().is_ok());
    found.map(|(_, what)| *what)
}

pub(super) const PREFIX: &str = "refs/longhaul/";
pub(super) const LONGHAUL: Identity<'_> = Identity { name: "Longhaul", email: "longhaul@localhost" };

/// The author and committer of a commit.
#[derive(Clone, Copy)]
pub(super) struct Identity<'a> {
    pub(super) name: &'a str,
    pub(super) email: &'a str,
}

impl Repository {
    /// Stores tracked and untracked files as a commit under `name` (`refs/longhaul/<task id>/<n>`), on top of HEAD if there is one.
    ///
    /// Asked again for the same content it answers with the same commit, so a repeat after a crash is harmless.
    pub fn snapshot(&self, name: &str, message: &str) -> Result<CommitId, GitError> {
        self.check_snapshot_name(name)?;
        let _lock = self.lock()?;
        let view = View::new(self, Objects::Repository)?;
        let tree = survey(&view, Files::All)?.stored_content(&view)?;
        self.keep(&view, name, &tree, message)
    }

    /// Keeps the tree that is about to be checked, under a name made of its id.
    pub fn snapshot_to_check(&self, task: TaskId, message: &str) -> Result<Survey, GitError> {
        let _lock = self.lock()?;
        let view = View::new(self, Objects::Repository)?;
        let survey = survey(&view, Files::All)?;
        self.keep(&view, &format!("{PREFIX}{task}/tree-{}", &survey.tree.as_str()[..12]), &survey.tree, message)?;
        Ok(survey)
    }

    fn keep(&self, view: &View<'_>, name: &str, tree: &TreeId, message: &str) -> Result<CommitId, GitError> {
        if let Some((present, found)) = self.commit_and_tree_of(name)? {
            let taken = || GitError::SnapshotTaken { name: name.to_owned() };
            return if found == *tree { Ok(present) } else { Err(taken()) };
        }
        let commit = write_commit(view, tree, self.head_commit()?.as_ref(), message)?;
        set(&self.shared(), name, &commit, None, "longhaul: snapshot")?;
        Ok(commit)
    }

    /// Deletes every snapshot of one task, each only if it is still what was listed. Answers how many there were.
    pub fn remove_snapshots(&self, task: TaskId) -> Result<usize, GitError> {
        let _lock = self.lock()?;
        let below = format!("{PREFIX}{task}/");
        let shared = self.shared();
        let call = shared.reading().words(&["for-each-ref", "--format=%(objectname) %(refname)"]).value(&below)?;
        let text = String::from_utf8_lossy(&call.succeed()?).into_owned();
        for line in text.lines() {
            let read = line.split_once(' ').and_then(|(id, name)| Some((id.parse::<CommitId>().ok()?, name)));
            let (commit, name) = read.ok_or_else(|| unreadable("git for-each-ref", line))?;
            delete(&shared, name, &commit)?;
        }
        Ok(text.lines().count())
    }

    fn check_snapshot_name(&self, name: &str) -> Result<(), GitError> {
        let is_good = name.starts_with(PREFIX) && self.is_reference_name(name)?;
        if is_good { Ok(()) } else { Err(GitError::BadSnapshotName { name: name.to_owned() }) }
    }
}

/// Writes a commit object by us; no hook, signature or editor is asked.
pub(super) fn write_commit(
    view: &View<'_>,
    tree: &TreeId,
    parent: Option<&CommitId>,
    message: &str,
) -> Result<CommitId, GitError> {
    write_commit_by(view, LONGHAUL, tree, parent, message)
}

/// The same by a person, with any number of parents.
pub(super) fn write_commit_by<'parent>(
    view: &View<'_>,
    by: Identity<'_>,
    tree: &TreeId,
    parents: impl IntoIterator<Item = &'parent CommitId>,
    message: &str,
) -> Result<CommitId, GitError> {
    write_commit_with(view.call(), by, tree, parents, message)
}

/// The same by a call that may sign.
pub(super) fn write_commit_with<'parent>(
    call: Call,
    by: Identity<'_>,
    tree: &TreeId,
    parents: impl IntoIterator<Item = &'parent CommitId>,
    message: &str,
) -> Result<CommitId, GitError> {
    let sign: &[&str] = if call.signs() { &["-S"] } else { &[] };
    let mut call = call.words(&["commit-tree", "-F", "-"]).words(sign).input(message.as_bytes().to_vec());
    for who in ["AUTHOR", "COMMITTER"] {
        call = call.variable(&format!("GIT_{who}_NAME"), by.name).variable(&format!("GIT_{who}_EMAIL"), by.email);
    }
    for parent in parents {
        call = call.words(&["-p"]).value(parent.as_str())?;
    }
    let text = call.value(tree.as_str())?.line()?;
    text.parse().map_err(|_| unreadable("git commit-tree", &text))
}
