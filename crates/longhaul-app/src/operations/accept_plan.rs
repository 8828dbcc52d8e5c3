//! `accept_plan`: takes a person's list as the plan, whatever it changes.
//! Whether that is allowed now is decided by the core; the file in the task directory is put in order before the next session.

use longhaul_core::task::{Action, Command, Right, Task, TaskListFile};
use longhaul_store::{Committed, Key, Stored};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::task_list;
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL, View};
use crate::send_command::send_keyed;
use crate::views::{PlanView, TaskView};
use crate::{describe, lookup, redact_intake};

/// As long as a list may be.
pub const MOST_BYTES: usize = 4 << 20;

/// The operation `accept_plan`.
pub struct AcceptPlan;

/// What `accept_plan` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AcceptPlanInput {
    /// Name or id of the task; by default the only unfinished task of this project.
    pub task: Option<String>,
    /// The list, with lines such as `- [ ] Task 1: ...`, at most 4 MiB; by default task_list.md in the task directory.
    pub text: Option<String>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(skip_serializing)]
    pub key: Option<String>,
}

/// What was done with a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AcceptedPlan {
    /// The task.
    pub task: TaskView,
    /// Its plan now.
    pub plan: Option<PlanView>,
    /// False if the list was already the accepted plan.
    pub changed: bool,
    /// What a person can do next.
    pub next_step: String,
}

impl View for AcceptedPlan {
    const KIND: &'static str = "accepted_plan";

    async fn of_repeat(call: &Call, stored: Stored) -> Result<Answer<AcceptedPlan>, AppError> {
        Ok(Answer::new(AcceptedPlan::of(call, &stored, false).await?))
    }
}

impl AcceptedPlan {
    async fn of(call: &Call, stored: &Stored, changed: bool) -> Result<AcceptedPlan, AppError> {
        let (task, plan) = (TaskView::of(call, stored.task.id).await?, PlanView::of(&stored.task));
        Ok(AcceptedPlan { task, plan, changed, next_step: describe::next_command(stored) })
    }
}

impl Operation for AcceptPlan {
    const ABOUT: About = About::new(
        "accept_plan",
        "Replace a task's plan with your own list",
        Action::Command("accept a plan"),
        VERB_AND_TOOL,
    )
    .route("/tasks/{task}/plan")
    .needs(Right::Approve)
    .by_hand("plan TASK --accept FILE");
    type Input = AcceptPlanInput;
    type Output = AcceptedPlan;

    fn key(input: &AcceptPlanInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: AcceptPlanInput) -> Result<Answer<AcceptedPlan>, AppError> {
        let stored = lookup::find(call, input.task.as_deref()).await?;
        let list = task_list(call, &stored.task)?;
        let seen = if let TaskListFile::Text { hash, .. } = &list { Some(hash.clone()) } else { None };
        let text = match input.text {
            Some(text) => given(call, &stored.task, &text)?,
            None => from_task_directory(&stored.task, list)?,
        };
        let after = accept(call, &stored, Command::AcceptPlan { text, seen }, permit.key()).await?;
        let changed = after.stored.task.version != stored.task.version;
        let view = AcceptedPlan::of(call, &after.stored, changed).await?;
        Ok(Answer { repeated: after.repeated, ..Answer::new(view) })
    }
}

async fn accept(call: &Call, stored: &Stored, command: Command, key: Option<Key>) -> Result<Committed, AppError> {
    let name = &stored.task.submission.name;
    let running = stored.task.state.session().is_some() && call.caller.actor.session.is_none();
    send_keyed(call, stored, command, key).await.map_err(|error| match error.kind {
        ErrorKind::Conflict if running => {
            error.hint(format!("run `longhaul pause {name}` first, then this command again"))
        }
        _ => error,
    })
}

/// A list without secret values of the caller's environment.
fn given(call: &Call, task: &Task, text: &str) -> Result<String, AppError> {
    if text.len() > MOST_BYTES {
        return Err(AppError::new(ErrorKind::Usage, "the list is longer than 4 MiB"));
    }
    Ok(redact_intake(&call.app.system.environment, text, &task.submission.secret_names).0)
}

fn from_task_directory(task: &Task, list: TaskListFile) -> Result<String, AppError> {
    let unusable = |why: &str| {
        let path = format!("{}/task_list.md", describe::task_directory(task));
        AppError::new(ErrorKind::Usage, format!("cannot take `{path}` as a plan: {why}"))
            .hint("write the list there, or name a file: `longhaul plan TASK --accept FILE`")
    };
    match list {
        TaskListFile::Text { text, .. } => Ok(text),
        TaskListFile::Missing => Err(unusable("it does not exist")),
        TaskListFile::Unreadable { why } => Err(unusable(&why)),
    }
}
