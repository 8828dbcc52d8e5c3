//! `longhaul cancel`: gives a task up. Its files, sessions and history stay.
//! Nothing is deleted here, ever.

use std::time::Duration;

use longhaul_core::task::Command;

use super::act::{act, reason};
use super::open_existing;
use crate::cli::Cancel;
use crate::error::CliError;
use crate::exit::Code;
use crate::viewer::until;
use crate::{lookup, out};

/// How long the session's end is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn cancel(args: &Cancel) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find(&opened, args.which.task.as_deref()).await?;
    let id = stored.task.id;
    let stored = act(&opened, &stored, Command::Cancel { reason: reason(args.reason.as_ref(), &stored) }).await?;
    let name = stored.task.submission.name.clone();
    match until(&opened, id, PATIENCE, |task| task.state.is_final()).await? {
        Some(_) => out::note(&format!("task {name} is cancelled; its files and history stay")),
        None => out::note(&format!("task {name} is being cancelled; its session has not ended yet")),
    }
    Ok(Code::Done)
}
