//! `why`: one sentence from the events, other facts that matter, and what would let the task continue.
//! Text that an agent printed is no part of the answer.

use longhaul_core::task::{Action, Event, Scope, SessionRecord, State, Task, Wait, narrate, state_phrase};
use longhaul_core::time::Time;
use longhaul_store::{Stored, StoredEvent};
use schemars::JsonSchema;
use serde::Serialize;

use super::TaskInput;
use crate::app::Call;
use crate::describe::{self, UnavailableAgent, Waiting, explains_state};
use crate::directory_wait::DirectoryWait;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL, View};
use crate::report::limits;
use crate::session::{history, live};
use crate::views::TaskView;
use crate::{lookup, ownership, slot_wait};

/// The operation `why`.
pub struct Why;

/// Why a task is in its state.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyView {
    /// The task.
    pub task: TaskView,
    /// What brought it there, in one sentence.
    pub why: String,
    /// Other facts that matter.
    pub also: Vec<String>,
    /// What would let it continue.
    pub next_step: String,
}

impl View for WhyView {
    const KIND: &'static str = "why";
}

impl Operation for Why {
    const ABOUT: About =
        About::new("why", "Explain in a few lines why a task is in its current state", Action::Read, VERB_AND_TOOL)
            .route("/tasks/{task}/why");
    type Input = TaskInput;
    type Output = WhyView;

    async fn run(call: &Call, _: Permit, input: TaskInput) -> Result<Answer<WhyView>, AppError> {
        let found = lookup::find_to_read(call, input.task.as_deref()).await?;
        let view = TaskView::of(call, found.task.id).await?;
        // Loaded after the view: a task that the view says has ended is never explained by what it did before.
        let stored = call.read(found.task.id).await?.unwrap_or(found);
        let task = &stored.task;
        let events = history::recent(call, task.id).await?;
        let in_line = slot_wait::wait_of(call, &stored).await?;
        let mut why = sentence(task, &events);
        if let Some(agent) = view.wait.as_ref().and_then(|wait| wait.agent.as_ref()) {
            why = why.replacen("(usage limit)", &format!("(usage limit of {agent})"), 1);
        }
        why.extend(in_line.as_ref().map(|slot| format!("; {}", slot.in_line())));
        why.extend(unattended(call, &stored).await?);
        let mut also = also(task, &history::sessions_of(&events), call.now());
        also.extend(live::unreadable(call, task));
        Ok(Answer::new(WhyView { task: view, why, also, next_step: next_step(call, &stored, in_line.as_ref()).await? }))
    }
}

/// What would let the task continue: of one that waits for its directory, what the task there needs.
pub(super) async fn next_step(call: &Call, stored: &Stored, slot: Option<&Waiting>) -> Result<String, AppError> {
    if ownership::is_left_by_runner(call, stored).await? {
        return Ok(describe::continue_after_runner(stored));
    }
    if ownership::is_missing(call, stored).await? {
        return Ok("start a worker with `longhaul worker -d`".to_owned());
    }
    let is_ready = matches!(stored.task.state, State::Queued | State::Preparing);
    let directory = if is_ready { DirectoryWait::of(call, stored.task.id).await? } else { None };
    Ok(match (directory, slot) {
        (Some(directory), _) => directory.next(),
        (None, Some(_)) => {
            "starts automatically; `longhaul worker -d --sessions N` allows more sessions at once".to_owned()
        }
        (None, None) if call.is_abandoned(stored) => {
            format!("continue with `longhaul resume {}`", stored.task.submission.name)
        }
        (None, None) => match followed_up(call, stored).await? {
            Some(words) => format!("nothing more happens: it was {words}"),
            None => describe::next_command(stored),
        },
    })
}

/// What was done with the work of a finished task.
async fn followed_up(call: &Call, stored: &Stored) -> Result<Option<String>, AppError> {
    if !stored.task.state.is_final() {
        return Ok(None);
    }
    let view = TaskView::of(call, stored.task.id).await?;
    Ok(view.followed_up.map(|came_to| came_to.words))
}

/// Why nothing happens although the task could continue, or who left it.
async fn unattended(call: &Call, stored: &Stored) -> Result<Option<&'static str>, AppError> {
    Ok(if ownership::is_left_by_runner(call, stored).await? {
        Some("; its run-session is dead")
    } else if ownership::is_missing(call, stored).await? {
        Some("; no worker is alive")
    } else if call.is_abandoned(stored) {
        Some("; that person has left")
    } else {
        None
    })
}

