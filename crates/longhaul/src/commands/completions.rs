//! `longhaul completions`: prints the script by which a shell asks this program what to complete.
//! Only prints; its help shows where to put it.

use crate::cli::Completions;
use crate::complete;
use crate::exit::Code;
use crate::out;
use longhaul_app::{AppError, ErrorKind};

pub(crate) fn completions(args: &Completions) -> Result<Code, AppError> {
    let script = complete::script(&args.shell.to_string());
    out::data(&script.ok_or_else(|| AppError::new(ErrorKind::Failure, "there is no script for this shell"))?);
    Ok(Code::Done)
}
