//! `cancel`: ends a task for good. Its files, sessions and history stay; nothing is deleted.
//! It waits a while for the end of a running session.

use std::time::Duration;

use longhaul_core::task::{Action, Command};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::request_key::answer;
use crate::send_command::{reason, send_keyed};
use crate::views::TaskView;
use crate::{lookup, until};

/// How long the session's end is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// The operation `cancel`.
pub struct Cancel;

/// What `cancel` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CancelInput {
    /// Name or id of the task; by default the only unfinished task of this project.
    pub task: Option<String>,
    /// Why, kept in the history.
    pub reason: Option<String>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Cancel {
    const ABOUT: About =
        About::new("cancel", "Cancel a task; its files and history are kept", Action::Command("cancel"), VERB_AND_TOOL)
            .route("/tasks/{task}/cancel")
            .destroys();
    type Input = CancelInput;
    type Output = TaskView;

    fn key(input: &CancelInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: CancelInput) -> Result<Answer<TaskView>, AppError> {
        let stored = lookup::find(call, input.task.as_deref()).await?;
        let command = Command::Cancel { reason: reason(call, input.reason.as_ref(), &stored) };
        let sent = send_keyed(call, &stored, command, permit.key()).await?;
        let task = sent.stored.task.id;
        until(call, task, PATIENCE, |task| task.state.is_final()).await?;
        answer(call, task, sent.repeated).await
    }
}
