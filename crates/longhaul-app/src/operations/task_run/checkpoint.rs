//! `task_run_checkpoint`: a summary from which another process can continue. It never changes the status.
//! `task_run_get` returns the newest one, with the events that it covers.

use longhaul_core::task::{Action, Report, RunCall, Task};
use longhaul_store::{Earlier, Stored, StoredEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Evidence, RunCheckpoint, Said, find, send};
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL, View};

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

/// A checkpoint of the run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckpointAnswer {
    /// The stored checkpoint.
    pub checkpoint: RunCheckpoint,
}

impl View for CheckpointAnswer {
    const KIND: &'static str = "task_run_checkpoint";
}

impl CheckpointAnswer {
    /// The newest checkpoint of a run.
    fn of(task: &Task) -> Result<Answer<CheckpointAnswer>, AppError> {
        let gone = || AppError::new(ErrorKind::Failure, "the checkpoint was stored but cannot be read back");
        Ok(Answer::new(CheckpointAnswer { checkpoint: RunCheckpoint::of(task).ok_or_else(gone)? }))
    }
}

/// The run as it was after one of its events.
async fn as_of(call: &Call, stored: Stored, seq: u64) -> Result<Task, AppError> {
    if stored
        .task
        .tracked
        .as_ref()
        .and_then(|tracked| tracked.checkpoint.as_ref())
        .is_some_and(|newest| newest.number == seq)
    {
        return Ok(stored.task);
    }
    let events = call.store()?.events(stored.task.id, 0, u32::try_from(seq).unwrap_or(u32::MAX)).await?;
    let damaged = || AppError::new(ErrorKind::Damaged, "the run's history does not lead to this checkpoint");
    let then = events.iter().try_fold(None, |task: Option<Task>, StoredEvent { at, event, .. }| match task {
        None => Task::begin(stored.task.id, event, *at).map(Some),
        Some(task) => task.apply(event, *at).map(Some),
    });
    then.map_err(|error| damaged().because(&error))?.ok_or_else(damaged)
}

impl Operation for TaskRunCheckpoint {
    const ABOUT: About = About::new(
        "task_run_checkpoint",
        "Store a summary of your run from which another process can continue",
        Action::Report("checkpoint a run"),
        VERB_AND_TOOL,
    )
    .route("/runs/{run_id}/checkpoint");
    type Input = TaskRunCheckpointInput;
    type Output = CheckpointAnswer;

    fn key(input: &TaskRunCheckpointInput) -> Option<&str> {
        input.key.as_deref()
    }

    /// A repeat is about its own checkpoint, also if there is a newer one.
    async fn repeat(
        call: &Call,
        _: TaskRunCheckpointInput,
        Earlier { stored, seq }: Earlier,
    ) -> Result<Answer<CheckpointAnswer>, AppError> {
        CheckpointAnswer::of(&as_of(call, stored, seq).await?)
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
        let answer = CheckpointAnswer::of(&committed.stored.task)?.warn(said.warnings());
        Ok(Answer { repeated: committed.repeated, ..answer })
    }
}
