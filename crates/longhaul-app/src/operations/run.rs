//! `run`, for assistants: a new task and its end in one call. A long task outlives the call, which then answers like `wait`.
//! The command line has its own `run`, which follows the task on the screen.

use longhaul_core::task::{Action, Need};
use longhaul_store::{Earlier, Stored};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wait::settle;
use super::{Submit, SubmitInput};
use crate::app::Call;
use crate::change::ChangeError;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, Operation, Permit, TOOL};
use crate::views::TaskView;

/// The operation `run`.
pub struct Run;

/// What `run` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunInput {
    /// The new task.
    #[serde(flatten)]
    pub task: SubmitInput,
    /// Answer after this time, which does not affect the task; at most 50 seconds.
    #[serde(default, skip_serializing)]
    pub timeout_ms: Option<u64>,
}

impl Operation for Run {
    const ABOUT: About = About::new(
        "run",
        "Start a task and wait for its end, at most 50 seconds at a time: then it answers that the task is still running",
        Action::Submit("run a task"),
        TOOL,
    )
    .runs_agents()
    .by_hand("run");
    type Input = RunInput;
    type Output = TaskView;

    fn need(input: &RunInput) -> Need {
        Submit::need(&input.task)
    }

    fn key(input: &RunInput) -> Option<&str> {
        Submit::key(&input.task)
    }

    async fn repeat(call: &Call, input: RunInput, earlier: Earlier) -> Result<Answer<TaskView>, AppError> {
        wait(call, earlier.stored, input.timeout_ms).await
    }

    async fn run(call: &Call, permit: Permit, input: RunInput) -> Result<Answer<TaskView>, AppError> {
        let submitted = Submit::run(call, permit, input.task).await?;
        let task = submitted.view.id.parse().map_err(|_| ChangeError::NotFound)?;
        let stored = call.load(task).await?.ok_or(ChangeError::NotFound)?;
        let waited = wait(call, stored, input.timeout_ms).await?;
        let answer = waited.note(submitted.notes).warn(submitted.warnings);
        Ok(Answer { repeated: submitted.repeated, ..answer })
    }
}

/// Waits for a task that is durable. That it cannot be waited for here is no reason to submit it again.
async fn wait(call: &Call, stored: Stored, timeout_ms: Option<u64>) -> Result<Answer<TaskView>, AppError> {
    let task = stored.task.id;
    match settle(call, stored, timeout_ms).await {
        Err(error) if error.kind == ErrorKind::Waiting => {
            Ok(Answer::new(TaskView::of(call, task).await?).note([error.what]).note(error.hints))
        }
        waited => waited,
    }
}
