//! The sessions of a task as rows of the report: purpose, agent, outcome, exit, time, tokens, money, what became of the work.
//! From stored events only. Tokens and money that no program reported are unknown, which is not zero.

use crate::Home;
use longhaul_core::task::{Delivered, Ended, Failure, Gap, Outcome, Saved, SessionRecord, StoppedBy, sessions};
use longhaul_store::StoredEvent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::describe;
use crate::views::usd;

/// One session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionRow {
    /// Counts from 1 within the task.
    pub number: u32,
    /// Its id.
    pub id: String,
    /// `plan`, `work`, `fix` or `check`.
    pub purpose: String,
    /// Null for a check, which has no agent.
    pub agent: Option<String>,
    /// The command of a check.
    pub command: Option<String>,
    /// The agent's own id of its conversation.
    pub conversation: Option<String>,
    /// The conversation that it was asked to continue.
    pub resumed: Option<String>,
    /// Which attempt at its piece of work it was.
    pub attempt: u32,
    /// How it began; null for a check.
    pub opening: Option<String>,
    /// Whether it lost the conversation it should have continued.
    pub degraded: bool,
    /// Whether its prompt is in the agent's own transcript: `yes`, `no`, `no_transcript` or `unknown`; null for a check and while it runs.
    #[schemars(with = "Option<String>")]
    pub delivered: Option<Delivered>,
    /// What the agent wanted and was refused.
    pub denied: Vec<String>,
    /// When it started.
    pub started: String,
    /// Null while it runs.
    pub outcome: Option<&'static str>,
    /// What the agent reported as its failure.
    pub error: Option<String>,
    /// How its program ended.
    pub exit: Option<String>,
    /// Who ended it: `itself`, `task`, `shutdown`, `silence`, `wall` or `over`.
    #[schemars(with = "Option<String>")]
    pub stopped_by: Option<StoppedBy>,
    /// How long it ran.
    pub lasted_ms: Option<u64>,
    /// Tokens that it used; null if unknown.
    pub tokens: Option<u64>,
    /// What it cost; null if unknown.
    pub cost_usd: Option<f64>,
    /// Whether it ticked steps of the plan.
    pub progress: bool,
    /// What was done to keep its work.
    pub saved: Option<SavedWork>,
    /// Whether the tracked files changed; null if git cannot tell.
    pub files_changed: Option<bool>,
    /// Processes that it left behind and that were killed.
    pub leftovers: Option<u32>,
    /// Output that did not reach its log; null while it runs and where the size is unknown.
    pub missing_output_bytes: Option<u64>,
    /// Its directory, with the whole output.
    pub artifact: String,
}

/// What was done to keep the work of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SavedWork {
    /// There is no git.
    NoGit,
    /// There was nothing to keep.
    Nothing,
    /// Committed on the task's branch.
    Commit {
        /// The commit.
        id: String,
    },
    /// Kept under a private reference, because the directory is the user's.
    Snapshot {
        /// The reference.
        reference: String,
    },
    /// Not committed; the files are as the agent left them.
    Left {
        /// Why not.
        why: String,
    },
}

impl From<&Saved> for SavedWork {
    fn from(saved: &Saved) -> SavedWork {
        match saved.clone() {
            Saved::NoGit => SavedWork::NoGit,
            Saved::Nothing => SavedWork::Nothing,
            Saved::Commit(id) => SavedWork::Commit { id },
            Saved::Snapshot(reference) => SavedWork::Snapshot { reference },
            Saved::Left(why) => SavedWork::Left { why },
        }
    }
}

fn missing(gap: Gap) -> Option<u64> {
    match gap {
        Gap::None => Some(0),
        Gap::Bytes(bytes) => Some(bytes),
        Gap::UnknownSize => None,
    }
}

/// One row per session, in order.
pub(crate) fn rows(home: &Home, events: &[StoredEvent]) -> Vec<SessionRow> {
    let records = sessions(events.iter().map(|event| (event.at, &event.event)));
    records.iter().map(|record| row(home, record)).collect()
}

fn row(home: &Home, record: &SessionRecord) -> SessionRow {
    let run = &record.run;
    let ended = record.ended.as_ref();
    SessionRow {
        number: run.number,
        id: run.id.to_string(),
        purpose: run.purpose.to_string(),
        agent: run.purpose.is_agent().then(|| run.agent.clone()),
        command: run.command.clone(),
        conversation: run.conversation.clone(),
        resumed: run.resumes.clone(),
        attempt: run.attempt,
        opening: run.purpose.is_agent().then(|| describe::opening(run)),
        degraded: describe::is_degraded(run),
        delivered: ended.filter(|_| run.purpose.is_agent()).map(|ended| ended.delivered),
        denied: ended.map_or_else(Vec::new, |ended| ended.denied.clone()),
        started: run.started.rfc3339(),
        outcome: ended.map(|ended| session_outcome(ended, run.purpose.is_agent())),
        error: ended.and_then(session_error),
        exit: ended.map(|ended| ended.exit.to_string()),
        stopped_by: ended.map(|ended| ended.stopped_by),
        lasted_ms: ended.map(|ended| ended.lasted_ms),
        tokens: run.usage.total(),
        cost_usd: run.usage.cost_micros.map(usd),
        progress: record.progress,
        saved: ended.map(|ended| SavedWork::from(&ended.saved)),
        files_changed: ended.and_then(|ended| changed(run.tree.as_ref(), ended)),
        leftovers: ended.map(|ended| ended.leftovers),
        missing_output_bytes: ended.and_then(|ended| missing(ended.gap)),
        artifact: home.session(run.id).display().to_string(),
    }
}

fn changed(before: Option<&String>, ended: &Ended) -> Option<bool> {
    Some(before? != ended.tree.as_ref()?)
}

/// How it ended, in words that are ours.
pub(crate) fn session_outcome(ended: &Ended, is_agent: bool) -> &'static str {
    match (&ended.outcome, ended.stopped_by) {
        (_, StoppedBy::Task) => "stopped on request",
        (_, StoppedBy::Shutdown) => "interrupted from outside",
        (_, StoppedBy::Silence) => "silent for too long",
        (_, StoppedBy::Wall) => "ran for too long",
        (_, StoppedBy::Itself | StoppedBy::Lingered) if !is_agent => "ended",
        (Outcome::Completed, StoppedBy::Itself | StoppedBy::Lingered) => "completed",
        (Outcome::Failed(failure), StoppedBy::Itself | StoppedBy::Lingered) => match failure {
            Failure::Crashed => "crashed",
            Failure::Retryable(_) => "temporary failure",
            Failure::Limited(_) => "usage limit",
            Failure::Exhausted(_) => "credits used up",
            Failure::Permission(_) => "not permitted",
            Failure::Auth(_) => "login refused",
            Failure::Configuration(_) => "misconfigured",
            Failure::ContextFull => "conversation full",
            Failure::BadConversation => "conversation unknown",
        },
    }
}

/// What the agent said about its failure: quoted, not believed.
pub(crate) fn session_error(ended: &Ended) -> Option<String> {
    match &ended.outcome {
        Outcome::Failed(
            Failure::Retryable(why)
            | Failure::Auth(why)
            | Failure::Configuration(why)
            | Failure::Exhausted(why)
            | Failure::Permission(why),
        ) => Some(why.clone()),
        Outcome::Failed(Failure::Limited(Some(until))) => Some(format!("usage limit until {}", until.rfc3339())),
        Outcome::Failed(
            Failure::Limited(None) | Failure::Crashed | Failure::ContextFull | Failure::BadConversation,
        )
        | Outcome::Completed => None,
    }
}
