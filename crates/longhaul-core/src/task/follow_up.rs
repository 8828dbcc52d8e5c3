//! Follow-ups: tasks that do something with the work of a finished one, which itself never changes. They land it, discard it or restore it.
//! What is fixed when a follow-up is submitted, what its worker is about to do, and what it came to. Nothing here acts.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{NameList, Round};

use crate::ids::TaskId;
use crate::names::TaskName;

/// Where a task's work is to land, and whose commit that will be: as it was at submit, before any agent ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// The branch that was checked out; none if HEAD was detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The person from git's configuration; none if that named nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// How commits are signed, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Signing>,
    /// The URL of the remote that the branch is pushed to, without a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// How a person signs commits. The program comes from their own global configuration when it is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signing {
    /// `gpg.format`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// `user.signingkey`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Destination {
    pub(super) fn is_unknown(&self) -> bool {
        *self == Destination::default()
    }
}

/// The author and committer of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// `user.name`.
    pub name: String,
    /// `user.email`.
    pub email: String,
}

/// What a follow-up does, and with whose work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// The finished task.
    pub task: TaskId,
    /// Its name.
    pub name: TaskName,
    /// What is done with its work.
    pub action: FollowUpAction,
}

/// What is done with the work of a finished task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FollowUpAction {
    /// Bring it onto a branch of the user's.
    Land(Box<LandOrder>),
    /// Remove worktree and branch without landing.
    Discard,
    /// Bring back worktree and branch.
    Restore,
}

/// What is to land, as the person saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandOrder {
    /// The tip of the task's branch. If it moved, nothing lands.
    pub tip: String,
    /// Its tree.
    pub tree: String,
    /// The branch to land on.
    pub onto: String,
    /// The whole message of the commit.
    pub message: String,
    /// Whose commit it is.
    pub author: Author,
    /// Land it although it is not verified.
    pub unverified: bool,
    /// Why, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Keep worktree and branch.
    pub keep: bool,
    /// The directory that all worktrees of the repository share.
    #[serde(default)]
    pub repository: String,
    /// The goal of the finished task, for a fixing session.
    #[serde(default)]
    pub goal: String,
    /// Land what a fixing session changed without asking.
    #[serde(default)]
    pub yes: bool,
    /// As a merge commit, with the commits of the task's branch.
    #[serde(default)]
    pub with_history: bool,
    /// How the commit is signed, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Signing>,
    /// Push it and open a pull request, in place of moving the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequest>,
}

/// Where a pull request is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    /// The URL to push to, as it was at submit.
    pub remote: String,
    /// The branch there.
    pub head: String,
}

impl FollowUpAction {
    /// The stored name, which is also the verb of the operation.
    pub fn kind(&self) -> &'static str {
        match self {
            FollowUpAction::Land(_) => "land",
            FollowUpAction::Discard => "discard",
            FollowUpAction::Restore => "restore",
        }
    }
}

/// The task as lists show it: `landing fix-tests`.
impl fmt::Display for FollowUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doing = match self.action {
            FollowUpAction::Land(_) => "landing",
            FollowUpAction::Discard => "discarding",
            FollowUpAction::Restore => "restoring",
        };
        write!(f, "{doing} {}", self.name)
    }
}

/// Work merged with the branch it is to land on. Stored before the first file changes, so that whoever comes after a crash can finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merge {
    /// The merge commit.
    pub commit: String,
    /// Where the branch was.
    pub target: String,
    /// The paths that git could not merge. In the commit they contain both versions, between markers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

impl Merge {
    /// The conflicts, for people.
    pub fn names(&self) -> NameList {
        NameList::new(self.conflicts.iter().cloned())
    }
}

/// How far a follow-up is with merged work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merging {
    /// The merge.
    pub merge: Merge,
    /// How often the branch has been merged.
    pub turn: u32,
    /// The files of the worktree are those of the merge.
    pub is_placed: bool,
    /// A fixing session changed the work, and no person has read that.
    pub is_unread: bool,
    /// The round that failed, while its checks run on the branch alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Round>,
    /// It is known that the checks that failed pass on the branch alone.
    pub is_compared: bool,
}

impl Merging {
    pub(super) fn next(before: Option<Merging>, merge: &Merge) -> Merging {
        let (turn, is_unread) = before.map_or((0, false), |before| (before.turn, before.is_unread));
        let merge = merge.clone();
        Merging { merge, turn: turn + 1, is_placed: false, is_unread, failed: None, is_compared: false }
    }
}

/// A commit that is about to be put on a branch. Stored before the first file changes, so that whoever comes after a crash can finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    /// The commit to land.
    pub commit: String,
    /// Where the branch was when the commit was made.
    pub from: String,
}

/// What a follow-up came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FollowUpResult {
    /// The work is on the branch.
    Landed {
        /// As this commit.
        commit: String,
        /// On this branch.
        onto: String,
        /// Where the branch was before.
        from: String,
        /// The checkout that was updated with it, if the branch is checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkout: Option<String>,
        /// Why worktree and branch are still there, if they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
    /// A pull request offers the work.
    PullRequest {
        /// Its address.
        url: String,
        /// The commit that was pushed.
        commit: String,
        /// To this branch of the remote.
        head: String,
        /// For this branch.
        onto: String,
    },
    /// Worktree and branch are removed.
    Discarded {
        /// Why worktree and branch are still there, if they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
    /// Worktree and branch are back.
    Restored,
}

impl FollowUpResult {
    /// The stored name.
    pub fn kind(&self) -> &'static str {
        match self {
            FollowUpResult::Landed { .. } => "landed",
            FollowUpResult::PullRequest { .. } => "pull_request",
            FollowUpResult::Discarded { .. } => "discarded",
            FollowUpResult::Restored => "restored",
        }
    }
}

impl fmt::Display for FollowUpResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FollowUpResult::Landed { commit, onto, .. } => write!(f, "landed as {} on {onto}", short(commit)),
            FollowUpResult::PullRequest { url, onto, .. } => write!(f, "offered as a pull request for {onto}: {url}"),
            FollowUpResult::Discarded { .. } => f.write_str("discarded"),
            FollowUpResult::Restored => f.write_str("restored"),
        }
    }
}

/// The start of an id, as people write it.
pub fn short(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}
