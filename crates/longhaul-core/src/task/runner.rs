//! One invocation of `run-session`, the drop-in for the existing shell runner: what it was asked for, and how far it is.
//! Made by the command `Drive`, counted by `apply`, asked by `decide/runner.rs`. It ends with the process that made it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ended, Exit, Failure, Outcome, SessionRun, StoppedBy, Task};

/// What one invocation of the runner was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerOptions {
    /// Sessions it may still take; none is as many as it needs.
    pub left: Option<u32>,
    /// Whether its sessions continue the saved conversation.
    pub resume: Resume,
    /// Where the agent starts.
    pub cwd: String,
    /// The saved conversation could not be resumed: the next session starts a new one.
    pub falls_back: bool,
    /// Counters of the agent's reader for the next session of the saved conversation.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub carry: Value,
}

/// Whether a runner's sessions continue the conversation whose id is saved in the task directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// Every one of them, as long as an id is saved.
    Saved,
    /// None.
    Never,
}

impl RunnerOptions {
    /// An invocation that has taken no session yet.
    pub fn new(left: Option<u32>, resume: Resume, cwd: String) -> RunnerOptions {
        RunnerOptions { left, resume, cwd, falls_back: false, carry: Value::Null }
    }

    /// Whether it has taken all sessions it may.
    pub fn is_used_up(&self) -> bool {
        self.left == Some(0)
    }

    /// The conversation that the next session resumes, of the one that is saved.
    pub(super) fn resumes(&self, saved: Option<&String>) -> Option<String> {
        match self.resume {
            Resume::Saved if !self.falls_back => saved.cloned(),
            Resume::Saved | Resume::Never => None,
        }
    }

    /// A resume that failed is not counted: a fresh session takes its place at once. Neither is what never ran.
    fn count(&mut self, session: &SessionRun, ended: &Ended) {
        self.falls_back = session.resume_failed(ended);
        self.carry = ended.carry.clone();
        if !self.falls_back && ended.exit != Exit::NeverStarted {
            self.left = self.left.map(|left| left.saturating_sub(1));
        }
    }
}

impl Task {
    /// Folds a session's end into the invocation that took it.
    pub(super) fn count_runner(&mut self, session: &SessionRun, ended: &Ended) {
        if let Some(run) = &mut self.run {
            run.count(session, ended);
        }
    }
}

impl SessionRun {
    /// Whether a runner's session could not continue the conversation it was to resume. One that the agent found and then left for
    /// another reason can be resumed again; success is exit code 0, whatever the stream said.
    pub fn resume_failed(&self, ended: &Ended) -> bool {
        let failed = !matches!(ended.exit, Exit::Code(0) | Exit::NeverStarted);
        let is_found = self.conversation.is_some() && self.conversation == self.resumes;
        let can_resume = match &ended.outcome {
            Outcome::Failed(Failure::ContextFull | Failure::BadConversation) => false,
            Outcome::Failed(Failure::Limited(_) | Failure::Exhausted(_) | Failure::Auth(_)) => true,
            Outcome::Completed
            | Outcome::Failed(
                Failure::Crashed | Failure::Retryable(_) | Failure::Configuration(_) | Failure::Permission(_),
            ) => is_found,
        };
        self.resumes.is_some() && failed && !can_resume && ended.stopped_by != StoppedBy::Task
    }
}
