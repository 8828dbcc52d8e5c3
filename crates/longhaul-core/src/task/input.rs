//! What can arrive for a task: commands, which can be refused and then change nothing, and observations, which are always recorded.
//! Sent by front ends (commands) and by effects of the owner (observations); made into events by `decide` alone.

use serde::{Deserialize, Serialize};

use super::{
    AccountLimit, Basis, Cause, Ended, FileHash, FollowUpResult, Landing, Merge, Phase, Reached, ReadTo, RunCall,
    RunnerOptions, Setting, Usage, Workspace,
};
use crate::ids::{SessionId, TaskId};
use crate::time::Time;

/// Something that arrived for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Somebody asks for something.
    Command(Command),
    /// The owner saw something.
    Observation(Box<Observation>),
}

/// What can be asked for. Can be refused, and then writes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Stop the session and wait for a person.
    Pause {
        /// By the stop recipe, or at once.
        mode: StopMode,
    },
    /// Continue.
    Resume {
        /// What changed; needed to leave `needs_help`.
        reason: Option<String>,
        /// Settings changed by the way, such as a raised limit.
        settings: Vec<Setting>,
    },
    /// Change settings of a task that is not finished.
    Edit {
        /// Which.
        settings: Vec<Setting>,
    },
    /// Guidance for the next session.
    Tell {
        /// In words.
        text: String,
    },
    /// Take a person's plan as it is, whatever it changes.
    AcceptPlan {
        /// The whole list.
        text: String,
        /// The SHA-256 of the task directory's list as the person saw it; none when there was none.
        seen: Option<String>,
    },
    /// Stop the session and let a person work in the agent's conversation.
    TakeOver,
    /// The person has ended.
    Release {
        /// How that was seen.
        how: ReleasedBy,
    },
    /// Carry it out by the runner's rules, in this invocation.
    Drive {
        /// What it was asked for.
        run: RunnerOptions,
        /// Settings changed by the way.
        settings: Vec<Setting>,
    },
    /// What the outside program says that executes a tracked run.
    Track {
        /// Which call, with what it says.
        call: Box<RunCall>,
    },
    /// Give the task up.
    Cancel {
        /// Why.
        reason: Option<String>,
    },
    /// Record that a person killed a worker or keeper that did not answer.
    Force {
        /// What was killed.
        target: String,
    },
}

/// What an owner can see. Is always recorded, even where it moves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "observation", rename_all = "snake_case")]
pub enum Observation {
    /// The workspace is fit for the next session, which would have this id.
    Prepared {
        /// Minted by the owner.
        session: SessionId,
        /// The plan's files as they are now.
        plan: PlanFiles,
        /// The files it would start on; none where there is no git to tell.
        tree: Option<String>,
        /// What it was looked at for; a look for something else than what comes next is taken again.
        phase: Option<Phase>,
        /// The expected files, when the result is about to be verified.
        files: Vec<FileHash>,
        /// What else is known of the files, when the result is about to be verified.
        basis: Box<Basis>,
        /// When the hours in which sessions may start begin; none when they have.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opens: Option<Time>,
        /// The conversation whose id is saved in the task directory, for the runner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        saved: Option<String>,
    },
    /// The agent's workspace was made or chosen.
    Placed {
        /// Where.
        workspace: Workspace,
    },
    /// It is not, and why.
    CannotPrepare {
        /// What is missing.
        cause: Cause,
    },
    /// Other tasks of this home have reached usage limits on accounts of this task's agents.
    AccountsLimited {
        /// Which, as far as this task did not know them.
        limits: Vec<AccountLimit>,
    },
    /// A limit is used up by the task's family, so no further session of the agent starts.
    FamilyLimit {
        /// Which.
        reached: Reached,
    },
    /// The plan refused from the agent was put back.
    PlanRestored,
    /// The wait is over, or what was missing is available again.
    Woke,
    /// The task waited for has ended.
    OtherEnded {
        /// Which.
        task: TaskId,
        /// Whether its result is enough for the task that waits.
        verified: bool,
        /// How it ended, in words.
        how: String,
    },
    /// Another landing on the same branch is first.
    InLine {
        /// Which task.
        behind: TaskId,
    },
    /// The branch has commits that the work does not have, and git merged both. No file has changed yet.
    Merged {
        /// The result.
        merge: Merge,
    },
    /// A follow-up is about to put a commit on its branch.
    LandingStarted {
        /// The commit, and where the branch is.
        landing: Landing,
    },
    /// The branch moved before the commit was on it. Nothing changed.
    TargetMoved,
    /// A follow-up did what it is for.
    FollowedUp {
        /// What came of it.
        result: FollowUpResult,
    },
    /// A follow-up cannot do what it is for, and changed nothing.
    CannotFollowUp {
        /// Why, and what to do.
        why: String,
    },
    /// Output was read.
    SessionRead {
        /// Which session.
        session: SessionId,
        /// How far.
        read: ReadTo,
        /// What it said that is worth keeping.
        said: Said,
    },
    /// A session ended.
    SessionEnded {
        /// Which session.
        session: SessionId,
        /// How.
        ended: Box<Ended>,
        /// The plan's files after it.
        plan: PlanFiles,
    },
}

