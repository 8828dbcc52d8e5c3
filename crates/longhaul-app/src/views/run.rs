//! What an outside program reported about its run, or agents about their task, for people and for programs that read our views. Used by
//! `show` and the report.
//! `task_run_get` says the same in the words of TaskRun clients.

use longhaul_core::task::{Task, Tracked};
use longhaul_core::time::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// What was reported of a task. Longhaul did not check any of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunView {
    /// The last words about where the work is.
    pub summary: Option<String>,
    /// Where it continues.
    pub cursor: Option<String>,
    /// The newest completed items.
    pub completed: Vec<String>,
    /// How many there are in all.
    pub completed_total: u64,
    /// The newest failed items.
    pub failed: Vec<FailedView>,
    /// How many there are in all.
    pub failed_total: u64,
    /// What was pointed at. Longhaul did not look at it.
    pub references: Vec<ReferenceView>,
    /// The newest summary from which another process can continue.
    pub checkpoint: Option<String>,
    /// When that was stored.
    pub checkpoint_at: Option<String>,
    /// The number of the session whose agent left it; null if an outside program did.
    pub checkpoint_session: Option<u32>,
    /// The answer to the last request for help, and who gave it.
    pub answer: Option<AnswerView>,
    /// When an agent last said that it is done, which proves nothing.
    pub said_done_at: Option<String>,
}

/// Something that did not work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailedView {
    /// What it was.
    pub item: String,
    /// Why it failed.
    pub reason: String,
}

/// Something that the program points at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReferenceView {
    /// Such as `url`, `file` or `commit`.
    pub kind: String,
    /// Its address, path or id.
    pub target: String,
    /// What it shows.
    pub summary: Option<String>,
}

/// An answer to a request for help.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnswerView {
    /// What changed.
    pub reason: String,
    /// Who gave it.
    pub by: String,
    /// When.
    pub at: String,
}

impl RunView {
    /// None if nothing was reported of a task that Longhaul executes.
    pub fn of(task: &Task) -> Option<RunView> {
        task.tracked.as_deref().map(RunView::new)
    }

    /// Whether there is more than a request for help.
    pub fn says_something(&self) -> bool {
        self.summary.is_some() || self.completed_total + self.failed_total > 0 || self.said_done_at.is_some()
    }

    fn new(tracked: &Tracked) -> RunView {
        let Tracked { reported, answer, checkpoint, said_done, .. } = tracked;
        let failed = reported.failed.iter();
        let checkpoint = checkpoint.as_ref();
        RunView {
            summary: reported.summary.clone(),
            cursor: reported.cursor.clone(),
            completed: reported.completed.clone(),
            completed_total: reported.completed.len() as u64 + reported.completed_dropped,
            failed: failed.map(|one| FailedView { item: one.item.clone(), reason: one.reason.clone() }).collect(),
            failed_total: reported.failed.len() as u64 + reported.failed_dropped,
            references: reported
                .references
                .iter()
                .map(|reference| ReferenceView {
                    kind: reference.kind.to_string(),
                    target: reference.target.clone(),
                    summary: reference.summary.clone(),
                })
                .collect(),
            checkpoint: checkpoint.map(|checkpoint| checkpoint.summary.clone()),
            checkpoint_at: checkpoint.map(|checkpoint| checkpoint.at.rfc3339()),
            checkpoint_session: checkpoint.and_then(|checkpoint| checkpoint.session),
            said_done_at: said_done.map(Time::rfc3339),
            answer: answer.as_ref().map(|answer| AnswerView {
                reason: answer.reason.clone(),
                by: answer.by.clone(),
                at: answer.at.rfc3339(),
            }),
        }
    }
}

impl ReferenceView {
    /// On one line.
    pub fn words(&self) -> String {
        let summary = self.summary.as_ref().map_or_else(String::new, |summary| format!(" ({summary})"));
        format!("{} {}{summary}", self.kind, self.target)
    }
}
