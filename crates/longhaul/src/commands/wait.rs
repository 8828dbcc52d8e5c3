//! `longhaul wait`: returns when a task is done or needs someone; the exit code says which.
//! Unlike other reading verbs it starts a worker when none lives: to wait for nobody would be to wait for ever.

use std::time::{Duration, Instant};

use longhaul_core::task::State;
use longhaul_store::Stored;

use super::{Opened, open_existing};
use crate::cli::Wait;
use crate::config::show_span;
use crate::describe::{self, next_command};
use crate::error::CliError;
use crate::exit::Code;
use crate::owner::WorkerKeepalive;
use crate::slots::Slots;
use crate::viewer::{code_of, until};
use crate::{directories, lookup, out, owner};

/// How often the owner's life is looked at when nothing rings.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub(crate) async fn wait(args: &Wait) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let mut stored = lookup::find_to_read(&opened, args.which.task.as_deref()).await?;
    // A time beyond what the clock can tell is for ever.
    let deadline = args.timeout.and_then(|span| Instant::now().checked_add(span));
    let mut caretaker = WorkerKeepalive::default();
    loop {
        if owner::is_left_by_runner(&opened, &stored).await? {
            return Err(owner::left_by_runner(&stored));
        }
        if let Some(needed) = needs_this_session(&opened, &stored).await? {
            return Err(in_the_way(&stored, needed));
        }
        caretaker.look(&opened, &stored).await?;
        let left = deadline.map_or(LOOK_AGAIN, |deadline| deadline.saturating_duration_since(Instant::now()));
        let id = stored.task.id;
        if let Some(stored) = until(&opened, id, left.min(LOOK_AGAIN), |task| !task.state.wants_owner()).await? {
            return Ok(told(&stored, args.json));
        }
        stored = opened.store.load(id).await?.unwrap_or(stored);
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(gave_up(&stored, args.timeout.unwrap_or_default()));
        }
    }
}

/// What a task needs that the calling agent's own session has: waiting here would be waiting for ever.
async fn needs_this_session(opened: &Opened, stored: &Stored) -> Result<Option<&'static str>, CliError> {
    let Some(own) = opened.own_task() else { return Ok(None) };
    if !matches!(stored.task.state, State::Queued | State::Preparing) {
        return Ok(None);
    }
    if directories::line_before(opened, stored.task.id).await?.contains(&own) {
        return Ok(Some("directory"));
    }
    Ok(Slots::now(opened).await?.are_taken().then_some("slot"))
}

fn in_the_way(stored: &Stored, needed: &str) -> CliError {
    let name = &stored.task.submission.name;
    CliError::new(
        Code::Waiting,
        format!("task {name} needs this session's {needed}, and starts when the session has ended"),
    )
    .hint("note in your progress file what to do with its result, then end this session; your next one starts after that task")
}

/// A task that waits for a time has a code of its own: who waits for it knows when to come back.
fn gave_up(stored: &Stored, span: Duration) -> CliError {
    let is_waiting = code_of(&stored.task.state) == Code::Waiting;
    let code = if is_waiting { Code::Waiting } else { Code::TimedOut };
    CliError::new(code, format!("the task is not finished after {}; it goes on", show_span(span)))
        .hint(next_command(stored))
}

fn told(stored: &Stored, json: bool) -> Code {
    let task = &stored.task;
    if json {
        out::json("task", task);
    } else {
        out::data(&format!("{} {}", task.submission.name, out::safe(&describe::state(task))));
    }
    code_of(&task.state)
}
