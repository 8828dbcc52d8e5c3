//! `longhaul cancel`: ends a task for good. Its files, sessions and history stay.
//! Turns flags into the operation's input and prints its view.

use longhaul_app::AppError;
use longhaul_app::operations::{Cancel, CancelInput};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn cancel(line: &CommandLine, args: &cli::Cancel) -> Result<Code, AppError> {
    let (task, reason, key) = (args.which.task.clone(), args.reason.clone(), args.request.key.clone());
    let answer = line.call()?.perform::<Cancel>(CancelInput { task, reason, key }).await?;
    out::answer(&answer, args.request.json, |task| {
        let name = &task.name;
        out::note(&match task.is_finished {
            true if task.is_run() => format!("{name} is cancelled; its program learns that from its next call"),
            true => format!("task {name} is cancelled; its files and history stay"),
            false => format!("task {name} is being cancelled; its session has not ended yet"),
        });
    })
}
