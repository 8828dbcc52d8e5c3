//! `longhaul wait`: returns when a task is done or needs someone; the exit code says which.
//! Unlike other reading verbs it starts a worker when none lives: to wait for nobody would be to wait for ever.

use std::time::{Duration, Instant};

use longhaul_core::task::State;
use longhaul_store::Stored;

use crate::cli::Wait;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::{code_of, until};
use longhaul_app::Call;
use longhaul_app::config::show_span;
use longhaul_app::describe::{self, next_command};
use longhaul_app::ownership::WorkerKeepalive;
use longhaul_app::slot_wait::Slots;
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{directory_wait, lookup, ownership};

/// How often the owner's life is looked at when nothing rings.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub(crate) async fn wait(line: &CommandLine, args: &Wait) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let mut stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    // A time beyond what the clock can tell is for ever.
    let deadline = args.timeout.and_then(|span| Instant::now().checked_add(span));
    let mut caretaker = WorkerKeepalive::default();
    loop {
        if ownership::is_left_by_runner(&call, &stored).await? {
            return Err(ownership::left_by_runner(&stored));
        }
        if let Some(needed) = needs_this_session(&call, &stored).await? {
            return Err(in_the_way(&stored, needed));
        }
        caretaker.look(&call, &stored).await?;
        let left = deadline.map_or(LOOK_AGAIN, |deadline| deadline.saturating_duration_since(Instant::now()));
        let id = stored.task.id;
        if let Some(stored) = until(&call, id, left.min(LOOK_AGAIN), |task| !task.state.wants_owner()).await? {
            return Ok(told(&stored, args.json));
        }
        stored = call.store()?.load(id).await?.unwrap_or(stored);
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(gave_up(&stored, args.timeout.unwrap_or_default()));
        }
    }
}

/// What a task needs that the calling agent's own session has: waiting here would be waiting for ever.
async fn needs_this_session(call: &Call, stored: &Stored) -> Result<Option<&'static str>, AppError> {
    let Some(own) = call.own_task() else { return Ok(None) };
    if !matches!(stored.task.state, State::Queued | State::Preparing) {
        return Ok(None);
    }
    if directory_wait::line_before(call, stored.task.id).await?.contains(&own) {
        return Ok(Some("directory"));
    }
    Ok(Slots::now(call).await?.are_taken().then_some("slot"))
}

fn in_the_way(stored: &Stored, needed: &str) -> AppError {
    let name = &stored.task.submission.name;
    AppError::new(ErrorKind::Waiting,
        format!("task {name} needs this session's {needed}, and starts when the session has ended"),
    )
    .hint("note in your progress file what to do with its result, then end this session; your next one starts after that task")
}

/// The same code in every state: what the task does at that moment is chance.
fn gave_up(stored: &Stored, span: Duration) -> AppError {
    AppError::new(ErrorKind::TimedOut, format!("the task is not finished after {}; it continues", show_span(span)))
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
