//! Keeps the state of a working tree as a commit under a private reference: a rescue that no branch, index or file notices.
//! Called before anything risky and when work is left behind, and by the sweep when the task goes; files under a filter are kept as the raw bytes they are.

use longhaul_core::ids::TaskId;

use super::command::unreadable;
use super::error::GitError;
use super::id::{CommitId, TreeId};
use super::reference::{Before, delete, set};
use super::repository::Repository;
use super::tree::{Files, Survey, survey};
use super::view::{Objects, View};

const PREFIX: &str = "refs/longhaul/";
const NAME: &str = "Longhaul";
const EMAIL: &str = "longhaul@localhost";

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SnapshotError {
    #[error("`{name}` is not a reference below `refs/longhaul/`")]
    BadName { name: String },
    #[error("`{name}` already holds another snapshot")]
    Taken { name: String },
    #[error("failed to take a snapshot of the working tree")]
    Git {
        #[from]
        source: GitError,
    },
}

impl Repository {
    /// Stores tracked and untracked files as a commit under `name` (`refs/longhaul/<task id>/<n>`), on top of HEAD if there is one.
    ///
    /// Asked again for the same content it answers with the same commit, so a repeat after a crash is harmless.
    pub fn snapshot(&self, name: &str, message: &str) -> Result<CommitId, SnapshotError> {
        self.check_snapshot_name(name)?;
        let _lock = self.lock()?;
        let view = View::new(self, Objects::Repository)?;
        let tree = survey(&view, Files::All)?.stored_content(&view)?;
        self.keep(&view, name, &tree, message)
    }

    /// Keeps the tree that is about to be checked, under a name made of its id.
    pub fn snapshot_to_check(&self, task: TaskId, message: &str) -> Result<Survey, SnapshotError> {
        let _lock = self.lock()?;
        let view = View::new(self, Objects::Repository)?;
        let survey = survey(&view, Files::All)?;
        self.keep(&view, &format!("{PREFIX}{task}/tree-{}", &survey.tree.as_str()[..12]), &survey.tree, message)?;
        Ok(survey)
    }

    fn keep(&self, view: &View<'_>, name: &str, tree: &TreeId, message: &str) -> Result<CommitId, SnapshotError> {
        if let Some(present) = self.commit_of(name)? {
            let taken = || SnapshotError::Taken { name: name.to_owned() };
            return if self.tree_of(present.as_str())? == tree.as_str() { Ok(present) } else { Err(taken()) };
        }
        let commit = write_commit(view, tree, self.head_commit()?.as_ref(), message)?;
        set(&self.shared(), name, &commit, &Before::Absent, "longhaul: snapshot")?;
        Ok(commit)
    }

    /// Deletes every snapshot of one task, each only if it is still what was listed. Answers how many there were.
    pub fn remove_snapshots(&self, task: TaskId) -> Result<usize, GitError> {
        let _lock = self.lock()?;
        let below = format!("{PREFIX}{task}/");
        let shared = self.shared();
        let call = shared.call()?.words(&["for-each-ref", "--format=%(objectname) %(refname)"]).value(&below)?;
        let text = String::from_utf8_lossy(&call.succeed()?).into_owned();
        for line in text.lines() {
            let read = line.split_once(' ').and_then(|(id, name)| Some((id.parse::<CommitId>().ok()?, name)));
            let (commit, name) = read.ok_or_else(|| unreadable("git for-each-ref", line))?;
            delete(&shared, name, &commit)?;
        }
        Ok(text.lines().count())
    }

    fn check_snapshot_name(&self, name: &str) -> Result<(), SnapshotError> {
        let is_good = name.starts_with(PREFIX) && self.is_reference_name(name)?;
        if is_good { Ok(()) } else { Err(SnapshotError::BadName { name: name.to_owned() }) }
    }
}

/// Writes a commit object by us; no hook, signature or editor is asked.
pub(super) fn write_commit(
    view: &View<'_>,
    tree: &TreeId,
    parent: Option<&CommitId>,
    message: &str,
) -> Result<CommitId, GitError> {
    let mut call = view.call().words(&["commit-tree", "-F", "-"]).input(message.as_bytes().to_vec());
    for (name, value) in
        [("AUTHOR_NAME", NAME), ("AUTHOR_EMAIL", EMAIL), ("COMMITTER_NAME", NAME), ("COMMITTER_EMAIL", EMAIL)]
    {
        call = call.variable(&format!("GIT_{name}"), value);
    }
    if let Some(parent) = parent {
        call = call.words(&["-p"]).value(parent.as_str())?;
    }
    let text = call.value(tree.as_str())?.line()?;
    text.parse().map_err(|_| unreadable("git commit-tree", &text))
}
