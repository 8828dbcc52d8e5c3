//! `task_run_update`: progress of a run. Without a status the run stays as it is, also while it waits for a person.
//! With status RUNNING and a reason it leaves its own request for help.

use longhaul_core::task::{Action, Links, Report, RunCall, RunStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Evidence, FailedItem, Said, TaskRunAnswer, answer, find, send};
use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};

/// The operation `task_run_update`.
pub struct TaskRunUpdate;

/// What `task_run_update` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskRunUpdateInput {
    /// The run, as task_run_start returned it.
    pub run_id: String,
    /// RUNNING to continue after a request for help. Other statuses have their own tools.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("enum" = ["RUNNING", null]))]
    pub status: Option<RunStatus>,
    /// What changed, to leave NEEDS_HELP.
    #[serde(default)]
    pub resume_reason: Option<String>,
    /// Where the run is, in words; at most 8192 bytes are kept.
    #[serde(default)]
    pub progress_summary: Option<String>,
    /// Items completed since the last report; the newest 500 are kept.
    #[serde(default)]
    pub completed_items: Option<Vec<String>>,
    /// Items failed since the last report; the newest 500 are kept.
    #[serde(default)]
    pub failed_items: Option<Vec<FailedItem>>,
    /// Where the run works now: a step, an address, a line.
    #[serde(default)]
    pub current_cursor: Option<String>,
    /// What the run points at, in place of what it pointed at before; at most 50. An empty list changes nothing.
    #[serde(default)]
    pub last_evidence: Option<Vec<Evidence>>,
    /// Further ids of single executions in another system.
    #[serde(default)]
    pub ledger_task_ids: Option<Vec<String>>,
    /// The workflow that the run is a part of.
    #[serde(default)]
    pub workflow_id: Option<String>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for TaskRunUpdate {
    const ABOUT: About = About::new(
        "task_run_update",
        "Report progress of your run, or continue it after a request for help",
        Action::Report("update a run"),
        VERB_AND_TOOL,
    )
    .route("/runs/{run_id}/update");
    type Input = TaskRunUpdateInput;
    type Output = TaskRunAnswer;

    fn key(input: &TaskRunUpdateInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: TaskRunUpdateInput) -> Result<Answer<TaskRunAnswer>, AppError> {
        let stored = find(call, &input.run_id).await?;
        let mut said = Said::to(call, &stored);
        let links = Links {
            session_id: None,
            workflow_id: said.optional(input.workflow_id.as_ref()),
            ledger_task_ids: said.texts(input.ledger_task_ids.as_ref()),
        };
        let report = Report {
            summary: said.optional(input.progress_summary.as_ref()),
            completed: said.texts(input.completed_items.as_ref()),
            failed: said.failed(input.failed_items.as_ref()),
            cursor: said.optional(input.current_cursor.as_ref()),
            references: said.references(input.last_evidence.as_ref())?,
            links,
            ..Report::default()
        };
        let resume_reason = said.optional(input.resume_reason.as_ref());
        let unused = resume_reason.is_some() && (input.status.is_none() || !stored.task.state.waits_for_person());
        let unused =
            unused.then(|| "resume_reason was not used: it belongs to status RUNNING on a waiting run".to_owned());
        let run_call = RunCall::Update { report, status: input.status, resume_reason };
        Ok(answer(&send(call, &stored, run_call, permit.key()).await?, said).warn(unused))
    }
}
