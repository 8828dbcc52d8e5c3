//! `longhaul resume`: lets a paused, blocked or stuck task go on.
//! Whether that is allowed is decided by the core; who then acts, by `act`.

use longhaul_core::task::Command;

use super::edit;
use crate::cli::Resume;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::AppError;
use longhaul_app::lookup;
use longhaul_app::send_command::{reason, send_command};

pub(crate) async fn resume(line: &CommandLine, args: &Resume) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find(&call, args.which.task.as_deref()).await?;
    let mut settings = args.flags.settings(None)?;
    let warnings = edit::weigh(line, &args.flags, &stored.task.submission, &mut settings)?;
    let command = Command::Resume { reason: reason(&call, args.reason.as_ref(), &stored), settings };
    let stored = send_command(&call, &stored, command).await?;
    super::run::warn(&warnings);
    let name = &stored.task.submission.name;
    out::note(&format!("task {name} goes on; follow it with `longhaul logs -f {name}`"));
    Ok(Code::Done)
}
