//! `longhaul reopen`: starts a task that continues a finished one, and follows it.
//! Once the submission is durable, it is only a viewer.

use longhaul_app::AppError;
use longhaul_app::operations::{Reopen, ReopenInput};

use super::id_of;
use super::run::{detached, print};
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::viewer::{self, Signals, Viewing};

pub(crate) async fn reopen(line: &CommandLine, args: &cli::Reopen) -> Result<Code, AppError> {
    let input = ReopenInput {
        task: args.task.clone(),
        goal: args.goal.clone(),
        name: args.name.clone(),
        changes: args.changes.input(),
        key: args.key.clone(),
    };
    let signals = if args.detach { None } else { Some(Signals::listen()?) };
    let call = line.call()?;
    let answer = call.perform::<Reopen>(input).await?;
    print(&answer, args.json)?;
    match signals {
        Some(signals) => {
            viewer::follow(&call, id_of(&answer.view)?, signals, Viewing::whole(args.json, args.verbose)).await
        }
        None => Ok(detached(&answer.view, !args.json)),
    }
}
