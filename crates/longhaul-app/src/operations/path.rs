//! `path`: the directory in which a task's agent works, for `cd`, editors and scripts.
//! Needs no worker and only reads.

use std::path::Path as FilePath;

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::Serialize;

use super::TaskInput;
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::lookup;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL, View};

/// The operation `path`.
pub struct Path;

/// Where a task works.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PathView {
    /// Id of the task.
    pub task_id: String,
    /// Its name.
    pub name: String,
    /// The root of its worktree, or of your checkout if it works in place.
    pub root: String,
    /// Where its agent starts: the root, or a directory below it.
    pub cwd: String,
    /// The branch of its worktree; null in place.
    pub branch: Option<String>,
    /// Whether an agent or a check works there now.
    pub is_live: bool,
}

impl View for PathView {
    const KIND: &'static str = "path";
}

impl Operation for Path {
    const ABOUT: About = About::new("path", "Show the directory that a task works in", Action::Read, VERB_AND_TOOL)
        .route("/tasks/{task}/path");
    type Input = TaskInput;
    type Output = PathView;

    async fn run(call: &Call, _: Permit, input: TaskInput) -> Result<Answer<PathView>, AppError> {
        let stored = lookup::find_executed(call, input.task.as_deref()).await?;
        let task = &stored.task;
        let name = task.submission.name.to_string();
        let Some(workspace) = &task.workspace else {
            return Err(AppError::new(ErrorKind::Conflict, format!("`{name}` has no workspace yet"))
                .hint(format!("`longhaul why {name}` shows what it waits for")));
        };
        if !FilePath::new(&workspace.root).is_dir() {
            return Err(AppError::new(ErrorKind::Conflict, format!("the worktree of `{name}` is removed"))
                .hint(format!("`longhaul discard --undo {name}` brings it back")));
        }
        Ok(Answer::new(PathView {
            task_id: task.id.to_string(),
            name,
            root: workspace.root.clone(),
            cwd: workspace.cwd.clone(),
            branch: workspace.branch.clone(),
            is_live: task.state.session().is_some(),
        }))
    }
}
