//! The one task object of every front end: what lists show of a task, and what every operation that changes a task answers with.
//! Made from the columns of the task's row, so that a list of many thousands is fast.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Driver, FollowUpResult, State, Wait};
use longhaul_core::time::Time;
use longhaul_store::{Cursor, Damaged, Filter, Stored, TaskSummary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::describe::{self, Waiting};
use crate::error::{AppError, ErrorKind};
use crate::hold;
use crate::operation::{Answer, View};
use crate::ownership::Owners;
use crate::slot_wait::Slots;
use crate::views::Outcome;

/// A task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TaskView {
    /// Its id.
    pub id: String,
    /// Its name, unique among the unfinished tasks of its project.
    pub name: String,
    /// The checkout or directory where it was submitted.
    pub project: String,
    /// The task whose agent submitted it.
    pub parent: Option<String>,
    /// The finished task that this one does something with, if it is a follow-up.
    pub follows: Option<String>,
    /// What came of the newest follow-up of this task that is done; null if it has none, and after `discard --undo`.
    pub followed_up: Option<FollowedUp>,
    /// The first line of the goal, at most 200 characters.
    pub goal: String,
    /// The agent that works on it; empty if an outside program executes it.
    pub agent: String,
    /// Who executes it: `supervised` (a worker), `runner` (`run-session`) or `external` (an outside program).
    pub driver: &'static str,
    /// When the outside program last reported; null unless the task is tracked.
    pub reported: Option<String>,
    /// The branch of its worktree, once that exists.
    pub branch: Option<String>,
    /// The stored name of its state.
    pub state: String,
    /// The state in words, for people.
    pub status: String,
    /// Its outcome so far; `wait` ends with the exit code of this.
    pub outcome: Outcome,
    /// `verified`, `not_verified` or `no_checks` once it is done.
    pub result: Option<String>,
    /// How many remarks the result has; `show` lists them.
    pub remarks: u32,
    /// Whether it has ended for good.
    pub is_finished: bool,
    /// Whether it continues only when a person acts.
    pub needs_person: bool,
    /// What it waits for, if it continues automatically.
    pub wait: Option<WaitView>,
    /// Whether a worker is alive to carry it out; null if it needs none.
    pub has_worker: Option<bool>,
    /// The step that is next in its plan, or what its outside program reported last; at most 200 characters.
    pub step: Option<String>,
    /// Null until it has a plan.
    pub progress: Option<Progress>,
    /// How many sessions of agents it had.
    pub sessions: u32,
    /// Working time of all ended agent sessions.
    pub worked_ms: u64,
    /// Tokens of all ended sessions; null if unknown.
    pub tokens: Option<u64>,
    /// Cost of all ended sessions; null if unknown.
    pub cost_usd: Option<f64>,
    /// Tasks with a higher priority start first.
    pub priority: i64,
    /// When it was submitted.
    pub created: String,
    /// When its last event happened.
    pub updated: String,
    /// When it entered this state.
    pub since: String,
}

/// What was done with the work of a finished task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FollowedUp {
    /// `landed` or `discarded`.
    pub kind: String,
    /// The same in words, such as `landed as 1a2b3c4 on main`.
    pub words: String,
}

/// How much of a plan is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// Ticked steps.
    pub done: u32,
    /// All steps.
    pub total: u32,
}

/// What a task waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WaitView {
    /// In words.
    pub why: String,
    /// When it continues, if that is known.
    pub until: Option<String>,
    /// The agent whose usage limit it is.
    pub agent: Option<String>,
}

/// A part of a list.
#[derive(Debug, Default)]
pub(crate) struct TaskPage {
    /// Newest first.
    pub tasks: Vec<TaskView>,
    /// Rows that cannot be read.
    pub damaged: Vec<Damaged>,
    /// Where the next part begins.
    pub next: Option<Cursor>,
}

impl View for TaskView {
    const KIND: &'static str = "task";

    async fn of_repeat(call: &Call, stored: Stored) -> Result<Answer<TaskView>, AppError> {
        Ok(Answer::new(TaskView::of(call, stored.task.id).await?))
    }
}

impl TaskView {
    /// Whether an outside program executes it.
    pub fn is_run(&self) -> bool {
        self.driver == Driver::External.word()
    }

    /// One task that the caller may see, as it is now.
    pub async fn of(call: &Call, task: TaskId) -> Result<TaskView, AppError> {
        let one = Filter { id_prefix: Some(task.to_string()), ..Filter::default() };
        let TaskPage { mut tasks, damaged, .. } = TaskView::page(call, one).await?;
        let damage = damaged.first().map(|row| AppError::new(ErrorKind::Damaged, format!("{}: {}", row.row, row.what)));
        let gone = || AppError::new(ErrorKind::NotFound, "the task no longer exists");
        tasks.pop().ok_or_else(|| damage.unwrap_or_else(gone))
    }

