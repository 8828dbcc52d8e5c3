//! `cancel`: ends a task for good. Its files, sessions and history stay; nothing is deleted.
//! It waits a while for the end of a running session.

use std::time::Duration;

use longhaul_core::task::{Action, Command};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, EVERYWHERE, Operation, Permit};
use crate::request_key::{answer, earlier, key_of};
use crate::send_command::{reason, send_keyed};
use crate::views::TaskView;
use crate::{lookup, until};

/// How long the session's end is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Cancel;

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
        About::new("cancel", "Cancel a task; its files and history are kept", Action::Command("cancel"), EVERYWHERE)
            .destroys();
    type Input = CancelInput;
    type Output = TaskView;

    async fn run(call: &Call, _: Permit, input: CancelInput) -> Result<Answer<TaskView>, AppError> {
        let key = key_of::<Cancel>(call, input.key.as_deref(), &input)?;
        if let Some(answer) = earlier(call, key.as_ref()).await? {
            return Ok(answer);
        }
        let stored = lookup::find(call, input.task.as_deref()).await?;
        let command = Command::Cancel { reason: reason(call, input.reason.as_ref(), &stored) };
        let sent = send_keyed(call, &stored, command, key).await?;
        until(call, stored.task.id, PATIENCE, |task| task.state.is_final()).await?;
        answer(call, stored.task.id, sent.repeated).await
    }
}
