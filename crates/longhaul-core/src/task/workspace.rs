//! Where a task's agent works: a worktree of ours, or the user's own checkout. The choice is made at submit, the place at prepare.
//! Kept in the task, so that every later session, check and report means the same directory.

use serde::{Deserialize, Serialize};

/// Where the agent is to work, as decided at submit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the user's own directory.
    #[default]
    InPlace,
    /// In a worktree of ours with its own branch.
    Worktree {
        /// The commit it starts from.
        base: String,
    },
}

/// The place as it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The root of the agent's workspace, which contains `.autonomous`.
    pub root: String,
    /// Where the agent starts: the root, or the same directory below it that the user stood in.
    pub cwd: String,
    /// The branch of the worktree; none in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit the work started from; none without git or without a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Its git data as it was then; another one later is not trusted. None without git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitPlace>,
}

/// Where the git data of a workspace is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitPlace {
    /// Of this working tree: HEAD and index.
    pub dir: String,
    /// What all worktrees of the repository share.
    pub common: String,
}

impl Workspace {
    /// Whether it is a worktree of ours.
    pub fn is_worktree(&self) -> bool {
        self.branch.is_some()
    }
}

/// What was done to keep the work of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saved {
    /// There is no git.
    #[default]
    NoGit,
    /// Nothing had changed.
    Nothing,
    /// Committed on the branch of our worktree.
    Commit(String),
    /// Kept under a private ref, because the directory is the user's.
    Snapshot(String),
    /// Not committed, and why; the files are as the agent left them.
    Left(String),
}
