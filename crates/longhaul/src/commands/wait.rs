//! `longhaul wait`: returns when tasks are done or need a person; the exit code tells which. With `--any` the first one is enough.
//! After `--timeout` it always exits with 124.

use longhaul_app::operations::{Show, TaskPageInput, Wait, WaitInput};
use longhaul_app::{AppError, ErrorKind};
use tokio::task::JoinSet;

use super::several::{Target, Targets, Wanted, next, start};
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::ring;

pub(crate) async fn wait(line: &CommandLine, args: &cli::Wait) -> Result<Code, AppError> {
    let timeout_ms = args.timeout.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
    let all = args.all || (args.any && args.tasks.is_empty());
    let wanted = Wanted { tasks: &args.tasks, all, key: None };
    let targets = match wanted.targets(&line.call()?, |_| true).await? {
        Targets::One(target) => return one(*target, timeout_ms, args.json).await,
        Targets::Several(targets) => targets,
    };
    if targets.is_empty() && args.any {
        return Err(AppError::new(ErrorKind::NotFound, "no unfinished task in this project"));
    }
    let mut running = JoinSet::new();
    targets.into_iter().for_each(|target| start(&mut running, target, &|target| one(target, timeout_ms, args.json)));
    let mut worst = Code::Done;
    while let Some(code) = next(&mut running).await {
        worst = worst.max(code);
        if args.any {
            break;
        }
    }
    Ok(worst)
}

async fn one(target: Target, timeout_ms: Option<u64>, json: bool) -> Result<Code, AppError> {
    let call = &target.call;
    let answer = call.perform::<Wait>(WaitInput { task: target.task, timeout_ms }).await?;
    // People get the whole sentence, with what keeps a result from being verified.
    let status = match json {
        true => String::new(),
        false => {
            call.perform::<Show>(TaskPageInput { task: Some(answer.view.id.clone()), ..TaskPageInput::default() })
                .await?
                .view
                .status
        }
    };
    if !json {
        ring(call, &format!("{}: {status}", answer.view.name));
    }
    out::answer(&answer, json, |task| out::data(&format!("{} {}", task.name, out::safe(&status))))?;
    Ok(answer.view.outcome.into())
}
