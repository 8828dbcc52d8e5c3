//! `longhaul resume`: lets a paused, blocked or stuck task go on.
//! Whether that is allowed is decided by the core; who then acts, by `act`.

use longhaul_core::task::Command;

use super::act::{act, reason};
use super::{edit, open_existing};
use crate::cli::Resume;
use crate::error::CliError;
use crate::exit::Code;
use crate::{lookup, out};

pub(crate) async fn resume(args: &Resume) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find(&opened, args.which.task.as_deref()).await?;
    let mut settings = args.flags.settings()?;
    let warnings = edit::weigh(&args.flags, &stored.task.submission, &mut settings)?;
    let command = Command::Resume { reason: reason(args.reason.as_ref(), &stored), settings };
    let stored = act(&opened, &stored, command).await?;
    edit::tell(&warnings);
    let name = &stored.task.submission.name;
    out::note(&format!("task {name} goes on; follow it with `longhaul logs -f {name}`"));
    Ok(Code::Done)
}
