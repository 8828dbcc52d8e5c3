//! What the checks showed, exactly as observed: commands, exits, trees, files. Nothing here is ever taken from an agent's word.
//! Made by `decide` from observed ends, judged by `verdict`, shown by prompts and reports.

use serde::{Deserialize, Serialize};

use super::{Doubt, Exit, NameList, Remarks};
use crate::ids::SessionId;
use crate::time::Time;

/// What a command of a round is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckRole {
    /// It checks the result.
    #[default]
    Check,
    /// It makes a worktree or a clean checkout usable. If it fails, nothing else runs there.
    Setup,
}

impl CheckRole {
    /// Its name in events.
    pub fn name(self) -> &'static str {
        match self {
            CheckRole::Check => "check",
            CheckRole::Setup => "setup",
        }
    }
}

/// One run of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The command, as it was given.
    pub command: String,
    /// What it is for.
    pub role: CheckRole,
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
    pub output: CheckOutput,
    /// The tree it ran on; none without git.
    pub tree_before: Option<String>,
    /// What became of the files of that tree; the same id if no content and no mode changed, apart from filtered and
    /// converted files and submodules, which `files` names.
    pub tree_after: Option<String>,
    /// What it did to the files.
    #[serde(default, skip_serializing_if = "FileEffects::is_empty")]
    pub files: FileEffects,
    /// When its end was observed.
    pub at: Time,
}

impl Evidence {
    /// The check as messages name it.
    pub fn title(&self) -> String {
        match self.role {
            CheckRole::Check => format!("`{}`", self.command),
            CheckRole::Setup => format!("setup `{}`", self.command),
        }
    }
}

/// What a check did to the files of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEffects {
    /// Files of the checked tree that are different or gone.
    #[serde(default, skip_serializing_if = "NameList::is_empty")]
    pub changed: NameList,
    /// New files that are not ignored. They are no work: nothing commits them.
    #[serde(default, skip_serializing_if = "NameList::is_empty")]
    pub left: NameList,
    /// Files under a filter that are not as stored after it, whoever changed them. The tree does not hold their content.
    #[serde(default, skip_serializing_if = "NameList::is_empty")]
    pub filtered: NameList,
    /// Files that do not have the bytes that git checks out for them after it, whoever changed them.
    #[serde(default, skip_serializing_if = "NameList::is_empty")]
    pub converted: NameList,
    /// Submodules whose files are not those of their commit after it, whoever changed them.
    #[serde(default, skip_serializing_if = "NameList::is_empty")]
    pub submodules: NameList,
}

impl FileEffects {
    /// Whether every file is as it was.
    pub fn is_empty(&self) -> bool {
        *self == FileEffects::default()
    }
}

/// A check's output as the owner saw it in the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutput {
    /// SHA-256 of the kept bytes of both streams, lower-case hex; none when they could not be read.
    pub sha256: Option<String>,
    /// How many bytes that are.
    pub bytes: u64,
    /// The last of it, for prompts and reports.
    pub tail: String,
    /// The output itself says that no test was run.
    pub nothing_run: bool,
    /// The line in which a build tool said that it had nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to_date: Option<String>,
}

/// An expected file as the owner saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// Its path in the workspace, as it was asked for.
    pub path: String,
    /// SHA-256 of its bytes; none when there is no such regular file.
    pub sha256: Option<String>,
}

/// The files that a round of checks is about, as the owner saw them before the first check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// Why no check can run; something that the agent can change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Why checks that pass verify nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// What the result has to mention.
    #[serde(default, skip_serializing_if = "Remarks::is_empty")]
    pub remarks: Remarks,
    /// The boot of the machine; none where that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// The files are those of the branch to land on, without the work: does what failed with the work fail there too?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_target: bool,
    /// The clean checkout in which the checks run; none for the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Checkout>,
}

impl Basis {
    /// Whether a round that began on another basis may continue on this one: in the same place, and without a reboot between them.
    pub fn continues(&self, begun: &Basis) -> bool {
        let is_same = self.boot == begun.boot && self.checkout == begun.checkout && self.on_target == begun.on_target;
        self.problem.is_none() && is_same
    }
}

/// All checks, run one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Counts from 1 within the task.
    pub number: u32,
    /// The round before changed the tree it was run on.
    pub again: bool,
    /// The expected files, as they were at its start.
    pub files: Vec<FileHash>,
    /// The tree it began on; none without git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// What else is known of the files it began on.
    pub basis: Basis,
    /// One per check run so far, in order.
    pub evidence: Vec<Evidence>,
    /// Its result, once it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RoundOutcome>,
}

/// A clean checkout of the checked tree, made for one round and removed after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkout {
    /// Its root.
    pub root: String,
    /// Where the checks start.
    pub cwd: String,
}

/// The result of a round.
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
    pub fn new(number: u32, again: bool, files: Vec<FileHash>, tree: Option<String>, basis: Basis) -> Round {
        Round { number, again, files, tree, basis, evidence: Vec::new(), outcome: None }
    }

    /// The checks that did not pass, as messages name them.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        self.evidence.iter().filter(|check| check.failure.is_some()).map(Evidence::title)
    }

    /// Whether checks of it are still to be run or judged.
    pub fn is_open(&self) -> bool {
        self.outcome.is_none()
    }
}
