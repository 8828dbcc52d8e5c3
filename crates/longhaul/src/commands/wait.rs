//! `longhaul wait`: returns when a task is done or needs someone; the exit code says which.
//! Unlike other reading verbs it starts a worker when none lives: to wait for nobody would be to wait for ever.

use std::time::{Duration, Instant};

use longhaul_store::Stored;

use super::open_existing;
use crate::cli::Wait;
use crate::config::show_span;
use crate::describe::{self, next_command};
use crate::error::CliError;
use crate::exit::Code;
use crate::owner::Caretaker;
use crate::viewer::{code_of, until};
use crate::{lookup, out, owner};

/// How often the owner's life is looked at when nothing rings.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub(crate) async fn wait(args: &Wait) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let mut stored = lookup::find_to_read(&opened, args.which.task.as_deref()).await?;
    // A time beyond what the clock can tell is for ever.
    let deadline = args.timeout.and_then(|span| Instant::now().checked_add(span));
    let mut caretaker = Caretaker::default();
    loop {
        if owner::is_left_by_runner(&opened, &stored).await? {
            return Err(owner::left_by_runner(&stored));
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

/// A task that waits for a time has a code of its own: who waits for it knows when to come back.
fn gave_up(stored: &Stored, span: Duration) -> CliError {
    let code = match code_of(&stored.task.state) {
        Code::Waiting => Code::Waiting,
        _ => Code::TimedOut,
    };
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
