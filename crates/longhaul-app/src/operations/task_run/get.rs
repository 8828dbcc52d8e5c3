//! `task_run_get`: one run or supervised task, on request with its newest events and its newest checkpoint.
//! How a program continues after a restart. It changes nothing.

use longhaul_core::task::{Action, Event, RunStatus, narrate};
use longhaul_store::{History, StoredEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{RunCheckpoint, TaskRun, find};
use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, TOOL, View};
use crate::views::{Page, PageInput};

/// The most events of one answer.
const MOST: u32 = 500;

/// The operation `task_run_get`.
pub struct TaskRunGet;

/// What `task_run_get` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskRunGetInput {
    /// The run, as task_run_start or task_run_list returned it.
    pub run_id: String,
    /// Whether to return its newest events, at most 500.
    #[serde(default)]
    pub include_events: Option<bool>,
    /// Whether to return its newest checkpoint.
    #[serde(default)]
    pub include_checkpoint: Option<bool>,
}

/// A run, and what was asked for besides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskRunDetails {
    /// The run.
    pub task_run: TaskRun,
    /// In order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<RunEvent>>,
    /// How many older events are not in this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_truncated: Option<u64>,
    /// How many of these events cannot be read and are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_damaged: Option<usize>,
    /// The stored checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<RunCheckpoint>,
}

/// Something that happened to a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunEvent {
    /// Gap-free within the run, from 1.
    pub seq: u64,
    /// Unix milliseconds.
    pub ts: u64,
    /// `started`, `updated`, `checkpointed`, `needs_help`, `completed`, `failed` or `cancelled`; of a supervised task also others.
    pub kind: &'static str,
    /// One sentence for people.
    pub text: String,
    /// What it says, in TaskRun's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl View for TaskRunDetails {
    const KIND: &'static str = "task_run_details";
}

impl Operation for TaskRunGet {
    const ABOUT: About =
        About::new("task_run_get", "Read one run, with its events and its newest checkpoint", Action::Read, TOOL)
            .route("/runs/{run_id}");
    type Input = TaskRunGetInput;
    type Output = TaskRunDetails;

    async fn run(call: &Call, _: Permit, input: TaskRunGetInput) -> Result<Answer<TaskRunDetails>, AppError> {
        let stored = find(call, &input.run_id).await?;
        let task = &stored.task;
        let mut view = TaskRunDetails {
            task_run: TaskRun::of(task),
            events: None,
            events_truncated: None,
            events_damaged: None,
            checkpoint: RunCheckpoint::of(task).filter(|_| input.include_checkpoint == Some(true)),
        };
        if input.include_events != Some(true) {
            return Ok(Answer::new(view));
        }
        let History { events, damaged } = call.store()?.newest_events(task.id, &[], MOST).await?;
        view.events_damaged = (!damaged.is_empty()).then_some(damaged.len());
        // The newest ones that fit.
        let mut events: Vec<RunEvent> = events.iter().rev().map(|event| RunEvent::of(task.id, event)).collect();
        Page::new(PageInput { after: 0, limit: Some(MOST) }).cut(&mut events);
        events.reverse();
        let older = events.first().map_or(0, |first| first.seq.saturating_sub(1));
        view.events_truncated = (older > 0).then_some(older);
        view.events = Some(events);
        Ok(Answer::new(view))
    }
}

impl RunEvent {
    fn of(task: longhaul_core::ids::TaskId, stored: &StoredEvent) -> RunEvent {
        let status = |status: RunStatus| Some(json!({ "status": status }));
        let (kind, data) = match &stored.event {
            Event::Submitted { .. } => ("started", None),
            Event::Reported { .. } => ("updated", None),
            Event::HelpAnswered { reason, by } => {
                ("updated", Some(json!({ "status": RunStatus::Running, "resume_reason": reason, "resumed_by": by })))
            }
            Event::Checkpointed { .. } => {
                ("checkpointed", Some(json!({ "checkpoint_id": format!("{task}.{}", stored.seq) })))
            }
            Event::HelpAsked { reason, hint, .. } => {
                let asked = json!({ "reason": reason, "requested_at": stored.at.millis() });
                ("needs_help", Some(with_hint(asked, hint.as_ref())))
            }
            Event::Finished { .. } => ("completed", status(RunStatus::Completed)),
            Event::Failed { .. } => ("failed", status(RunStatus::Failed)),
            Event::Cancelled { .. } => ("cancelled", status(RunStatus::Cancelled)),
            other => (other.kind(), None),
        };
        RunEvent { seq: stored.seq, ts: stored.at.millis(), kind, text: narrate(&stored.event), data }
    }
}

fn with_hint(mut asked: Value, hint: Option<&String>) -> Value {
    if let (Some(fields), Some(hint)) = (asked.as_object_mut(), hint) {
        fields.insert("resume_hint".to_owned(), json!(hint));
    }
    asked
}
