//! `longhaul completions`: a script for a shell, grown from the same command line that is parsed.
//! Only prints; where it belongs is said in its help.

use crate::cli::{Completions, command};
use crate::exit::Code;
use crate::out;
use longhaul_app::{AppError, ErrorKind};

pub(crate) fn completions(args: &Completions) -> Result<Code, AppError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "longhaul", &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| AppError::new(ErrorKind::Failure, "the script is not text").because(&error))?;
    out::data(script.trim_end());
    Ok(Code::Done)
}
