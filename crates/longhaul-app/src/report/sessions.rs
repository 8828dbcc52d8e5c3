//! The sessions of a task as rows of the report: purpose, agent, outcome, exit, time, tokens, money, what became of the work.
//! From stored events only. Tokens and money that no program told are unknown, which is not zero.

use std::collections::HashMap;

use crate::Home;
use longhaul_core::ids::SessionId;
use longhaul_core::task::{Delivered, Ended, Event, Failure, Gap, Outcome, Saved, SessionRecord, StoppedBy, sessions};
use longhaul_store::StoredEvent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::describe;
use crate::session::agents::Agents;
use crate::views::usd;

/// One session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionRow {
    pub number: u32,
    #[schemars(with = "serde_json::Value")]
    pub id: SessionId,
    pub purpose: String,
    /// Null for a check, which is no agent's.
    pub agent: Option<String>,
    pub command: Option<String>,
    pub conversation: Option<String>,
    pub resumed: Option<String>,
    /// Which try of its piece of work it was.
    pub attempt: u32,
    /// How it began; null for a check.
    pub opening: Option<String>,
    /// Whether it went on otherwise than it should have.
    pub degraded: bool,
    /// Whether its prompt stands in the agent's own transcript; null for a check and while it runs.
    #[schemars(with = "serde_json::Value")]
    pub delivered: Option<Delivered>,
    /// What the agent wanted and was refused.
    pub denied: Vec<String>,
    pub started: String,
    /// Null while it runs.
    pub outcome: Option<&'static str>,
    pub error: Option<String>,
    pub exit: Option<String>,
    #[schemars(with = "serde_json::Value")]
    pub stopped_by: Option<StoppedBy>,
    pub lasted_ms: Option<u64>,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    pub progress: bool,
    #[schemars(with = "serde_json::Value")]
    pub saved: Option<Saved>,
    /// Whether the tracked files changed; null where no git can tell.
    pub files_changed: Option<bool>,
    pub leftovers: Option<u32>,
    #[schemars(with = "serde_json::Value")]
    pub gap: Option<Gap>,
    /// Its directory, with the whole output.
    pub artifact: String,
}

/// One row per session, in order.
pub(super) fn rows(home: &Home, events: &[StoredEvent]) -> Vec<SessionRow> {
    let agents = agents_of(events);
    let records = sessions(events.iter().map(|event| (event.at, &event.event)));
    records.iter().map(|record| row(home, record, agents.get(&record.run.id))).collect()
}

/// Which agent each session had: it may change on the way.
fn agents_of(events: &[StoredEvent]) -> HashMap<SessionId, String> {
    let mut agents = Agents::default();
    let mut found = HashMap::new();
    for event in events {
        agents.note(&event.event);
        if let Event::SessionStarted { session } = &event.event {
            found.insert(session.id, agents.name_of(session).to_owned());
        }
    }
    found
}

fn row(home: &Home, record: &SessionRecord, agent: Option<&String>) -> SessionRow {
    let run = &record.run;
    let ended = record.ended.as_ref();
    SessionRow {
        number: run.number,
        id: run.id,
        purpose: run.purpose.to_string(),
        agent: agent.filter(|_| run.purpose.is_agent()).cloned(),
        command: run.command.clone(),
        conversation: run.conversation.clone(),
        resumed: run.resumes.clone(),
        attempt: run.attempt,
        opening: run.purpose.is_agent().then(|| describe::opening(run)),
        degraded: describe::is_degraded(run),
        delivered: ended.filter(|_| run.purpose.is_agent()).map(|ended| ended.delivered),
        denied: ended.map_or_else(Vec::new, |ended| ended.denied.clone()),
        started: run.started.rfc3339(),
        outcome: ended.map(|ended| outcome(ended, run.purpose.is_agent())),
        error: ended.and_then(error),
        exit: ended.map(|ended| ended.exit.to_string()),
        stopped_by: ended.map(|ended| ended.stopped_by),
        lasted_ms: ended.map(|ended| ended.lasted_ms),
        tokens: run.usage.total(),
        cost_usd: run.usage.cost_micros.map(usd),
        progress: record.progress,
        saved: ended.map(|ended| ended.saved.clone()),
        files_changed: ended.and_then(|ended| changed(run.tree.as_ref(), ended)),
        leftovers: ended.map(|ended| ended.leftovers),
        gap: ended.map(|ended| ended.gap),
        artifact: home.session(run.id).display().to_string(),
    }
}

fn changed(before: Option<&String>, ended: &Ended) -> Option<bool> {
    Some(before? != ended.tree.as_ref()?)
}

/// How it ended, in words that are ours.
fn outcome(ended: &Ended, is_agent: bool) -> &'static str {
    match (&ended.outcome, ended.stopped_by) {
        (_, StoppedBy::Task) => "stopped as asked",
        (_, StoppedBy::Shutdown) => "interrupted from outside",
        (_, StoppedBy::Silence) => "silent for too long",
        (_, StoppedBy::Wall) => "ran for too long",
        (_, StoppedBy::Itself | StoppedBy::Lingered) if !is_agent => "ended",
        (Outcome::Completed, StoppedBy::Itself | StoppedBy::Lingered) => "completed",
        (Outcome::Failed(failure), StoppedBy::Itself | StoppedBy::Lingered) => match failure {
            Failure::Crashed => "crashed",
            Failure::Retryable(_) => "failed for now",
            Failure::Limited(_) => "usage limit",
            Failure::Exhausted(_) => "nothing left to use",
            Failure::Permission(_) => "not permitted",
            Failure::Auth(_) => "login refused",
            Failure::Configuration(_) => "misconfigured",
            Failure::ContextFull => "conversation full",
            Failure::BadConversation => "conversation unknown",
        },
    }
}

/// What the agent said about its failure: quoted, not believed.
fn error(ended: &Ended) -> Option<String> {
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