/// Other facts that matter: the checks, limits, a conversation that was lost, guidance that waits.
fn also(task: &Task, records: &[SessionRecord], now: Time) -> Vec<String> {
    let mut facts: Vec<String> = last_report(task, now).into_iter().collect();
    if let Some(round) = task.round.as_ref().filter(|round| round.outcome.is_none()) {
        let (done, all) = (round.evidence.len(), task.submission.commands().len());
        facts.push(format!("round {} of the checks: {done} of {all} have run", round.number));
    }
    if task.needs_fix() {
        let allowed = task.submission.patience.fix_attempts;
        facts.push(format!("the checks failed; {} of {allowed} fixing sessions were tried", task.tally.fixes));
    }
    let limits = limits(task, records);
    let near = limits.iter().filter(|row| row.is_nearly_used());
    facts.extend(near.map(|row| format!("{} {} used", row.flag, row.words)));
    facts.extend(conversation(task, now));
    facts.extend(describe::unavailable(task, now).iter().map(UnavailableAgent::sentence));
    match task.guidance.len() {
        0 => {}
        waiting => facts.push(format!("guidance for the next session: {waiting}")),
    }
    facts
}

/// What the program of a tracked run said last.
fn last_report(task: &Task, now: Time) -> Option<String> {
    let State::Tracked { reported, .. } = &task.state else { return None };
    let summary = task.tracked.as_ref().and_then(|tracked| tracked.reported.summary.as_deref());
    let summary = summary.and_then(|text| text.trim().lines().next());
    let summary = summary.map_or_else(String::new, |line| format!(": {line}"));
    Some(format!("last report {} ago{summary}", longhaul_core::units::span(now.since(*reported))))
}

/// What happened to the agent's conversation, if it is not simply continued.
fn conversation(task: &Task, now: Time) -> Option<String> {
    let live = task.state.session().filter(|session| describe::is_degraded(session));
    let live = live.map(|session| format!("session {} began {}", session.number, describe::opening(session)));
    let next =
        || Some(format!("the next session starts in a new conversation, with a note, because {}", task.handover(now)?));
    live.or_else(|| next().filter(|_| !task.state.is_final()))
}

/// The last event that moved the task, with its time, and who is behind it.
fn sentence(task: &Task, events: &[StoredEvent]) -> String {
    let name = &task.submission.name;
    let state = match task.state {
        State::Tracked { help: None, .. } => "is run by an outside program".to_owned(),
        _ => state_phrase(task.state.name()),
    };
    let Some(event) = newest(events, u64::MAX, explains_state) else { return format!("{name} {state}") };
    let who = asked_by(events, event).map_or_else(String::new, |who| format!(" (by {who})"));
    let because = because(events, event);
    format!("{name} {state} (since {}): {}{because}{who}", event.at.rfc3339(), narrate(&event.event))
}

/// What a backoff follows: a failed session, or a failed inspection of the workspace.
fn because(events: &[StoredEvent], event: &StoredEvent) -> String {
    if !matches!(event.event, Event::WaitStarted { why: Wait::Backoff, .. }) {
        return String::new();
    }
    let failed =
        |event: &Event| matches!(event, Event::SessionEnded { .. } | Event::Noted { .. }) && explains_state(event);
    newest(events, event.seq, failed).map_or_else(String::new, |cause| format!(" because {}", narrate(&cause.event)))
}

/// The newest event of a kind up to a sequence number.
fn newest(events: &[StoredEvent], up_to: u64, wanted: impl Fn(&Event) -> bool) -> Option<&StoredEvent> {
    events.iter().rev().find(|event| event.seq <= up_to && wanted(&event.event))
}

/// Who asked for what an event records, if anyone did: the owner observes an end, but a person may have asked for it.
fn asked_by<'a>(events: &'a [StoredEvent], event: &'a StoredEvent) -> Option<&'a str> {
    let asked = match (&event.event, event.actor.scope) {
        // The sentence names who did it.
        (Event::Cancelled { .. } | Event::HelpAnswered { .. }, _) | (_, Scope::Workspace) => None,
        (_, Scope::Person | Scope::Session | Scope::Unknown) => Some(event),
        (Event::Paused { why: None, .. }, Scope::Worker) => {
            newest(events, event.seq, |event| matches!(event, Event::StopAsked { .. }))
        }
        (_, Scope::Worker) => None,
    };
    asked.map(|event| event.actor.principal.as_str())
}
