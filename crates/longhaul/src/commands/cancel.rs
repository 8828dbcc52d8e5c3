//! `longhaul cancel`: ends tasks for good. Their files, sessions and history stay.
//! With `--all` it asks once on a terminal.

use longhaul_app::operations::{Cancel, CancelInput};
use longhaul_app::{AppError, ErrorKind};

use super::land::{can_ask, confirm};
use super::several::{Target, Targets, Wanted, each, names};
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn cancel(line: &CommandLine, args: &cli::Cancel) -> Result<Code, AppError> {
    let (key, json) = (args.request.key.as_ref(), args.request.json);
    let wanted = Wanted { tasks: &args.tasks, all: args.all, key };
    let targets = wanted.targets(&line.call()?, |_| true).await?;
    if let Targets::Several(targets) = &targets
        && args.all
        && !targets.is_empty()
        && !args.yes
        && can_ask(json)
        && !confirm(&format!("End for good: {}?", out::safe(&names(targets).join(", "))))?
    {
        return Err(AppError::new(ErrorKind::Interrupted, "nothing was changed"));
    }
    each(targets, "no unfinished task in this project", |target| {
        let input = CancelInput { task: target.task.clone(), reason: args.reason.clone(), key: key.cloned() };
        one(target, input, json)
    })
    .await
}

async fn one(target: Target, input: CancelInput, json: bool) -> Result<Code, AppError> {
    let answer = target.brief(target.call.perform::<Cancel>(input).await?);
    out::answer(&answer, json, |task| {
        let name = &task.name;
        out::note(&match task.is_finished {
            true if task.is_run() => format!("{name} is cancelled; its program learns that from its next call"),
            true => format!("task {name} is cancelled; its files and history stay"),
            false => format!("task {name} is being cancelled; its session has not ended yet"),
        });
    })
}
