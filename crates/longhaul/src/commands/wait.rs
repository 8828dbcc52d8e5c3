//! `longhaul wait`: returns when a task is done or needs a person; the exit code tells which.
//! After `--timeout` it always exits with 124.

use longhaul_app::AppError;
use longhaul_app::operations::{Show, TaskPageInput, Wait, WaitInput};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn wait(line: &CommandLine, args: &cli::Wait) -> Result<Code, AppError> {
    let timeout_ms = args.timeout.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
    let input = WaitInput { task: args.which.task.clone(), timeout_ms };
    let call = line.call()?;
    let answer = call.perform::<Wait>(input).await?;
    // People get the whole sentence, with what keeps a result from being verified.
    let status = match args.json {
        true => String::new(),
        false => {
            call.perform::<Show>(TaskPageInput { task: Some(answer.view.id.clone()), ..TaskPageInput::default() })
                .await?
                .view
                .status
        }
    };
    out::answer(&answer, args.json, |task| out::data(&format!("{} {}", task.name, out::safe(&status))))?;
    Ok(answer.view.outcome.into())
}
