//! What an outside program says about the run that it executes, or an agent about the task that it works on: what is kept of that, and how
//! much.
//!
//! Bounded when a command is decided, so that events are small too; folded by `apply` into the task. Redaction comes before: a cut must
//! never expose half a secret. What a caller hands in is a reference, not evidence: nothing here was observed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{RunStatus, SessionRun, Submission, Task};
use crate::names::TaskName;
use crate::time::Time;

/// The most bytes of each kind of text.
const GOAL: usize = 4096;
const CRITERION: usize = 1024;
const SUMMARY: usize = 8192;
const ITEM: usize = 512;
const REASON: usize = 1024;
const HELP: usize = 2048;
const CURSOR: usize = 2048;
const REFERENCE: usize = 2048;
const LINK: usize = 256;
/// The most entries of each kind of list.
const CRITERIA: usize = 50;
const ITEMS: usize = 500;
const LINKS: usize = 500;
/// The most references of one report.
pub const MOST_REFERENCES: usize = 50;
/// What the reports of one session may add up to, in bytes.
const OF_A_SESSION: u64 = 1024 * 1024;
/// What an event takes besides its report, in bytes.
const EVENT: usize = 1024;
/// What a text ends with that was cut.
const MARK: &str = "… [cut]";

/// What an outside program, or the agent of a live session, asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum RunCall {
    /// Progress, and at most the way back to RUNNING.
    Update {
        /// What it did.
        report: Report,
        /// The status it wants; none keeps it.
        status: Option<RunStatus>,
        /// Why it no longer needs help.
        resume_reason: Option<String>,
    },
    /// A summary from which another process could continue.
    Checkpoint {
        /// With a summary.
        report: Report,
    },
    /// Only a person can help.
    NeedsHelp {
        /// Why.
        reason: String,
        /// What would let it continue.
        hint: Option<String>,
        /// What it did so far.
        report: Report,
    },
    /// The end.
    Complete {
        /// How.
        status: RunStatus,
        /// What it did.
        report: Report,
    },
}

impl RunCall {
    /// The verb, for refusals.
    pub(super) fn verb(&self) -> &'static str {
        match self {
            RunCall::Update { .. } => "update",
            RunCall::Checkpoint { .. } => "checkpoint",
            RunCall::NeedsHelp { .. } => "ask for help with",
            RunCall::Complete { .. } => "complete",
        }
    }
}

/// What a program says in one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Where the run is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Newly completed items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<String>,
    /// Newly failed items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedItem>,
    /// Where it works now: a step, an address, a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// What it points at, in place of the references before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// What it belongs to elsewhere.
    #[serde(skip_serializing_if = "Links::is_empty")]
    pub links: Links,
    /// Completed items that one call had beyond what is kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub completed_dropped: u64,
    /// Failed items that one call had beyond what is kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed_dropped: u64,
}

/// Ids of a run in other systems.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Links {
    /// The caller's own session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The workflow it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<String>,
    /// Single executions of tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ledger_task_ids: Vec<String>,
}

/// Something that did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedItem {
    /// What.
    pub item: String,
    /// Why.
    pub reason: String,
}

/// Something a caller points at. Nobody looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// What it is.
    pub kind: ReferenceKind,
    /// Where it is.
    pub target: String,
    /// What it shows, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// What a reference points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    /// A record of what was done.
    Journal,
    /// A picture of a screen.
    Screenshot,
    /// What was agreed.
    Contract,
    /// One execution of a tool.
    LedgerTask,
    /// A workflow.
    Workflow,
    /// An address.
    Url,
    /// A note for whoever continues.
    Handoff,
    /// A commit.
    Commit,
    /// A file.
    File,
}

spelled! {
    ReferenceKind: Journal = "journal", Screenshot = "screenshot", Contract = "contract", LedgerTask = "ledger_task",
    Workflow = "workflow", Url = "url", Handoff = "handoff", Commit = "commit", File = "file",
}

/// A request for help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelpRequest {
    /// Why.
    pub reason: String,
    /// What would let the run continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Since when.
    pub asked: Time,
}

/// The last answer to a request for help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelpAnswer {
    /// What changed.
    pub reason: String,
    /// Who answered.
    pub by: String,
    /// When.
    pub at: Time,
}

/// A summary from which another process could continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The number of the session whose agent left it; none of an outside program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// The sequence number of its event, which identifies it within the run.
    pub number: u64,
    /// The first event that it covers: the one after the last checkpoint's range.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// In words.
    pub summary: String,
    /// Where the run was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// What it pointed at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Items completed so far, those that are no longer kept too.
    pub completed: u64,
    /// Items failed so far, those that are no longer kept too.
    pub failed: u64,
    /// When.
    pub at: Time,
}

