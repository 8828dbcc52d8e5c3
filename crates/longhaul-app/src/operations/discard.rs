//! `discard`: removes worktree and branch of a finished task without landing its work, or brings them back. A follow-up does it.
//! Everything that is in the worktree is kept under a private reference until `gc` removes the task.

use longhaul_core::task::{Action, FollowUpAction, Right};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::follow_up::{finished, follow_up};
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::views::{FollowUpView, TaskView};

/// The operation `discard`.
pub struct Discard;

/// What `discard` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct DiscardInput {
    /// Name or id of the finished task.
    pub task: String,
    /// Bring worktree and branch back.
    #[serde(default)]
    pub undo: bool,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Discard {
    const ABOUT: About = About::new(
        "discard",
        "Remove the worktree and branch of a finished task without landing its work",
        Action::Manage("discard"),
        VERB_AND_TOOL,
    )
    .route("/tasks/{task}/discard")
    .needs(Right::Approve)
    .by_hand("discard TASK")
    .destroys();
    type Input = DiscardInput;
    type Output = FollowUpView;

    fn key(input: &DiscardInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: DiscardInput) -> Result<Answer<FollowUpView>, AppError> {
        let stored = finished(call, &input.task, "discard").await?;
        let task = &stored.task;
        let name = &task.submission.name;
        if !task.workspace.as_ref().is_some_and(longhaul_core::task::Workspace::is_worktree) {
            let why = format!("`{name}` has no separate worktree, so there is nothing to remove");
            return Ok(Answer::new(FollowUpView::nothing(task)).note([why]));
        }
        let came_to = TaskView::of(call, task.id).await?.followed_up;
        let is_away = came_to.is_some();
        match (input.undo, is_away) {
            (true, false) => Err(AppError::new(ErrorKind::Conflict, format!("the work of `{name}` was not discarded"))
                .hint(format!("`longhaul diff {name}` shows it"))),
            (true, true) => follow_up(call, permit.key(), task, FollowUpAction::Restore, 0).await,
            (false, _) => follow_up(call, permit.key(), task, FollowUpAction::Discard, 0).await,
        }
    }
}
