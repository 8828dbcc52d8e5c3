//! `longhaul cancel`: gives a task up. Its files, sessions and history stay.
//! Nothing is deleted here, ever.

use std::time::Duration;

use longhaul_core::task::Command;

use crate::cli::Cancel;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::until;
use longhaul_app::AppError;
use longhaul_app::lookup;
use longhaul_app::send_command::{reason, send_command};

/// How long the session's end is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn cancel(line: &CommandLine, args: &Cancel) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find(&call, args.which.task.as_deref()).await?;
    let id = stored.task.id;
    let stored =
        send_command(&call, &stored, Command::Cancel { reason: reason(&call, args.reason.as_ref(), &stored) }).await?;
    let name = stored.task.submission.name.clone();
    match until(&call, id, PATIENCE, |task| task.state.is_final()).await? {
        Some(_) => out::note(&format!("task {name} is cancelled; its files and history stay")),
        None => out::note(&format!("task {name} is being cancelled; its session has not ended yet")),
    }
    Ok(Code::Done)
}
