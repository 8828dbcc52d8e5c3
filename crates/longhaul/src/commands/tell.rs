//! `longhaul tell`: guidance for the next session, kept until one has heard it.
//! A running session is not disturbed; pause and resume the task to have it heard at once.

use longhaul_app::redact_intake;
use longhaul_core::task::Command;

use super::act::act;
use super::open_existing;
use super::run::text_or_stdin;
use crate::cli::Tell;
use crate::error::CliError;
use crate::exit::Code;
use crate::{lookup, out};

pub(crate) async fn tell(args: &Tell) -> Result<Code, CliError> {
    let typed = text_or_stdin(&args.text)?;
    let opened = open_existing()?;
    let stored = lookup::find(&opened, Some(&args.task)).await?;
    let (text, masked) = redact_intake(&typed, &stored.task.submission.secret_names);
    let stored = act(&opened, &stored, Command::Tell { text }).await?;
    if masked > 0 {
        out::note(&format!("warning: {masked} secret value(s) in it were masked"));
    }
    out::note(&format!("task {}: the next session will be told", stored.task.submission.name));
    Ok(Code::Done)
}
