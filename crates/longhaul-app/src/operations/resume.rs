//! `resume`: continues a task that is paused, blocked, stopped or needs a person.
//! Whether that is allowed is decided by the core.

use longhaul_core::task::{Action, Command, Need, Refusal, Right};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::AppError;
use crate::lookup;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::request_key::answer;
use crate::send_command::{reason, send_keyed};
use crate::submit::Changes;
use crate::views::TaskView;

/// The operation `resume`.
pub struct Resume;

/// What `resume` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResumeInput {
    /// Name or id of the task; by default the only unfinished task of this project.
    pub task: Option<String>,
    /// What the person changed; required for a task that needs a person.
    pub reason: Option<String>,
    /// Settings to change first.
    #[serde(flatten)]
    pub changes: Changes,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Resume {
    const ABOUT: About = About::new(
        "resume",
        "Continue a task that is paused, blocked, stopped or needs you",
        Action::Command("resume"),
        VERB_AND_TOOL,
    )
    .route("/tasks/{task}/resume")
    .runs_agents()
    .by_hand("resume TASK");
    type Input = ResumeInput;
    type Output = TaskView;

    /// Continuing a task is one thing, giving it other limits or checks another.
    fn need(input: &ResumeInput) -> Need {
        match input.changes.is_empty() {
            true => Need { right: Right::Run, verb: "resume" },
            false => Need { right: Right::Approve, verb: "change a task" },
        }
    }

    fn key(input: &ResumeInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: ResumeInput) -> Result<Answer<TaskView>, AppError> {
        let stored = lookup::find(call, input.task.as_deref()).await?;
        // To continue a landing can mean that its diff was read.
        if stored.task.submission.follow_up.is_some() && !call.caller.rights.include(Right::Approve) {
            let refusal = Refusal::Right { verb: "resume a landing", right: Right::Approve.word() };
            return Err(AppError::from(refusal).hint("ask a person to run `longhaul resume TASK`"));
        }
        let mut settings = input.changes.read()?;
        let warnings = input.changes.resolve(call, &stored.task.submission, &mut settings)?;
        let command = Command::Resume { reason: reason(call, input.reason.as_ref(), &stored), settings };
        let sent = send_keyed(call, &stored, command, permit.key()).await?;
        let answer = answer(call, stored.task.id, sent.repeated).await?;
        Ok(answer.warn(warnings))
    }
}