/// What is kept of everything that was reported. It outlasts the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tracked {
    /// The newest of each text, and the newest items, each once; none is both completed and failed.
    #[serde(flatten)]
    pub reported: Report,
    /// Ids of tool executions that are no longer kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub links_dropped: u64,
    /// The last answer to a request for help, until the next request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<HelpAnswer>,
    /// The newest checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// When an agent last said that it is done, which proves nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said_done: Option<Time>,
}

impl Submission {
    /// What a tracked run begins with: no agent, no directory, nothing that could be executed.
    pub fn tracked(goal: &str, name: TaskName, project: String, criteria: &[String], links: Links) -> Submission {
        let criteria = criteria.iter().filter(|text| !text.trim().is_empty()).take(CRITERIA);
        Submission {
            criteria: criteria.map(|text| super::Criterion { text: cut(text, CRITERION), check: None }).collect(),
            driver: super::Driver::External,
            links: links.bounded(),
            ..Submission::new(cut(goal, GOAL), name, project, String::new())
        }
    }
}

impl Report {
    /// The same within the caps. An item that is both has failed: that is the news a reader must not miss.
    pub(super) fn bounded(&self) -> Report {
        let cut_failed = |failed: &FailedItem| FailedItem {
            item: cut(failed.item.trim(), ITEM),
            reason: cut(&failed.reason, REASON),
        };
        let mut failed = Vec::new();
        add_failed(&mut failed, self.failed.iter().map(cut_failed).filter(|failed| !failed.item.is_empty()));
        let is_failed: HashSet<&str> = failed.iter().map(|failed| failed.item.as_str()).collect();
        let items = self.completed.iter().map(|item| cut(item.trim(), ITEM));
        let mut completed = Vec::new();
        add_new(&mut completed, items.filter(|item| !item.is_empty() && !is_failed.contains(item.as_str())));
        let references = &self.references[self.references.len().saturating_sub(MOST_REFERENCES)..];
        Report {
            summary: self.summary.as_deref().filter(|text| !text.trim().is_empty()).map(|text| cut(text, SUMMARY)),
            cursor: kept(self.cursor.as_ref(), CURSOR),
            references: references.iter().map(Reference::bounded).collect(),
            links: self.links.clone().bounded(),
            completed_dropped: self.completed_dropped + keep_newest(&mut completed, ITEMS),
            failed_dropped: self.failed_dropped + keep_newest(&mut failed, ITEMS),
            completed,
            failed,
        }
    }

    /// What it takes to store it, in bytes. Even an empty one is an event.
    fn bytes(&self) -> u64 {
        (EVENT + serde_json::to_string(self).map_or(0, |text| text.len())) as u64
    }

    /// Whether it says nothing.
    pub(super) fn is_empty(&self) -> bool {
        *self == Report::default()
    }
}

impl SessionRun {
    /// The session after its agent has reported this.
    pub(super) fn with_report(&self, report: &Report) -> SessionRun {
        SessionRun { reported: self.reported.saturating_add(report.bytes()), ..self.clone() }
    }

    /// Whether its agent may report this too: one in a loop must not fill the store.
    pub(super) fn may_report(&self, report: &Report) -> bool {
        self.with_report(report).reported <= OF_A_SESSION
    }
}

impl Reference {
    fn bounded(&self) -> Reference {
        let summary = kept(self.summary.as_ref(), REASON);
        Reference { kind: self.kind, target: cut(self.target.trim(), REFERENCE), summary }
    }
}

impl Links {
    pub(super) fn is_empty(&self) -> bool {
        *self == Links::default()
    }

    fn bounded(self) -> Links {
        let ids = self.ledger_task_ids.iter().map(|id| cut(id.trim(), LINK)).filter(|id| !id.is_empty());
        let mut ledger_task_ids = Vec::new();
        add_new(&mut ledger_task_ids, ids);
        keep_newest(&mut ledger_task_ids, LINKS);
        let [session_id, workflow_id] = [&self.session_id, &self.workflow_id].map(|id| kept(id.as_ref(), LINK));
        Links { session_id, workflow_id, ledger_task_ids }
    }
}

/// The texts of a request for help, within their cap.
pub(super) fn bounded_help(text: &str) -> String {
    cut(text.trim(), HELP)
}

impl Tracked {
    /// What is known of a run before its first report.
    pub(super) fn new(links: &Links) -> Tracked {
        Tracked { reported: Report { links: links.clone(), ..Report::default() }, ..Tracked::default() }
    }

