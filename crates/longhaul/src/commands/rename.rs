//! `longhaul rename`: gives an unfinished task another name.
//! Only prints what the operation returns.

use longhaul_app::AppError;
use longhaul_app::operations::{Rename, RenameInput};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn rename(line: &CommandLine, args: &cli::Rename) -> Result<Code, AppError> {
    let input = RenameInput { task: args.task.clone(), name: args.name.clone(), key: args.request.key.clone() };
    let answer = line.call()?.perform::<Rename>(input).await?;
    out::answer(&answer, args.request.json, |_| {})
}