    /// The tasks that the caller may see. The cost of a row does not depend on files or other tables, unless it waits in line or is held.
    pub(crate) async fn page(call: &Call, filter: Filter) -> Result<TaskPage, AppError> {
        let mut found = call.summaries(filter.clone()).await?;
        let owners = Owners::load(call, &found.tasks).await?;
        if owners.any_dead() {
            found = call.summaries(filter).await?;
        }
        let slots = Slots::now(call).await?;
        let mut tasks = Vec::with_capacity(found.tasks.len());
        for summary in found.tasks {
            tasks.push(TaskView::new(call, &slots, &owners, summary).await?);
        }
        Ok(TaskPage { tasks, damaged: found.damaged, next: found.next })
    }

    async fn new(call: &Call, slots: &Slots, owners: &Owners, summary: TaskSummary) -> Result<TaskView, AppError> {
        let in_line = slots.wait_in_list(call, &summary).await?;
        Ok(TaskView {
            status: status(call, &summary, in_line.as_ref()),
            wait: in_line.or_else(|| waiting(&summary)).map(WaitView::from),
            has_worker: owners.has_worker(&summary),
            reported: reported(&summary).map(Time::rfc3339),
            id: summary.task.to_string(),
            parent: summary.parent.map(|parent| parent.to_string()),
            follows: summary.follows.map(|task| task.to_string()),
            followed_up: followed_up(&summary),
            outcome: Outcome::of_summary(&summary),
            result: summary.result.map(|result| result.word().to_owned()),
            remarks: summary.remarks,
            is_finished: summary.is_final,
            needs_person: summary.waits_for_person,
            progress: summary.steps.map(|steps| Progress { done: steps.done, total: steps.total }),
            cost_usd: summary.cost_micros.map(usd),
            created: summary.created.rfc3339(),
            updated: summary.updated.rfc3339(),
            since: summary.since.rfc3339(),
            name: summary.name,
            project: summary.project,
            goal: summary.goal,
            agent: summary.agent,
            driver: summary.driver.word(),
            branch: summary.branch,
            state: summary.state,
            step: summary.step,
            sessions: summary.sessions,
            worked_ms: summary.worked_ms,
            tokens: summary.tokens,
            priority: summary.priority,
        })
    }
}

impl From<Waiting> for WaitView {
    fn from(waiting: Waiting) -> WaitView {
        WaitView { why: waiting.why, until: waiting.until, agent: waiting.agent }
    }
}

/// Millionths of a dollar as dollars.
#[expect(clippy::cast_precision_loss, reason = "no task costs billions of dollars")]
pub(crate) fn usd(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// The state of a task in words, from its row alone.
pub(crate) fn words_of(call: &Call, summary: &TaskSummary) -> String {
    status(call, summary, None)
}

fn status(call: &Call, summary: &TaskSummary, in_line: Option<&Waiting>) -> String {
    if let Some(in_line) = in_line {
        return in_line.in_line();
    }
    match (&summary.wait, summary.result) {
        (Some(State::Held { person, .. }), _) if hold::is_abandoned(call.home(), summary.task) => {
            describe::abandoned(person, &summary.name)
        }
        (Some(State::Tracked { help: None, reported }), _) => describe::last_report(*reported, call.now()),
        (Some(state), _) => describe::state_of(state, summary.wait_agent.as_deref()),
        (None, result) => {
            let result = result.map_or_else(String::new, |result| format!(", {result}{}", remarks(summary.remarks)));
            let since = followed_up(summary).map_or_else(String::new, |came_to| format!("; {}", came_to.words));
            format!("{}{result}{since}", summary.state)
        }
    }
}

/// Worktree and branch are back after `discard --undo`, as if nothing had been done.
fn followed_up(summary: &TaskSummary) -> Option<FollowedUp> {
    let result = summary.came_to.as_ref().filter(|result| **result != FollowUpResult::Restored)?;
    Some(FollowedUp { kind: result.kind().to_owned(), words: result.to_string() })
}

/// The remarks themselves are long; `show` has them.
fn remarks(count: u32) -> String {
    match count {
        0 => String::new(),
        1 => ", 1 remark".to_owned(),
        count => format!(", {count} remarks"),
    }
}

/// When the program of a tracked run last reported.
fn reported(summary: &TaskSummary) -> Option<Time> {
    let Some(State::Tracked { reported, .. }) = &summary.wait else { return None };
    Some(*reported)
}

fn waiting(summary: &TaskSummary) -> Option<Waiting> {
    let Some(State::Waiting { why, until, .. }) = &summary.wait else { return None };
    let agent = summary.wait_agent.clone().filter(|_| matches!(why, Wait::Limit));
    Some(Waiting { why: why.to_string(), until: until.map(Time::rfc3339), agent })
}
