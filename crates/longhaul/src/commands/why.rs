//! `longhaul why`: one sentence from the events, and what would move the task on.
//! Text an agent printed is no part of the answer.

use longhaul_core::task::{Event, State, narrate};
use longhaul_store::{Stored, StoredEvent};
use serde_json::json;

use super::open_existing;
use crate::cli::Read;
use crate::error::CliError;
use crate::exit::Code;
use crate::{lookup, out};

pub(crate) async fn why(args: &Read) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find_to_read(&*opened.store, args.which.task.as_deref()).await?;
    let version = stored.task.version;
    let recent = opened.store.events(stored.task.id, version.saturating_sub(50), 50).await?;
    let sentence = sentence(&stored, &recent);
    let next = next_command(&stored);
    if args.json {
        out::json(
            "why",
            &json!({ "task": stored.task.id, "state": stored.task.state.name(), "why": sentence, "next": next }),
        );
    } else {
        out::data(&out::safe(&sentence));
        out::data(&next);
    }
    Ok(Code::Done)
}

/// The last event that moved the task, with its time.
fn sentence(stored: &Stored, recent: &[StoredEvent]) -> String {
    let name = &stored.task.submission.name;
    let state = stored.task.state.name();
    let telling = recent
        .iter()
        .rev()
        .find(|event| !matches!(event.event, Event::SessionRead { .. } | Event::Noted { .. } | Event::Claimed { .. }));
    match telling {
        Some(event) => {
            let who = asked_by(event, recent);
            format!("{name} is {state} since {}: {} (by {who})", event.at.rfc3339(), narrate(&event.event))
        }
        None => format!("{name} is {state}"),
    }
}

/// Who is behind an event: the owner observes an end, but a person may have asked for it.
fn asked_by<'a>(event: &'a StoredEvent, recent: &'a [StoredEvent]) -> &'a str {
    let asked = match &event.event {
        Event::Paused { .. } => recent.iter().rev().find(|event| matches!(event.event, Event::StopAsked { .. })),
        _ => None,
    };
    &asked.unwrap_or(event).actor.principal
}

/// What a person could do next.
pub(crate) fn next_command(stored: &Stored) -> String {
    let name = &stored.task.submission.name;
    match &stored.task.state {
        State::Paused { .. } => format!("go on with `longhaul resume {name}`"),
        State::Blocked { .. } => format!("mend it, then `longhaul resume {name}`"),
        State::NeedsHelp { .. } => {
            format!("look at `longhaul logs {name}`, then `longhaul resume {name} --reason \"what changed\"`")
        }
        State::Waiting { until, .. } => format!("goes on by itself at {}", until.rfc3339()),
        State::Queued { .. }
        | State::Preparing { .. }
        | State::Planning { .. }
        | State::Working { .. }
        | State::Stopping { .. } => format!("watch it with `longhaul logs -f {name}`"),
        State::Done { .. } | State::Cancelled { .. } => format!("read what happened with `longhaul events {name}`"),
    }
}
