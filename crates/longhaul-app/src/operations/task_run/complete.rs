//! `task_run_complete`: the end of a run, in its program's own word. It is never verified: Longhaul checked nothing.
//! Nothing changes a run after its end. From inside a session it only records that the agent says so.

use longhaul_core::task::{Action, Report, RunCall, RunStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Evidence, FailedItem, Said, TaskRunAnswer, answer, find, send};
use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};

/// What an agent has to know after it said that it is done.
const UNPROVEN: &str = "noted, and not taken as proof: end your turn now; once every step of task_list.md is ticked, Longhaul runs the checks itself";

/// The operation `task_run_complete`.
pub struct TaskRunComplete;

/// What `task_run_complete` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskRunCompleteInput {
    /// The run, as task_run_start returned it.
    pub run_id: String,
    /// How it ended; COMPLETED by default.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("enum" = ["COMPLETED", "FAILED", "CANCELLED", null]))]
    pub status: Option<RunStatus>,
    /// What came of it, in words; the first line is the reason of a run that failed.
    #[serde(default)]
    pub progress_summary: Option<String>,
    /// Items completed since the last report.
    #[serde(default)]
    pub completed_items: Option<Vec<String>>,
    /// Items failed since the last report.
    #[serde(default)]
    pub failed_items: Option<Vec<FailedItem>>,
    /// What shows the result; at most 50. An empty list changes nothing.
    #[serde(default)]
    pub last_evidence: Option<Vec<Evidence>>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for TaskRunComplete {
    const ABOUT: About = About::new(
        "task_run_complete",
        "End your run for good, as completed, failed or cancelled",
        Action::Report("complete a run"),
        VERB_AND_TOOL,
    )
    .route("/runs/{run_id}/complete")
    .destroys();
    type Input = TaskRunCompleteInput;
    type Output = TaskRunAnswer;

    fn key(input: &TaskRunCompleteInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: TaskRunCompleteInput) -> Result<Answer<TaskRunAnswer>, AppError> {
        let stored = find(call, &input.run_id).await?;
        let mut said = Said::to(call, &stored);
        let report = Report {
            summary: said.optional(input.progress_summary.as_ref()),
            completed: said.texts(input.completed_items.as_ref()),
            failed: said.failed(input.failed_items.as_ref()),
            references: said.references(input.last_evidence.as_ref())?,
            ..Report::default()
        };
        let status = input.status.unwrap_or(RunStatus::Completed);
        let committed = send(call, &stored, RunCall::Complete { status, report }, permit.key()).await?;
        // Whoever executes a run itself ends it; an agent's word ends nothing.
        let unproven = (!committed.stored.task.state.is_final()).then(|| UNPROVEN.to_owned());
        Ok(answer(&committed, said).note(unproven))
    }
}