/// How it was seen that a person no longer works in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleasedBy {
    /// The agent's program was waited for.
    Ended,
    /// Nobody holds the lock and no process carries the marker.
    Gone,
}

/// How quickly a session is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopMode {
    /// By the agent's stop recipe.
    Graceful,
    /// At once.
    Immediate,
}

/// What a stretch of output said that is worth keeping.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The agent's own conversation id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Tokens used by this stretch.
    pub usage: Usage,
}

/// The plan's files as the owner saw them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFiles {
    /// `task_list.md`.
    pub list: TaskListFile,
    /// Whether `progress.md` exists.
    pub progress_exists: bool,
}

/// `task_list.md` as the owner saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskListFile {
    /// It is not there.
    Missing,
    /// It exists but cannot be read as text: a link, a directory, too large, not UTF-8.
    Unreadable {
        /// Why.
        why: String,
    },
    /// Its text, and the SHA-256 of its bytes.
    Text {
        /// Lower-case hex.
        hash: String,
        /// The whole text.
        text: String,
    },
}

impl From<Command> for Input {
    fn from(command: Command) -> Input {
        Input::Command(command)
    }
}

impl From<Observation> for Input {
    fn from(observation: Observation) -> Input {
        Input::Observation(Box::new(observation))
    }
}

impl Input {
    /// The verb or fact, for refusals.
    pub fn name(&self) -> &'static str {
        match self {
            Input::Command(command) => command.verb(),
            Input::Observation(observation) => observation.name(),
        }
    }
}

impl Command {
    /// The verb, as the command line spells it.
    pub fn verb(&self) -> &'static str {
        match self {
            Command::Pause { .. } => "pause",
            Command::Resume { .. } => "resume",
            Command::Edit { .. } => "edit",
            Command::Tell { .. } => "tell",
            Command::AcceptPlan { .. } => "accept the plan of",
            Command::TakeOver => "take over",
            Command::Release { .. } => "release",
            Command::Drive { .. } => "drive",
            Command::Track { call } => call.verb(),
            Command::Cancel { .. } => "cancel",
            Command::Force { .. } => "force",
        }
    }
}

impl Observation {
    /// Whether a look at the workspace failed because git could not run.
    pub(crate) fn is_git_failure(&self) -> bool {
        matches!(self, Observation::CannotPrepare { cause: Cause::Git { .. } })
    }

    /// Whether it is the reason why a task does not continue, also where it moves nothing.
    pub(crate) fn is_obstacle(&self) -> bool {
        matches!(self, Observation::CannotPrepare { .. })
    }

    /// The fact, for people.
    pub fn name(&self) -> &'static str {
        match self {
            Observation::Prepared { .. } => "prepared",
            Observation::Placed { .. } => "placed",
            Observation::CannotPrepare { .. } => "cannot prepare",
            Observation::AccountsLimited { .. } => "accounts limited",
            Observation::FamilyLimit { .. } => "family limit reached",
            Observation::PlanRestored => "plan restored",
            Observation::Woke => "woke",
            Observation::OtherEnded { .. } => "other task ended",
            Observation::InLine { .. } => "another landing is first",
            Observation::Merged { .. } => "merged",
            Observation::LandingStarted { .. } => "landing started",
            Observation::TargetMoved => "target moved",
            Observation::FollowedUp { .. } => "followed up",
            Observation::CannotFollowUp { .. } => "cannot follow up",
            Observation::SessionRead { .. } => "session read",
            Observation::SessionEnded { .. } => "session ended",
        }
    }
}
