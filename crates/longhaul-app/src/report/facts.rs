//! The report as data: one view, which is also the shape of its JSON. What is unknown is null, never zero.
//! Filled from the task, its events and the files of its sessions; nothing is asked of an agent.

use crate::app::Call;
use crate::mode_warnings;
use longhaul_core::causes::with_causes;
use longhaul_core::task::{Limit, SessionRecord, Submission, Task, sessions};
use longhaul_store::{Notice, Stored, StoredEvent};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Number;

use super::checks::{Checks, checks};
use super::history::{self, Guidance, Happening, Question, RefusedPlan};
use super::notices::{NoticeRow, notices};
use super::sessions::{SessionRow, rows};
use crate::changed_files::{ChangedFiles, FileChange, Unknown};
use crate::describe::{self, ResultFacts, UnavailableAgent};
use crate::operation::View;
use crate::views::{RunView, usd};

/// Everything stored about one task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskReport {
    pub task: String,
    pub name: String,
    pub goal: String,
    pub result: Outcome,
    /// What a person can do next.
    pub next: String,
    pub agent: String,
    /// Agents that replace it at a usage limit.
    pub fallbacks: Vec<String>,
    pub model: Option<String>,
    pub modes: Modes,
    pub project: String,
    pub workspace: WorkspaceFacts,
    pub priority: i64,
    pub retry_of: Option<String>,
    pub created: String,
    pub updated: String,
    pub verification: Checks,
    pub constraints: Vec<String>,
    pub inputs: Vec<Input>,
    pub plan: Option<PlanFacts>,
    /// What its outside program reported; null if Longhaul executes it.
    pub run: Option<RunView>,
    pub refused_plans: Vec<RefusedPlan>,
    pub sessions: Vec<SessionRow>,
    pub changed_files: Changed,
    pub limits: Vec<LimitRow>,
    pub usage_limits: UsageLimits,
    /// How many sessions lost the conversation they should have continued.
    pub degraded: usize,
    pub questions: Vec<Question>,
    pub guidance: Vec<Guidance>,
    pub trouble: Vec<Happening>,
    pub notices: Vec<NoticeRow>,
}

impl View for TaskReport {
    const KIND: &'static str = "report";
}

/// What agents may do, and how sessions follow each other.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Modes {
    pub sandbox: String,
    pub network: bool,
    /// What an open network means for each agent.
    #[serde(skip)]
    pub network_words: Vec<String>,
    /// Warnings about them.
    pub warnings: Vec<String>,
    pub context: String,
    /// The hours of the day in which sessions may start, such as `22:00-07:00`; null for all.
    pub hours: Option<String>,
    /// Names of the prompt templates that are not the built-in ones.
    pub prompts: Vec<String>,
}

/// What the agents' accounts allowed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UsageLimits {
    pub on_limit: String,
    /// Those in force.
    pub now: Vec<UnavailableAgent>,
    /// Every time one was reached.
    pub reached: Vec<Happening>,
}

/// The state of the task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outcome {
    /// The stored name of the state.
    pub state: &'static str,
    /// The state in words, for people.
    pub words: String,
    pub finished: bool,
    /// Null while the task is not done.
    pub verdict: Option<ResultFacts>,
    /// The event that led here.
    pub since: Option<Happening>,
}

/// Where the agent works.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkspaceFacts {
    pub directory: String,
    /// Null until it exists.
    pub kind: Option<&'static str>,
    pub branch: Option<String>,
    pub base: Option<String>,
    pub task_directory: String,
}

/// A file to start from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Input {
    pub path: String,
    pub sha256: String,
}

/// The last accepted plan.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanFacts {
    pub revision: u32,
    pub done: usize,
    pub total: usize,
    pub steps: Vec<StepFacts>,
}

/// One step of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepFacts {
    pub number: u32,
    pub text: String,
    pub ticked: bool,
}

/// The changed files, from version control alone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// The first of them, at most 10,000; null if unknown.
    pub files: Option<Vec<FileChange>>,
    pub files_total: Option<usize>,
    /// Why they are unknown.
    pub unknown: Option<String>,
}

/// How much of a limit is used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LimitRow {
    /// Its name with its unit: `sessions`, `time_ms`, `tokens` or `cost_usd`.
    pub limit: &'static str,
    /// The flag that sets it.
    pub flag: &'static str,
    /// Null if unknown.
    pub used: Option<Number>,
    /// Null without a limit.
    pub cap: Option<Number>,
    /// Both in words.
    pub words: String,
}

impl LimitRow {
    /// Whether at least four fifths of it are used.
    pub fn is_nearly_used(&self) -> bool {
        let amount = |number: &Option<Number>| number.as_ref().and_then(Number::as_f64);
        amount(&self.used).zip(amount(&self.cap)).is_some_and(|(used, cap)| used * 5.0 >= cap * 4.0)
    }
}

