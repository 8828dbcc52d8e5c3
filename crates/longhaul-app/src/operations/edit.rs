//! `edit`: changes limits, checks, agents, modes or priority of a task that is not finished.
//! What a change does to a running session is decided by the core: it counts from the next one, unless a limit is already used up.

use longhaul_core::task::{Action, Command, Right, Submission};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::lookup;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::request_key::answer;
use crate::send_command::send_keyed;
use crate::submit::Changes;
use crate::views::TaskView;

/// The operation `edit`.
pub struct Edit;

/// What `edit` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EditInput {
    /// Name or id of the task; by default the only unfinished task of this project.
    pub task: Option<String>,
    /// The settings to change.
    #[serde(flatten)]
    pub changes: Changes,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Edit {
    const ABOUT: About = About::new(
        "edit",
        "Change the limits, checks, agents, modes or priority of an unfinished task",
        Action::Command("edit"),
        VERB_AND_TOOL,
    )
    .route("/tasks/{task}/edit")
    .needs(Right::Approve)
    .by_hand("edit TASK");
    type Input = EditInput;
    type Output = TaskView;

    fn key(input: &EditInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: EditInput) -> Result<Answer<TaskView>, AppError> {
        let mut settings = input.changes.read()?;
        if settings.is_empty() {
            return Err(
                AppError::new(ErrorKind::Usage, "nothing to change").hint("`longhaul edit --help` lists the settings")
            );
        }
        let stored = lookup::find(call, input.task.as_deref()).await?;
        let warnings = input.changes.resolve(call, &stored.task.submission, &mut settings)?;
        let changed: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let sent = send_keyed(call, &stored, Command::Edit { settings }, permit.key()).await?;
        let removed = input.changes.checks.is_some_and(|checks| checks.is_empty());
        let left = if removed { still_checked(&sent.stored.task.submission) } else { None };
        let answer = answer(call, stored.task.id, sent.repeated).await?;
        Ok(answer
            .note([format!("task {}: {}", stored.task.submission.name, changed.join(", "))])
            .note(left)
            .warn(warnings))
    }
}

/// What the result is still verified by without its own checks; it belongs to what was asked for and stays.
fn still_checked(submission: &Submission) -> Option<String> {
    let quoted = |text: &str| format!("`{text}`");
    let commands: Vec<String> = submission.commands().into_iter().map(quoted).collect();
    let files: Vec<String> = submission.expects.iter().map(|path| quoted(path)).collect();
    let parts = [("commands of criteria", commands), ("expected files", files)];
    let kept: Vec<String> = parts
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}", names.join(", ")))
        .collect();
    (!kept.is_empty()).then(|| format!("still checked: {}", kept.join("; ")))
}
