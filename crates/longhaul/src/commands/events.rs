//! `longhaul events`: prints a task's history, one line per event; `--verify` proves that the history is intact.
//! Only prints; the operations return the pages.

use longhaul_app::operation::Answer;
use longhaul_app::operations::{Events, TaskInput, TaskPageInput, VerifyHistory};
use longhaul_app::views::EventView;
use longhaul_app::{AppError, Call, ErrorKind};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::follow::{Follow, Interest, Item};
use longhaul_app::lookup;
use longhaul_store::Stored;

pub(crate) async fn events(line: &CommandLine, args: &cli::Events) -> Result<Code, AppError> {
    let call = line.call()?;
    if args.verify {
        return verify(&call, args).await;
    }
    if args.follow {
        let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
        return follow(&call, stored, args.json).await;
    }
    let mut input = TaskPageInput { task: args.which.task.clone(), ..TaskPageInput::default() };
    loop {
        let page = call.perform::<Events>(input.clone()).await?.view;
        for event in page.events {
            if args.json { out::data(&Answer::new(event).document()?) } else { out::data(&line_of(&event)) }
        }
        match page.next {
            Some(next) if !out::is_closed() => {
                input.task = Some(page.task_id);
                input.page.after = next;
            }
            Some(_) | None => return Ok(Code::Done),
        }
    }
}

/// Prints events as they come, until the task is done or needs a person.
async fn follow(call: &Call, stored: Stored, json: bool) -> Result<Code, AppError> {
    let mut feed = Follow::new(call, stored, Interest { events: true, ..Interest::default() })?;
    while let Some(item) = feed.next().await?
        && !out::is_closed()
    {
        match item {
            Item::Event(event) if json => out::view(&*event),
            Item::Event(event) => out::data(&line_of(&event)),
            Item::Turn(_) | Item::Status(_) | Item::UpToDate(_) | Item::Settled(_) => {}
        }
    }
    Ok(Code::Done)
}

/// One event as a person reads it.
fn line_of(event: &EventView) -> String {
    let (principal, sentence) = (out::safe(&event.actor.words()), out::safe(&event.sentence));
    format!("{:>4}  {}  {principal:9}  {sentence}", event.seq, event.at)
}

async fn verify(call: &Call, args: &cli::Events) -> Result<Code, AppError> {
    let answer = call.perform::<VerifyHistory>(TaskInput { task: args.which.task.clone() }).await?;
    out::answer(&answer, args.json, |chain| {
        if chain.broken.is_none() {
            out::note(&format!("{} events: the hash chain is intact and matches the stored state", chain.events));
        }
    })?;
    match &answer.view.broken {
        None => Ok(Code::Done),
        Some(_) if args.json => Ok(Code::Damaged),
        Some(broken) => {
            Err(AppError::new(ErrorKind::Damaged, format!("the history was changed: {}", out::safe(broken)))
                .hint("something else edited the database, or the disk is failing; keep the file and check a backup"))
        }
    }
}
