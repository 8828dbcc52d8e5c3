//! `longhaul completions`: generates a completion script for a shell from the parsed command line.
//! Only prints; its help shows where to save the script.

use crate::cli::{Completions, command};
use crate::exit::Code;
use crate::out;
use longhaul_app::{AppError, ErrorKind};

pub(crate) fn completions(args: &Completions) -> Result<Code, AppError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "longhaul", &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| AppError::new(ErrorKind::Failure, "the completion script is not UTF-8").because(&error))?;
    out::data(script.trim_end());
    Ok(Code::Done)
}
