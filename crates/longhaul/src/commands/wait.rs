//! `longhaul wait`: returns when a task is done or needs someone; the exit code says which.
//! Unlike other reading verbs it starts a worker when the owner is dead: to wait for nobody would be to wait for ever.

use std::time::Duration;

use longhaul_store::Stored;

use super::act::see_to_owner;
use super::{next_command, open_existing};
use crate::cli::Wait;
use crate::error::CliError;
use crate::exit::Code;
use crate::viewer::{code_of, until};
use crate::{lookup, out};

/// Longer than anyone waits.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

pub(crate) async fn wait(args: &Wait) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find_to_read(&*opened.store, args.which.task.as_deref()).await?;
    see_to_owner(&opened, &stored)?;
    let patience = args.timeout.map_or(FOR_EVER, Duration::from_secs);
    let settled = until(&opened, stored.task.id, patience, |task| !task.state.wants_owner()).await?;
    match settled {
        Some(stored) => Ok(told(&stored, args.json)),
        None => {
            let now = opened.store.load(stored.task.id).await?.unwrap_or(stored);
            Err(gave_up(&now, patience.as_secs()))
        }
    }
}

/// A task that waits for a time has a code of its own: who waits for it knows when to come back.
fn gave_up(stored: &Stored, seconds: u64) -> CliError {
    let code = match code_of(&stored.task.state) {
        Code::Waiting => Code::Waiting,
        _ => Code::TimedOut,
    };
    CliError::new(code, format!("the task is not finished after {seconds} s; it goes on")).hint(next_command(stored))
}

fn told(stored: &Stored, json: bool) -> Code {
    let task = &stored.task;
    if json {
        out::json("task", task);
    } else {
        out::data(&format!("{} {}", task.submission.name, task.state.name()));
    }
    code_of(&task.state)
}
