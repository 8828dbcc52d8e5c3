//! The report as data: what `show` has of a task, and what happened on the way. What is unknown is null, never zero.
//! Filled from the task, its events and the files of its sessions; nothing is asked of an agent.

use longhaul_core::causes::with_causes;
use longhaul_core::task::{InputFile, Limit, SessionRecord, Task};
use longhaul_store::{Stored, StoredEvent};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Number;

use super::history::{self, Guidance, Happening, Question, RefusedPlan};
use crate::changed_files::{ChangedFiles, FileChange, Unknown};
use crate::describe;
use crate::operation::View;
use crate::views::{Page, ShowView, usd};

/// Everything stored about one task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskReport {
    /// The same as the answer of `show`. The lists of the report continue its lists, in the order of their fields here.
    #[serde(flatten)]
    pub show: ShowView,
    /// The event that led to its state.
    pub because: Option<Happening>,
    /// What the submitter forbade or demanded.
    pub constraints: Vec<String>,
    /// Files to start from.
    pub inputs: Vec<Input>,
    /// Plans that were refused.
    pub refused_plans: Vec<RefusedPlan>,
    /// Every time an agent reached a usage limit.
    pub limits_reached: Vec<Happening>,
    /// Every time only a person could help, and the answer.
    pub questions: Vec<Question>,
    /// Messages of people to sessions.
    pub messages: Vec<Guidance>,
    /// Kills, deaths and lost output.
    pub trouble: Vec<Happening>,
    /// What differs from the start.
    pub changed_files: Changed,
}

impl View for TaskReport {
    const KIND: &'static str = "report";
}

/// A file to start from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Input {
    pub path: String,
    pub sha256: String,
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

/// Gathers what is stored, and ends the page that `show` began.
pub(crate) fn gather(
    show: ShowView,
    stored: &Stored,
    events: &[StoredEvent],
    changed: Result<ChangedFiles, Unknown>,
    page: &mut Page,
) -> TaskReport {
    let submission = &stored.task.submission;
    let because = events.iter().rev().find(|event| describe::explains_state(&event.event));
    let input = |file: &InputFile| Input { path: file.path.clone(), sha256: file.sha256.clone() };
    let mut report = TaskReport {
        because: because.map(history::happening),
        constraints: submission.constraints.clone(),
        inputs: submission.inputs.iter().map(input).collect(),
        refused_plans: history::refused_plans(events),
        limits_reached: history::usage_limits(events),
        questions: history::questions(events),
        messages: history::guidance(&stored.task, events),
        trouble: history::trouble(events),
        changed_files: match changed {
            Ok(ChangedFiles { files, total }) => {
                Changed { files: Some(files), files_total: Some(total), unknown: None }
            }
            Err(unknown) => Changed { files: None, files_total: None, unknown: Some(with_causes(&unknown)) },
        },
        show,
    };
    if stored.task.state.is_final() && report.show.task.followed_up.is_none() {
        report.show.next_step = describe::next_step(stored);
    }
    page.cut(&mut report.refused_plans);
    page.cut(&mut report.limits_reached);
    page.cut(&mut report.questions);
    page.cut(&mut report.messages);
    page.cut(&mut report.trouble);
    report.changed_files.files.iter_mut().for_each(|files| page.cut(files));
    report.show.next = page.next();
    report
}

/// Every limit with what is used of it.
pub(crate) fn limits(task: &Task, records: &[SessionRecord]) -> Vec<LimitRow> {
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
