//! `longhaul tell`: guidance for the next session, kept until one has heard it.
//! A running session is not disturbed; pause and resume the task to have it heard at once.

use longhaul_app::redact_intake;
use longhaul_core::task::Command;

use super::run::text_or_stdin;
use crate::cli::Tell;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::AppError;
use longhaul_app::lookup;
use longhaul_app::send_command::send_command;

pub(crate) async fn tell(line: &CommandLine, args: &Tell) -> Result<Code, AppError> {
    let typed = text_or_stdin(&args.text)?;
    let call = line.open_existing()?;
    let stored = lookup::find(&call, Some(&args.task)).await?;
    let (text, masked) = redact_intake(&line.system.environment, &typed, &stored.task.submission.secret_names);
    let stored = send_command(&call, &stored, Command::Tell { text }).await?;
    if masked > 0 {
        out::note(&format!("warning: {masked} secret value(s) in it were masked"));
    }
    out::note(&format!("task {}: the next session will be told", stored.task.submission.name));
    Ok(Code::Done)
}
