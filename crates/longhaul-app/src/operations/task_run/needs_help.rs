//! `task_run_needs_help`: the run waits for a person, who sees the reason in `list` and answers with `longhaul resume --reason`.
//! The program reads the answer with `task_run_get`.

use longhaul_core::task::{Action, Report, RunCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Evidence, Said, TaskRunAnswer, answer, find, send};
use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};

/// The operation `task_run_needs_help`.
pub struct TaskRunNeedsHelp;

/// What `task_run_needs_help` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskRunNeedsHelpInput {
    /// The run, as task_run_start returned it.
    pub run_id: String,
    /// Why only a person can help; at most 2048 bytes are kept.
    pub reason: String,
    /// What would let the run continue; at most 2048 bytes are kept.
    #[serde(default)]
    pub resume_hint: Option<String>,
    /// Where the run works now: a step, an address, a line.
    #[serde(default)]
    pub current_cursor: Option<String>,
    /// What the run points at; at most 50.
    #[serde(default)]
    pub last_evidence: Option<Vec<Evidence>>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for TaskRunNeedsHelp {
    const ABOUT: About = About::new(
        "task_run_needs_help",
        "Say that your run cannot continue without a person",
        Action::Report("ask for help with a run"),
        VERB_AND_TOOL,
    )
    .route("/runs/{run_id}/needs_help");
    type Input = TaskRunNeedsHelpInput;
    type Output = TaskRunAnswer;

    fn key(input: &TaskRunNeedsHelpInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: TaskRunNeedsHelpInput) -> Result<Answer<TaskRunAnswer>, AppError> {
        let stored = find(call, &input.run_id).await?;
        let mut said = Said::to(call, &stored);
        let report = Report {
            cursor: said.optional(input.current_cursor.as_ref()),
            references: said.references(input.last_evidence.as_ref())?,
            ..Report::default()
        };
        let (reason, hint) = (said.text(&input.reason), said.optional(input.resume_hint.as_ref()));
        let run_call = RunCall::NeedsHelp { reason, hint, report };
        Ok(answer(&send(call, &stored, run_call, permit.key()).await?, said))
    }
}