/// Gathers what is stored.
pub fn gather(
    call: &Call,
    stored: &Stored,
    events: &[StoredEvent],
    changed: Result<ChangedFiles, Unknown>,
    outbox: &[Notice],
) -> TaskReport {
    let task = &stored.task;
    let submission = &task.submission;
    let rows = rows(call.home(), events);
    TaskReport {
        task: task.id.to_string(),
        name: submission.name.to_string(),
        goal: submission.goal.clone(),
        result: outcome(task, events),
        next: describe::next_step(stored),
        agent: submission.agent.clone(),
        fallbacks: submission.fallbacks.clone(),
        model: submission.model.clone(),
        modes: modes(submission),
        project: submission.project.clone(),
        workspace: workspace(task),
        priority: submission.priority,
        retry_of: submission.retry_of.map(|task| task.to_string()),
        created: task.created.rfc3339(),
        updated: task.updated.rfc3339(),
        verification: checks(call.home(), task, events),
        constraints: submission.constraints.clone(),
        inputs: submission
            .inputs
            .iter()
            .map(|file| Input { path: file.path.clone(), sha256: file.sha256.clone() })
            .collect(),
        plan: plan(task),
        run: RunView::of(task),
        refused_plans: history::refused_plans(events),
        degraded: rows.iter().filter(|row| row.degraded).count(),
        sessions: rows,
        changed_files: match changed {
            Ok(ChangedFiles { files, total }) => {
                Changed { files: Some(files), files_total: Some(total), unknown: None }
            }
            Err(unknown) => Changed { files: None, files_total: None, unknown: Some(with_causes(&unknown)) },
        },
        limits: limits(task, &sessions(events.iter().map(|event| (event.at, &event.event)))),
        usage_limits: UsageLimits {
            on_limit: submission.on_limit.to_string(),
            now: describe::unavailable(task, call.now()),
            reached: history::usage_limits(events),
        },
        questions: history::questions(events),
        guidance: history::guidance(task, events),
        trouble: history::trouble(events),
        notices: notices(task, outbox),
    }
}

fn modes(submission: &Submission) -> Modes {
    Modes {
        sandbox: submission.sandbox.to_string(),
        network: submission.network,
        network_words: describe::network(submission),
        warnings: mode_warnings(submission),
        context: submission.context.to_string(),
        hours: submission.hours.map(|hours| hours.to_string()),
        prompts: submission.prompts.keys().cloned().collect(),
    }
}

fn outcome(task: &Task, events: &[StoredEvent]) -> Outcome {
    let since = events.iter().rev().find(|event| describe::explains_state(&event.event));
    Outcome {
        state: task.state.name(),
        words: describe::state(task),
        finished: task.state.is_final(),
        verdict: task.state.verdict().map(ResultFacts::new),
        since: since.map(history::happening),
    }
}

fn workspace(task: &Task) -> WorkspaceFacts {
    let workspace = task.workspace.as_ref();
    WorkspaceFacts {
        directory: task.cwd().to_owned(),
        kind: workspace.map(|workspace| if workspace.is_worktree() { "worktree" } else { "in place" }),
        branch: workspace.and_then(|workspace| workspace.branch.clone()),
        base: workspace.and_then(|workspace| workspace.base.clone()),
        task_directory: describe::task_directory(task),
    }
}

fn plan(task: &Task) -> Option<PlanFacts> {
    let accepted = task.plan.as_ref()?;
    let steps = accepted.plan.steps.iter();
    Some(PlanFacts {
        revision: accepted.revision,
        done: accepted.plan.done(),
        total: accepted.plan.total(),
        steps: steps
            .map(|step| StepFacts { number: step.number, text: step.text.clone(), ticked: step.ticked })
            .collect(),
    })
}

/// Every limit with what is used of it.
pub fn limits(task: &Task, records: &[SessionRecord]) -> Vec<LimitRow> {
    let row = |limit: Limit| {
        let (used, cap) = (task.used(limit), task.cap(limit));
        let amount = |number: Option<u64>, none: &str| {
            number.map_or_else(|| none.to_owned(), |number| limit.amount(number).to_string())
        };
        let least = used.map_or("", |_| describe::at_least(limit, records));
        let words = format!("{least}{} of {}", amount(used, "unknown"), amount(cap, "unlimited"));
        let number = |amount: Option<u64>| amount.and_then(|amount| number(limit, amount));
        LimitRow { limit: name(limit), flag: limit.flag(), used: number(used), cap: number(cap), words }
    };
    Limit::ALL.into_iter().map(row).collect()
}

/// The name of a limit, with its unit.
fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::Sessions => "sessions",
        Limit::Time => "time_ms",
        Limit::Tokens => "tokens",
        Limit::Cost => "cost_usd",
        Limit::Usage => "usage",
    }
}

/// An amount in the unit that the name of its limit says.
fn number(limit: Limit, amount: u64) -> Option<Number> {
    match limit {
        Limit::Cost => Number::from_f64(usd(amount)),
        Limit::Sessions | Limit::Time | Limit::Tokens | Limit::Usage => Some(amount.into()),
    }
}
