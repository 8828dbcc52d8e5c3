//! `tell`: guidance for the next session, kept until one has received it.
//! A running session is not disturbed; pause and resume the task if it should hear at once.

use longhaul_core::task::{Action, Command};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::request_key::answer;
use crate::send_command::send_keyed;
use crate::views::TaskView;
use crate::{lookup, redact_intake};

/// The operation `tell`.
pub struct Tell;

/// What `tell` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TellInput {
    /// Name or id of the task.
    pub task: String,
    /// The message.
    pub text: String,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Tell {
    const ABOUT: About =
        About::new("tell", "Leave a message for the next session", Action::Command("tell"), VERB_AND_TOOL)
            .route("/tasks/{task}/tell");
    type Input = TellInput;
    type Output = TaskView;

    fn key(input: &TellInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: TellInput) -> Result<Answer<TaskView>, AppError> {
        let stored = lookup::find(call, Some(&input.task)).await?;
        let secret_names = &stored.task.submission.secret_names;
        let (text, masked) = redact_intake(&call.app.system.environment, &input.text, secret_names);
        let sent = send_keyed(call, &stored, Command::Tell { text }, permit.key()).await?;
        let warning = (masked > 0).then(|| format!("{masked} secret value(s) in the message were masked"));
        let answer = answer(call, stored.task.id, sent.repeated).await?;
        Ok(answer.warn(warning))
    }
}
