//! `longhaul why`: one sentence from the events, and what would move the task on.
//! Text an agent printed is no part of the answer.

use longhaul_app::now;
use longhaul_core::causes::with_causes;
use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, Scope, SessionRecord, State, Task, Wait, narrate};
use longhaul_keeper::SessionDir;
use longhaul_store::{Stored, StoredEvent};
use serde_json::json;

use super::show::sessions_of;
use crate::cli::Read;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::AppError;
use longhaul_app::Call;
use longhaul_app::describe::{UnavailableAgent, Waiting, is_telling, next_command};
use longhaul_app::directory_wait::DirectoryWait;
use longhaul_app::report::{LimitRow, limits};
use longhaul_app::{describe, lookup, slot_wait};

/// So many events are looked at in one read.
const PAGE: u32 = 50;

pub(crate) async fn why(line: &CommandLine, args: &Read) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    let slot = slot_wait::wait_of(&call, &stored).await?;
    let sentence = sentence(&call, &stored, slot.as_ref()).await?;
    let next = next(&call, &stored, slot.as_ref()).await?;
    let records = sessions_of(&call.store()?.events(stored.task.id, 0, u32::MAX).await?);
    let mut also = also(&stored.task, &records);
    also.extend(unreadable(&call, &stored));
    if args.json {
        let state = stored.task.state.name();
        out::json(
            "why",
            &json!({ "task": stored.task.id, "state": state, "why": sentence, "also": also, "next": next }),
        );
    } else {
        out::data(&out::safe(&sentence));
        also.iter().for_each(|fact| out::data(&out::readable(fact)));
        out::data(&next);
    }
    Ok(Code::Done)
}

/// What would move the task on: of one that waits for its directory, what the task there needs.
async fn next(call: &Call, stored: &Stored, slot: Option<&Waiting>) -> Result<String, AppError> {
    let is_ready = matches!(stored.task.state, State::Queued | State::Preparing);
    let directory = if is_ready { DirectoryWait::of(call, stored.task.id).await? } else { None };
    Ok(match (directory, slot) {
        (Some(directory), _) => out::safe(&directory.next()),
        (None, Some(_)) => {
            "starts by itself; `longhaul worker -d --sessions N` allows more sessions at once".to_owned()
        }
        (None, None) => next_command(stored),
    })
}

/// What else bears on it: the checks, limits, a conversation that was lost, guidance that waits.
fn also(task: &Task, records: &[SessionRecord]) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(round) = task.round.as_ref().filter(|round| round.outcome.is_none()) {
        let (done, all) = (round.evidence.len(), task.submission.commands().len());
        facts.push(format!("round {} of the checks: {done} of {all} have run", round.number));
    }
    if task.needs_fix() {
        let allowed = task.submission.patience.fix_attempts;
        facts.push(format!("the checks failed; {} of {allowed} fixing sessions were tried", task.tally.fixes));
    }
    let rows = limits(task, records).into_iter().filter(LimitRow::is_nearly_used);
    facts.extend(rows.map(|row| format!("{} {} used", row.flag, row.words)));
    facts.extend(conversation(task));
    facts.extend(describe::unavailable(task, now()).iter().map(UnavailableAgent::sentence));
    match task.guidance.len() {
        0 => {}
        waiting => facts.push(format!("guidance for the next session: {waiting}")),
    }
    facts
}

/// Why nothing is known of the live session, where its directory cannot be read.
pub(super) fn unreadable(call: &Call, stored: &Stored) -> Option<String> {
    let session = stored.task.state.session()?;
    let error = SessionDir::at(&call.home().session(session.id)).ok()?.identity().err()?;
    Some(format!("its session cannot be inspected: {}", with_causes(&error)))
}

/// What became of the agent's conversation, where it is not simply gone on with.
fn conversation(task: &Task) -> Option<String> {
    let live = task.state.session().filter(|session| describe::is_degraded(session));
    let live = live.map(|session| format!("session {} began {}", session.number, describe::opening(session)));
    let next = || Some(format!("the next session starts afresh, with a note, because {}", task.handover(now())?));
    live.or_else(|| next().filter(|_| !task.state.is_final()))
}

/// The last event that moved the task, with its time, and who is behind it.
async fn sentence(call: &Call, stored: &Stored, slot: Option<&Waiting>) -> Result<String, AppError> {
    let name = &stored.task.submission.name;
    let state = stored.task.state.name();
    let Some(event) = newest(call, stored.task.id, stored.task.version, is_telling).await? else {
        return Ok(format!("{name} is {state}"));
    };
    let who = asked_by(call, stored.task.id, &event).await?.map_or_else(String::new, |who| format!(" (by {who})"));
    let because = because(call, stored.task.id, &event).await?;
    let slot = slot.map_or_else(String::new, |slot| format!("; {}", slot.in_line()));
    Ok(format!("{name} is {state} since {}: {}{because}{who}{slot}", event.at.rfc3339(), narrate(&event.event)))
}

/// What a backoff follows: a failed session, or a look at the workspace that failed.
async fn because(call: &Call, task: TaskId, event: &StoredEvent) -> Result<String, AppError> {
    if !matches!(event.event, Event::WaitStarted { why: Wait::Backoff, .. }) {
        return Ok(String::new());
    }
    let failed = |event: &Event| matches!(event, Event::SessionEnded { .. } | Event::Noted { .. }) && is_telling(event);
    let cause = newest(call, task, event.seq, failed).await?;
    Ok(cause.map_or_else(String::new, |cause| format!(" because {}", narrate(&cause.event))))
}

/// The newest event of a kind up to a sequence number, looked for page by page backwards.
async fn newest(
    call: &Call,
    task: TaskId,
    up_to: u64,
    wanted: fn(&Event) -> bool,
) -> Result<Option<StoredEvent>, AppError> {
    let mut end = up_to;
    while end > 0 {
        let start = end.saturating_sub(PAGE.into());
        let page = call.store()?.events(task, start, PAGE).await?;
        let found = page.into_iter().rev().find(|event| event.seq <= end && wanted(&event.event));
        if found.is_some() {
            return Ok(found);
        }
        end = start;
    }
    Ok(None)
}

/// Who asked for what an event tells, if anyone did: the owner observes an end, but a person may have asked for it.
async fn asked_by(call: &Call, task: TaskId, event: &StoredEvent) -> Result<Option<String>, AppError> {
    let asked = match (&event.event, event.actor.scope) {
        // The sentence names who did it.
        (Event::Cancelled { .. }, _) | (_, Scope::Workspace) => None,
        (_, Scope::Person | Scope::Session | Scope::Unknown) => Some(event.clone()),
        (Event::Paused { why: None, .. }, Scope::Worker) => {
            newest(call, task, event.seq, |event| matches!(event, Event::StopAsked { .. })).await?
        }
        (_, Scope::Worker) => None,
    };
    Ok(asked.map(|event| event.actor.principal))
}
