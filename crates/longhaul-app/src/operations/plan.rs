//! `plan`: the steps of a task, what was refused of its list, and how the file in the task directory compares with them.
//! Makes nothing: a task directory that does not exist stays missing.

use std::path::Path;

use longhaul_core::plan;
use longhaul_core::task::{Accepted, Action, Task, TaskListFile};

use super::TaskInput;
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::report::refused_plans;
use crate::views::{PlanAnswer, PlanView, TaskView};
use crate::{TaskDir, describe, lookup, text};

/// The most refused lists that are reported.
const REFUSED: u32 = 100;

/// The operation `plan`.
pub struct Plan;

impl Operation for Plan {
    const ABOUT: About =
        About::new("plan", "Show a task's plan", Action::Read, VERB_AND_TOOL).route("/tasks/{task}/plan");
    type Input = TaskInput;
    type Output = PlanAnswer;

    async fn run(call: &Call, _: Permit, input: TaskInput) -> Result<Answer<PlanAnswer>, AppError> {
        let stored = lookup::find_executed(call, input.task.as_deref()).await?;
        let task = &stored.task;
        let refused = call.newest_events(task.id, &["plan_refused"], REFUSED).await?;
        Ok(Answer::new(PlanAnswer {
            task: TaskView::of(call, task.id).await?,
            plan: PlanView::of(task),
            refused: refused_plans(&refused),
            directory: describe::task_directory(task),
            file: compare(call, task),
        }))
    }
}

/// How the file in the task directory compares with the accepted plan.
fn compare(call: &Call, task: &Task) -> &'static str {
    let same = |accepted: &Accepted, hash: &str, text: &str| {
        hash == accepted.hash || plan::parse(text).is_ok_and(|plan| plan == accepted.plan)
    };
    match (task_list(call, task), &task.plan) {
        (Ok(TaskListFile::Text { hash, text }), Some(accepted)) if same(accepted, &hash, &text) => "as accepted",
        (Ok(TaskListFile::Text { .. }), _) => "changed",
        (Ok(TaskListFile::Missing), _) => "missing",
        (Ok(TaskListFile::Unreadable { .. }) | Err(_), _) => "unreadable",
    }
}

/// The list in the task directory as it is now.
pub(super) fn task_list(call: &Call, task: &Task) -> Result<TaskListFile, AppError> {
    if !Path::new(&describe::task_directory(task)).is_dir() {
        return Ok(TaskListFile::Missing);
    }
    let opened = TaskDir::open(task, call.app.system.environment.clone());
    opened
        .map(|dir| dir.sight().list)
        .map_err(|cause| AppError::new(ErrorKind::Failure, text::safe(&cause.to_string())))
}
