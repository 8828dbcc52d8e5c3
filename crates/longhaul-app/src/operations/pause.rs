//! `pause`: stops the session and keeps the task until it is resumed. It answers once the session has ended.
//! It never signals an agent itself: the owner does, because only the owner knows that the end was observed.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Action, Command, StopMode};
use longhaul_store::Earlier;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::change::ChangeError;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::send_command::send_keyed;
use crate::stop::{self, PATIENCE, not_stopped, stopped};
use crate::views::TaskView;
use crate::{describe, lookup, until};

/// The operation `pause`.
pub struct Pause;

/// What `pause` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PauseInput {
    /// Name or id of the task; by default the only unfinished task of this project.
    pub task: Option<String>,
    /// Kill the agent instead of asking it to stop.
    pub now: bool,
    /// Kill a worker or keeper that does not answer within 10 seconds.
    pub force: bool,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Pause {
    const ABOUT: About = About::new(
        "pause",
        "Stop the session and keep the task until you resume it",
        Action::Command("pause"),
        VERB_AND_TOOL,
    )
    .route("/tasks/{task}/pause");
    type Input = PauseInput;
    type Output = TaskView;

    fn key(input: &PauseInput) -> Option<&str> {
        input.key.as_deref()
    }

    /// A repeat waits for the end as the first request did, but never kills: the task may be stopping for another reason by now.
    async fn repeat(call: &Call, input: PauseInput, earlier: Earlier) -> Result<Answer<TaskView>, AppError> {
        ended(call, earlier.stored.task.id, &PauseInput { force: false, ..input }).await
    }

    async fn run(call: &Call, permit: Permit, input: PauseInput) -> Result<Answer<TaskView>, AppError> {
        let mode = if input.now { StopMode::Immediate } else { StopMode::Graceful };
        let stored = lookup::find(call, input.task.as_deref()).await?;
        let sent = send_keyed(call, &stored, Command::Pause { mode }, permit.key()).await?;
        Ok(Answer { repeated: sent.repeated, ..ended(call, sent.stored.task.id, &input).await? })
    }
}

/// Waits for the end of the session, which is forced if the person wants that.
async fn ended(call: &Call, task: TaskId, input: &PauseInput) -> Result<Answer<TaskView>, AppError> {
    let mut killed = None;
    let stored = match until(call, task, PATIENCE, stopped).await? {
        Some(stored) => stored,
        None if !input.force => {
            let now = call.store()?.load(task).await?.ok_or(ChangeError::NotFound)?;
            return Err(not_stopped(call, &now));
        }
        None => {
            killed = Some(stop::force(call, task).await?);
            let late = || AppError::new(ErrorKind::TimedOut, "the session has not ended yet");
            until(call, task, PATIENCE, stopped).await?.ok_or_else(late)?
        }
    };
    Ok(Answer::new(TaskView::of(call, task).await?).note(killed).note([describe::next_command(&stored)]))
}
