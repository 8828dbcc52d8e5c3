//! `longhaul tell`: sends a message to the next session.
//! Turns flags into the operation's input and prints its view.

use longhaul_app::AppError;
use longhaul_app::operations::{Tell, TellInput};

use super::run::text_or_stdin;
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn tell(line: &CommandLine, args: &cli::Tell) -> Result<Code, AppError> {
    let (task, key) = (args.task.clone(), args.request.key.clone());
    let input = TellInput { task, text: text_or_stdin(&args.text)?, key };
    let answer = line.call()?.perform::<Tell>(input).await?;
    out::answer(&answer, args.request.json, |task| {
        out::note(&format!("task {}: the next session will get the message", task.name));
    })
}
