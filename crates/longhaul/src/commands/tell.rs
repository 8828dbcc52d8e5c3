//! `longhaul tell`: guidance for the next session.

use longhaul_app::AppError;
use longhaul_app::operations::{Tell, TellInput};

use super::run::text_or_stdin;
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn tell(line: &CommandLine, args: &cli::Tell) -> Result<Code, AppError> {
    let input = TellInput { task: args.task.clone(), text: text_or_stdin(&args.text)? };
    let answer = line.call()?.perform::<Tell>(input).await?;
    out::answer(&answer, args.json, |task| {
        out::note(&format!("task {}: the next session will get the message", task.name));
    })
}
