//! `tell`: guidance for the next session, kept until one has received it.
//! A running session is not disturbed; pause and resume the task if it should hear at once.

use longhaul_core::task::{Action, Command};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, EVERYWHERE, Effect, Operation, Permit};
use crate::send_command::send_command;
use crate::views::TaskView;
use crate::{lookup, redact_intake};

pub struct Tell;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct TellInput {
    /// Name or id of the task.
    pub task: String,
    /// The message.
    pub text: String,
}

impl Operation for Tell {
    const ABOUT: About = About {
        name: "tell",
        summary: "Give the next session a message",
        effect: Effect::Changes,
        offered_by: EVERYWHERE,
    };
    type Input = TellInput;
    type Output = TaskView;

    fn action(_: &TellInput) -> Action<'static> {
        Action::Command("tell")
    }

    async fn run(call: &Call, _: Permit, input: TellInput) -> Result<Answer<TaskView>, AppError> {
        let stored = lookup::find(call, Some(&input.task)).await?;
        let secret_names = &stored.task.submission.secret_names;
        let (text, masked) = redact_intake(&call.app.system.environment, &input.text, secret_names);
        let stored = send_command(call, &stored, Command::Tell { text }).await?;
        let warning = (masked > 0).then(|| format!("{masked} secret value(s) in the message were masked"));
        Ok(Answer::new(TaskView::of(call, stored.task.id).await?).warn(warning))
    }
}
