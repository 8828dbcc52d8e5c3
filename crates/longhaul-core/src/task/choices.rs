//! What a person chooses about the agents of a task: what they may write, how conversations continue, what a usage limit means.
//! Stored in the submission; agents map it to their own flags, `decide` to what comes next.

use serde::{Deserialize, Serialize};

/// What an agent may write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// Nothing.
    ReadOnly,
    /// Its workspace.
    #[default]
    Workspace,
    /// Everything the user may.
    Full,
}

/// When a session continues the conversation of the last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Context {
    /// Never: every session starts a new conversation.
    Fresh,
    /// Always, as long as there is one.
    Resume,
    /// After an interrupted session; a completed one is followed by a new conversation.
    #[default]
    Auto,
}

/// What a usage limit means for the task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLimit {
    /// It waits until the limit is over.
    #[default]
    Wait,
    /// It continues with the next agent in its list, and returns when the limit resets.
    Switch,
    /// A person is asked.
    Ask,
    /// It stops.
    Stop,
}

/// Where checks run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChecksIn {
    /// In a clean checkout if there is a setup command that makes one usable, else in the workspace.
    #[default]
    Auto,
    /// In the workspace, beside whatever is ignored there.
    Workspace,
    /// In a clean checkout of the tree.
    Clean,
}

spelled!(Sandbox: ReadOnly = "read-only", Workspace = "workspace", Full = "full");
spelled!(Context: Fresh = "fresh", Resume = "resume", Auto = "auto");
spelled!(ChecksIn: Auto = "auto", Workspace = "workspace", Clean = "clean");
spelled!(OnLimit: Wait = "wait", Switch = "switch", Ask = "ask", Stop = "stop");
