//! `longhaul path`: prints the directory that a task works in, alone on a line, so that `cd "$(longhaul path)"` works.
//! Only prints what the operation returns.

use longhaul_app::AppError;
use longhaul_app::operations::{Path, TaskInput};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn path(line: &CommandLine, args: &cli::Read) -> Result<Code, AppError> {
    let input = TaskInput { task: args.which.task.clone() };
    let answer = line.call()?.perform::<Path>(input).await?;
    out::answer(&answer, args.json, |view| out::data(&out::safe(&view.cwd)))
}
