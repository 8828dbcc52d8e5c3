//! `longhaul edit`: changes the limits, checks, agents, modes or priority of an unfinished task.
//! Turns flags into the operation's input; the operation reports what it changed.

use longhaul_app::AppError;
use longhaul_app::operations::{Edit, EditInput};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn edit(line: &CommandLine, args: &cli::Edit) -> Result<Code, AppError> {
    let (task, key) = (args.which.task.clone(), args.request.key.clone());
    let answer = line.call()?.perform::<Edit>(EditInput { task, changes: args.changes.input(), key }).await?;
    out::answer(&answer, args.request.json, |_| {})
}
