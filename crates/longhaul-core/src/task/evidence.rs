//! What the checks showed, exactly as observed: commands, exits, trees, files. Nothing here is ever taken from an agent's word.
//! Made by `decide` from observed ends, judged by `verdict`, shown by prompts and reports.

use serde::{Deserialize, Serialize};

use super::Exit;
use crate::ids::SessionId;
use crate::time::Time;

/// One run of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The command, as it was given.
    pub command: String,
    /// The session it ran as; its directory holds the whole output.
    pub session: SessionId,
    /// That session's number within the task.
    pub number: u32,
    /// The status that was waited for.
    pub exit: Exit,
    /// Why it is no pass; none for a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// How long it ran.
    pub lasted_ms: u64,
    /// Its output as kept.
    pub output: OutputSight,
    /// The tracked files before it; none where there is no git to tell.
    pub tree_before: Option<String>,
    /// The tracked files after it.
    pub tree_after: Option<String>,
    /// When its end was observed.
    pub at: Time,
}

/// A check's output as the owner saw it in the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputSight {
    /// SHA-256 of the kept bytes of both streams, lower-case hex; none when they could not be read.
    pub sha256: Option<String>,
    /// How many bytes that are.
    pub bytes: u64,
    /// The last of it, for prompts and reports.
    pub tail: String,
    /// The output itself says that nothing was run.
    #[serde(default)]
    pub nothing_run: bool,
}

/// An expected file as the owner saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSight {
    /// Its path in the workspace, as it was asked for.
    pub path: String,
    /// SHA-256 of its bytes; none when there is no such regular file.
    pub sha256: Option<String>,
}

/// All checks, run one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Counts from 1 within the task.
    pub number: u32,
    /// The round before changed the tree it was run on.
    pub again: bool,
    /// The expected files, as they were at its start.
    pub files: Vec<FileSight>,
    /// The tree it began on; none where there is no git to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// One per check run so far, in order.
    pub evidence: Vec<Evidence>,
    /// What it came to, once it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RoundOutcome>,
}

/// What a round came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundOutcome {
    /// Every check passed on one tree.
    Passed {
        /// Which; none where there is no git to tell.
        tree: Option<String>,
    },
    /// Every check passed, and the tree changed under them.
    TreeChanged,
    /// Something failed.
    Failed {
        /// What.
        why: String,
    },
}

impl Round {
    /// A round that has not run anything yet.
    pub fn new(number: u32, again: bool, files: Vec<FileSight>, tree: Option<String>) -> Round {
        Round { number, again, files, tree, evidence: Vec::new(), outcome: None }
    }
}
