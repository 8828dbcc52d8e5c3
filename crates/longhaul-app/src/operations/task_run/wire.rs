//! A task as TaskRun clients know it: their field names, unix milliseconds, and no field where there is nothing to say.
//! Made from any task; what a supervised one has no words for is derived from its state.

use longhaul_core::task::{Checkpoint, Driver, Reference, ReferenceKind, RunStatus, State, Task, Tracked, Verdict};
use longhaul_core::time::Time;
use longhaul_store::Stored;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::describe;
use crate::error::AppError;
use crate::operation::{Answer, View};

/// What an agent has to know after it asked.
const PARKS: &str =
    "a person has been asked; end your turn now: Longhaul ends this session, and a later one continues with the answer";

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskRun {
    /// The id of the run.
    pub run_id: String,
    /// Its status.
    #[schemars(extend("enum" = RunStatus::WORDS))]
    pub status: &'static str,
    /// Who executes it: `external` (the program that started it), `supervised` or `runner` (Longhaul).
    pub driver: &'static str,
    /// The name that people see.
    pub name: String,
    /// What it is to achieve.
    pub goal: String,
    /// When it is achieved, as its program said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub success_criteria: Vec<String>,
    /// Whether Longhaul itself ran checks on the result. Never true for a run of an outside program.
    pub verified: bool,
    /// The session elsewhere that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The workflow elsewhere that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<String>,
    /// Tasks of another ledger that belong to it.
    pub ledger_task_ids: Vec<String>,
    /// How many ids are no longer kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger_task_ids_truncated: Option<u64>,
    /// How far it is, in its program's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress_summary: Option<String>,
    /// Items it completed, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub completed_items: Vec<String>,
    /// How many completed items are no longer kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_items_truncated: Option<u64>,
    /// Items that failed, with the reason of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub failed_items: Vec<FailedItem>,
    /// How many failed items are no longer kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_items_truncated: Option<u64>,
    /// Where it works now: a step, an address, a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_cursor: Option<String>,
    /// What the program pointed at. Longhaul did not look at it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub last_evidence: Vec<Evidence>,
    /// Set while it waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs_help: Option<HelpView>,
    /// The answer to its last request for help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_reason: Option<String>,
    /// Who gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_by: Option<String>,
    /// When, in unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_at: Option<u64>,
    /// Unix milliseconds.
    pub created_at: u64,
    /// Unix milliseconds.
    pub updated_at: u64,
    /// When it ended, in unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<u64>,
}

/// Something that did not work.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FailedItem {
    /// What failed.
    pub item: String,
    /// Why.
    pub reason: String,
}

/// Something a caller points at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What it is.
    #[schemars(with = "String", extend("enum" = ReferenceKind::WORDS))]
    pub kind: ReferenceKind,
    /// Where it is: an address, an id, a path, a commit.
    #[serde(rename = "ref")]
    pub target: String,
    /// What it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// What a run waits for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HelpView {
    /// Why it cannot continue.
    pub reason: String,
    /// Unix milliseconds.
    pub requested_at: u64,
    /// What would let it continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_hint: Option<String>,
}

/// A summary from which another process can continue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunCheckpoint {
    /// The id of the checkpoint.
    pub checkpoint_id: String,
    /// The id of the run.
    pub run_id: String,
    /// What another process needs to know to continue.
    pub summary: String,
    /// Where it works now: a step, an address, a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_cursor: Option<String>,
    /// What it points at. Longhaul did not look at it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub evidence: Vec<Evidence>,
    /// Items completed so far.
    pub completed_count: u64,
    /// Items failed so far.
    pub failed_count: u64,
    /// The events that it covers, by their `seq`.
    pub source_event_range: EventRange,
    /// Unix milliseconds.
    pub created_at: u64,
}

/// Events of a run, both ends included.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventRange {
    pub from: u64,
    pub to: u64,
}

/// What the operations that change a run answer with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskRunAnswer {
    /// The run.
    pub task_run: TaskRun,
}

impl View for TaskRunAnswer {
    const KIND: &'static str = "task_run";

    async fn of_repeat(_: &Call, stored: Stored) -> Result<Answer<TaskRunAnswer>, AppError> {
        Ok(TaskRunAnswer::of(&stored.task))
    }
}

impl TaskRunAnswer {
    /// The run, with a warning if it still waits for a person: its program must not mistake an accepted report for permission.
    pub(super) fn of(task: &Task) -> Answer<TaskRunAnswer> {
        let parks = task.state.question().map(|_| PARKS.to_owned());
        let waiting = match &task.state {
            State::Tracked { help: Some(help), .. } => Some(format!(
                "the run still waits for a person: {}. It continues when somebody answers, or with status RUNNING and a resume_reason",
                help.reason
            )),
            _ => None,
        };
        Answer::new(TaskRunAnswer { task_run: TaskRun::of(task) }).note(parks).warn(waiting)
    }
}

impl TaskRun {
    /// A task, whoever executes it.
    pub fn of(task: &Task) -> TaskRun {
        let bare = TaskRun::bare(task);
        match &task.tracked {
            Some(tracked) if task.submission.driver == Driver::External => bare.with_reports(tracked),
            Some(tracked) => bare.with_reports(tracked).with_plan(task),
            None => bare.with_plan(task),
        }
    }