    fn fold(&mut self, news: &Report) {
        let known = &mut self.reported;
        known.failed.retain(|failed| !news.completed.contains(&failed.item));
        known.completed.retain(|item| !news.failed.iter().any(|failed| failed.item == *item));
        add_new(&mut known.completed, news.completed.iter().cloned());
        add_failed(&mut known.failed, news.failed.iter().cloned());
        known.completed_dropped += news.completed_dropped + keep_newest(&mut known.completed, ITEMS);
        known.failed_dropped += news.failed_dropped + keep_newest(&mut known.failed, ITEMS);
        replace(&mut known.summary, &news.summary);
        replace(&mut known.cursor, &news.cursor);
        replace(&mut known.links.workflow_id, &news.links.workflow_id);
        if !news.references.is_empty() {
            known.references.clone_from(&news.references);
        }
        add_new(&mut known.links.ledger_task_ids, news.links.ledger_task_ids.iter().cloned());
        self.links_dropped += keep_newest(&mut known.links.ledger_task_ids, LINKS);
    }
}

impl Task {
    fn tracked_mut(&mut self) -> &mut Tracked {
        Arc::make_mut(self.tracked.get_or_insert_default())
    }

    /// Folds a report into what is kept.
    pub(super) fn fold_report(&mut self, report: &Report) {
        self.tracked_mut().fold(report);
    }

    /// Folds an agent's word that it is done.
    pub(super) fn fold_said_done(&mut self, report: &Report) {
        self.fold_report(report);
        self.tracked_mut().said_done = Some(self.updated);
    }

    /// Folds a checkpoint, whose event is the one that made this version.
    pub(super) fn fold_checkpoint(&mut self, report: &Report) {
        self.fold_report(report);
        let (number, at) = (self.version, self.updated);
        let session = self.state.session().map(|session| session.number);
        let tracked = self.tracked_mut();
        tracked.checkpoint = Some(Checkpoint {
            session,
            number,
            from: tracked.checkpoint.as_ref().map_or(1, |last| last.to + 1),
            to: number - 1,
            summary: report.summary.clone().unwrap_or_default(),
            cursor: report.cursor.clone(),
            references: report.references.clone(),
            completed: tracked.reported.completed.len() as u64 + tracked.reported.completed_dropped,
            failed: tracked.reported.failed.len() as u64 + tracked.reported.failed_dropped,
            at,
        });
    }

    /// Folds a request for help: an older answer was to another request.
    pub(super) fn fold_help(&mut self, report: &Report) {
        self.fold_report(report);
        self.tracked_mut().answer = None;
    }

    /// Folds the answer to a request for help. The program of a tracked run reads it; an agent finds it in its next prompt.
    pub(super) fn fold_answer(&mut self, reason: &str, by: &str) {
        let answer = HelpAnswer { reason: reason.to_owned(), by: by.to_owned(), at: self.updated };
        self.tracked_mut().answer = Some(answer);
        if let Some((question, _)) = self.state.question() {
            self.guidance.push(format!("An earlier session asked: {question:?}. The answer: {reason}"));
        }
    }
}

/// Adds failed items to a list: the newest reason of each counts, at the place of the first.
fn add_failed(list: &mut Vec<FailedItem>, items: impl Iterator<Item = FailedItem>) {
    let mut places: HashMap<String, usize> =
        list.iter().enumerate().map(|(place, known)| (known.item.clone(), place)).collect();
    for failed in items {
        match places.get(&failed.item) {
            Some(&place) => list[place].reason = failed.reason,
            None => {
                places.insert(failed.item.clone(), list.len());
                list.push(failed);
            }
        }
    }
}

/// Adds what a list does not have yet.
fn add_new(list: &mut Vec<String>, items: impl Iterator<Item = String>) {
    let mut known: HashSet<String> = list.iter().cloned().collect();
    list.extend(items.filter(|item| known.insert(item.clone())));
}

/// Replaces a text by a newer one, if there is one.
fn replace(known: &mut Option<String>, newer: &Option<String>) {
    if newer.is_some() {
        known.clone_from(newer);
    }
}

/// Drops the oldest entries above a number; says how many.
fn keep_newest<T>(list: &mut Vec<T>, most: usize) -> u64 {
    let dropped = list.len().saturating_sub(most);
    list.drain(..dropped);
    dropped as u64
}

fn kept(text: Option<&String>, cap: usize) -> Option<String> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty()).map(|text| cut(text, cap))
}

/// A text of at most so many bytes, cut between two characters, with a mark that shows it.
fn cut(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    format!("{}{MARK}", &text[..text.floor_char_boundary(cap - MARK.len())])
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
