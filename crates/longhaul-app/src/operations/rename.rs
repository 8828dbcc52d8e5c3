//! `rename`: another name for an unfinished task. Its directory, worktree and branch keep the names that they were made with.
//! A name that any stored task of the project has is refused.

use longhaul_core::names::{self, TaskName};
use longhaul_core::task::{Action, Command, Driver, Refusal, Right, Setting, Task};
use longhaul_store::Filter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::intake::redact_intake;
use crate::lookup;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::request_key::answer;
use crate::send_command::send_keyed;
use crate::text;
use crate::views::TaskView;

/// The operation `rename`.
pub struct Rename;

/// What `rename` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct RenameInput {
    /// Name or id of the task.
    pub task: String,
    /// The new name.
    pub name: String,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Rename {
    const ABOUT: About =
        About::new("rename", "Give an unfinished task another name", Action::Command("rename"), VERB_AND_TOOL)
            .route("/tasks/{task}/rename")
            .needs(Right::Run)
            .by_hand("rename TASK NAME");
    type Input = RenameInput;
    type Output = TaskView;

    fn key(input: &RenameInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: RenameInput) -> Result<Answer<TaskView>, AppError> {
        let name = TaskName::new(&input.name).map_err(|error| {
            AppError::new(ErrorKind::Usage, format!("{}; {}", text::safe(&error.to_string()), names::RULE))
        })?;
        if redact_intake(&call.app.system.environment, &input.name, &[]).1 > 0 {
            return Err(AppError::new(
                ErrorKind::Usage,
                "the name contains a secret value from this shell's environment",
            ));
        }
        let stored = lookup::find(call, Some(&input.task)).await?;
        refuse(&stored.task)?;
        if stored.task.submission.name != name {
            refuse_taken(call, &stored.task, &name).await?;
        }
        let old = stored.task.submission.name.clone();
        let command = Command::Edit { settings: vec![Setting::Name(name.clone())] };
        let sent = send_keyed(call, &stored, command, permit.key()).await?;
        let answer = answer(call, stored.task.id, sent.repeated).await?;
        Ok(answer.note([format!("task {old} is now called {name}")]))
    }
}

fn refuse(task: &Task) -> Result<(), AppError> {
    let why = match task.submission.driver {
        _ if task.state.is_final() => "it is finished, and a finished task never changes",
        _ if task.submission.follow_up.is_some() => "it is a follow-up, which is shown by what it does",
        Driver::Runner => "`run-session` finds its files by this name",
        Driver::External => "an outside program executes it and knows it by this name",
        Driver::Supervised => return Ok(()),
    };
    Err(Refusal::WrongState { verb: "rename", from: task.state.name(), why }.into())
}

/// A name means one task, also when that one is finished. What takes the name at the same moment is refused by the store.
async fn refuse_taken(call: &Call, task: &Task, name: &TaskName) -> Result<(), AppError> {
    let filter = Filter {
        project: Some(task.submission.project.clone()),
        name: Some(name.to_string()),
        limit: Some(1),
        ..Filter::default()
    };
    match call.summaries(filter).await?.tasks.pop() {
        Some(other) if other.task != task.id => {
            let what = if other.is_final { "a finished task" } else { "an unfinished task" };
            Err(AppError::new(
                ErrorKind::Conflict,
                format!("{what} of this project is called `{name}`; nothing was changed"),
            )
            .hint("choose another name"))
        }
        Some(_) | None => Ok(()),
    }
}