    fn bare(task: &Task) -> TaskRun {
        let criteria = &task.submission.criteria;
        TaskRun {
            run_id: task.id.to_string(),
            status: RunStatus::of(task).word(),
            driver: task.submission.driver.word(),
            name: task.submission.name.to_string(),
            goal: task.submission.goal.clone(),
            success_criteria: criteria.iter().map(|criterion| criterion.text.clone()).collect(),
            verified: matches!(task.state.verdict(), Some(Verdict::Verified { .. })),
            session_id: None,
            workflow_id: None,
            ledger_task_ids: Vec::new(),
            ledger_task_ids_truncated: None,
            progress_summary: None,
            completed_items: Vec::new(),
            completed_items_truncated: None,
            failed_items: Vec::new(),
            failed_items_truncated: None,
            current_cursor: None,
            last_evidence: Vec::new(),
            needs_help: HelpView::of(task),
            resume_reason: None,
            resumed_by: None,
            resumed_at: None,
            created_at: task.created.millis(),
            updated_at: task.updated.millis(),
            completed_at: task.state.is_final().then(|| task.since.millis()),
        }
    }

    fn with_reports(self, tracked: &Tracked) -> TaskRun {
        let Tracked { reported, links_dropped, answer, .. } = tracked;
        let answer = answer.as_ref();
        TaskRun {
            session_id: reported.links.session_id.clone(),
            workflow_id: reported.links.workflow_id.clone(),
            ledger_task_ids: reported.links.ledger_task_ids.clone(),
            ledger_task_ids_truncated: more_than_none(*links_dropped),
            progress_summary: reported.summary.clone(),
            completed_items: reported.completed.clone(),
            completed_items_truncated: more_than_none(reported.completed_dropped),
            failed_items: reported
                .failed
                .iter()
                .map(|failed| FailedItem { item: failed.item.clone(), reason: failed.reason.clone() })
                .collect(),
            failed_items_truncated: more_than_none(reported.failed_dropped),
            current_cursor: reported.cursor.clone(),
            last_evidence: reported.references.iter().map(Evidence::from).collect(),
            resume_reason: answer.map(|answer| answer.reason.clone()),
            resumed_by: answer.map(|answer| answer.by.clone()),
            resumed_at: answer.map(|answer| answer.at.millis()),
            ..self
        }
    }

    /// A task of ours: its ticked steps are completed items, before what its agents reported.
    fn with_plan(self, task: &Task) -> TaskRun {
        let plan = task.plan.as_ref().map(|accepted| &accepted.plan);
        let ticked = plan.into_iter().flat_map(|plan| &plan.steps).filter(|step| step.ticked);
        let current = || plan.and_then(|plan| plan.current()).map(|step| step.text.clone());
        TaskRun {
            completed_items: ticked.map(|step| step.text.clone()).chain(self.completed_items).collect(),
            progress_summary: self.progress_summary.or_else(|| plan.map(longhaul_core::plan::Plan::progress)),
            current_cursor: self.current_cursor.or_else(current),
            ..self
        }
    }
}

impl HelpView {
    /// What a task waits for a person for: the question of its program or agent, else what its state needs.
    fn of(task: &Task) -> Option<HelpView> {
        let asked = match &task.state {
            State::Tracked { help, .. } => {
                let help = help.as_ref()?;
                return Some(HelpView::new(&help.reason, help.asked, help.hint.clone()));
            }
            state => state.question(),
        };
        if let Some((question, hint)) = asked {
            return Some(HelpView::new(question, task.since, hint.map(str::to_owned)));
        }
        let stored = || Stored { task: task.clone(), epoch: 0, owner: None };
        let waits = task.state.waits_for_person();
        waits.then(|| HelpView::new(&describe::state(task), task.since, Some(describe::next_command(&stored()))))
    }

    fn new(reason: &str, since: Time, resume_hint: Option<String>) -> HelpView {
        HelpView { reason: reason.to_owned(), requested_at: since.millis(), resume_hint }
    }
}

impl RunCheckpoint {
    /// The newest checkpoint of a run, if it has one.
    pub(super) fn of(task: &Task) -> Option<RunCheckpoint> {
        let checkpoint: &Checkpoint = task.tracked.as_ref()?.checkpoint.as_ref()?;
        Some(RunCheckpoint {
            checkpoint_id: format!("{}.{}", task.id, checkpoint.number),
            run_id: task.id.to_string(),
            summary: checkpoint.summary.clone(),
            current_cursor: checkpoint.cursor.clone(),
            evidence: checkpoint.references.iter().map(Evidence::from).collect(),
            completed_count: checkpoint.completed,
            failed_count: checkpoint.failed,
            source_event_range: EventRange { from: checkpoint.from, to: checkpoint.to },
            created_at: checkpoint.at.millis(),
        })
    }
}

impl From<&Reference> for Evidence {
    fn from(reference: &Reference) -> Evidence {
        let Reference { kind, target, summary } = reference.clone();
        Evidence { kind, target, summary }
    }
}

fn more_than_none(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

/// A driver by its name on the wire.
pub(super) fn driver(name: &str) -> Option<Driver> {
    Driver::ALL.into_iter().find(|driver| driver.word() == name)
}
