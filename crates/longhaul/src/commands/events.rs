//! `longhaul events`: what happened to a task, one line each; `--verify` recomputes the hash chain and rebuilds the state.
//! Only reads; a broken chain is reported, never mended.

use longhaul_core::task::narrate;
use longhaul_store::{Stored, StoredEvent};
use serde_json::json;

use crate::cli::Events;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::Call;
use longhaul_app::follow::{Follow, Interest, Item};
use longhaul_app::lookup;
use longhaul_app::views::EventView;
use longhaul_app::{AppError, ErrorKind};

const PAGE: u32 = 500;

pub(crate) async fn events(line: &CommandLine, args: &Events) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    if args.verify {
        return verify(&call, &stored, args.json).await;
    }
    if args.follow {
        return follow(&call, stored, args.json).await;
    }
    let mut after = 0;
    loop {
        let page = call.store()?.events(stored.task.id, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(Code::Done) };
        after = last.seq;
        for event in &page {
            if args.json { out::json("event", &as_json(event)) } else { out::data(&as_line(event)) }
        }
    }
}

/// Prints events as they come, until the task is done or needs someone.
async fn follow(call: &Call, stored: Stored, json: bool) -> Result<Code, AppError> {
    let mut feed = Follow::new(call, stored, Interest { events: true, ..Interest::default() })?;
    while let Some(item) = feed.next().await?
        && !out::nobody_reads()
    {
        match item {
            Item::Event(event) if json => out::view(&event),
            Item::Event(event) => out::data(&line(&event)),
            Item::Turn(_) | Item::Status(_) | Item::UpToDate(_) | Item::Settled(_) => {}
        }
    }
    Ok(Code::Done)
}

/// One event as a person reads it.
fn line(event: &EventView) -> String {
    let (actor, text) = (out::safe(&event.actor.principal), out::safe(&event.text));
    format!("{:>4}  {}  {actor:9}  {text}", event.seq, event.at)
}

/// One event as a person reads it.
pub(crate) fn as_line(event: &StoredEvent) -> String {
    format!(
        "{:>4}  {}  {:9}  {}",
        event.seq,
        event.at.rfc3339(),
        out::safe(&event.actor.principal),
        out::safe(&narrate(&event.event))
    )
}

fn as_json(event: &StoredEvent) -> serde_json::Value {
    json!({
        "seq": event.seq,
        "at": event.at.rfc3339(),
        "at_us": event.at.0,
        "epoch": event.epoch,
        "actor": event.actor,
        "event": event.event,
        "hash": event.hash,
        "text": narrate(&event.event),
    })
}

async fn verify(call: &Call, stored: &Stored, as_json: bool) -> Result<Code, AppError> {
    let report = call.store()?.verify(stored.task.id).await?;
    if as_json {
        out::json("chain", &json!({ "task": stored.task.id, "events": report.events, "broken": report.broken }));
    }
    match report.broken {
        None => {
            out::note(&format!("{} events: the chain is whole and rebuilds the stored state", report.events));
            Ok(Code::Done)
        }
        Some(broken) => {
            Err(AppError::new(ErrorKind::Damaged, format!("the history was changed: {}", out::safe(&broken)))
                .hint("the database was edited from outside, or the disk is failing; keep it and look at a backup"))
        }
    }
}
