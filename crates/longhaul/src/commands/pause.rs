//! `longhaul pause`: stops sessions and keeps the tasks until someone resumes them.
//! Exits with 0 only if every task is then paused, or if the request was a repeat.

use longhaul_app::AppError;
use longhaul_app::operations::{Pause, PauseInput};
use longhaul_core::task::State;

use super::several::{Target, Wanted, each};
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn pause(line: &CommandLine, args: &cli::Pause) -> Result<Code, AppError> {
    let wanted = Wanted { tasks: &args.tasks, all: args.all, key: args.request.key.as_ref() };
    let targets = wanted.targets(&line.call()?, |task| !task.needs_person).await?;
    let (now, force, key, json) = (args.now, args.force, args.request.key.clone(), args.request.json);
    each(targets, "no task to pause in this project", |target| {
        let input = PauseInput { task: target.task.clone(), now, force, key: key.clone() };
        one(target, input, json)
    })
    .await
}

async fn one(target: Target, input: PauseInput, json: bool) -> Result<Code, AppError> {
    let answer = target.brief(target.call.perform::<Pause>(input).await?);
    let is_paused = answer.view.state == State::Paused.name();
    out::answer(&answer, json, |task| {
        let how = if is_paused { "is paused".to_owned() } else { format!("is not paused but {}", task.status) };
        out::note(&format!("task {} {}", task.name, out::safe(&how)));
    })?;
    // Someone may have cancelled or resumed it in the meantime.
    Ok(if is_paused || answer.repeated { Code::Done } else { answer.view.outcome.into() })
}
