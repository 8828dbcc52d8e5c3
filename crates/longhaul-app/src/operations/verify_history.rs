//! `verify_history`: recomputes the hash chain of a task's events and rebuilds its state from them.
//! It reports damage and repairs nothing.

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::Serialize;

use super::TaskInput;
use crate::app::Call;
use crate::error::AppError;
use crate::lookup;
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};

/// The operation `verify_history`.
pub struct VerifyHistory;

/// Whether a history is intact.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChainView {
    /// Id of the task.
    pub task_id: String,
    /// How many events were read.
    pub events: u64,
    /// What is wrong; null if the history is intact.
    pub broken: Option<String>,
}

impl View for ChainView {
    const KIND: &'static str = "chain";
}

impl Operation for VerifyHistory {
    const ABOUT: About = About::new(
        "verify_history",
        "Verify the hash chain of a task's history and rebuild its state from it",
        Action::Read,
        COMMAND_LINE,
    )
    .route("/tasks/{task}/chain");
    type Input = TaskInput;
    type Output = ChainView;

    async fn run(call: &Call, _: Permit, input: TaskInput) -> Result<Answer<ChainView>, AppError> {
        let stored = lookup::find_to_read(call, input.task.as_deref()).await?;
        let report = call.store()?.verify(stored.task.id).await?;
        Ok(Answer::new(ChainView { task_id: stored.task.id.to_string(), events: report.events, broken: report.broken }))
    }
}
