//! `task_run_checkpoint`: a summary from which another process can continue. It never changes the status.
//! `task_run_get` returns the newest one, with the events that it covers.

use longhaul_core::task::{Action, Report, RunCall};
use longhaul_store::Stored;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Evidence, RunCheckpoint, Said, find, send};
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, EVERYWHERE, Operation, Permit, View};

/// The operation `task_run_checkpoint`.
pub struct TaskRunCheckpoint;

/// What `task_run_checkpoint` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskRunCheckpointInput {
    /// The run, as task_run_start returned it.
    pub run_id: String,
    /// What another process needs to know to continue; at most 8192 bytes are kept.
    pub summary: String,
    /// Where the run works now: a step, an address, a line.
    #[serde(default)]
    pub current_cursor: Option<String>,
    /// What the run points at; at most 50.
    #[serde(default)]
    pub evidence: Option<Vec<Evidence>>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

/// The newest checkpoint of the run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckpointAnswer {
    /// The stored checkpoint.
    pub checkpoint: RunCheckpoint,
}

impl View for CheckpointAnswer {
    const KIND: &'static str = "task_run_checkpoint";

    async fn of_repeat(_: &Call, stored: Stored) -> Result<CheckpointAnswer, AppError> {
        let gone = || AppError::new(ErrorKind::Failure, "the checkpoint was stored but cannot be read back");
        Ok(CheckpointAnswer { checkpoint: RunCheckpoint::of(&stored.task).ok_or_else(gone)? })
    }
}

impl Operation for TaskRunCheckpoint {
    const ABOUT: About = About::new(
        "task_run_checkpoint",
        "Store a summary of your run from which another process can continue",
        Action::Report("checkpoint a run"),
        EVERYWHERE,
    );
    type Input = TaskRunCheckpointInput;
    type Output = CheckpointAnswer;

    fn key(input: &TaskRunCheckpointInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(
        call: &Call,
        permit: Permit,
        input: TaskRunCheckpointInput,
    ) -> Result<Answer<CheckpointAnswer>, AppError> {
        let stored = find(call, &input.run_id).await?;
        let mut said = Said::to(call, &stored);
        let report = Report {
            summary: Some(said.text(&input.summary)),
            cursor: said.optional(input.current_cursor.as_ref()),
            references: said.references(input.evidence.as_ref())?,
            ..Report::default()
        };
        let committed = send(call, &stored, RunCall::Checkpoint { report }, permit.key()).await?;
        let repeated = committed.repeated;
        let view = CheckpointAnswer::of_repeat(call, committed.stored).await?;
        Ok(Answer { repeated, ..Answer::new(view) }.warn(said.warnings()))
    }
}
