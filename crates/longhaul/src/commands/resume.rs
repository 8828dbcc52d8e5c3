//! `longhaul resume`: continues tasks that are paused, blocked, stopped or need a person.
//! On a terminal it then follows a single task, as `run` does; otherwise, and with `--detach`, it returns at once.

use std::io::{self, IsTerminal};

use longhaul_app::AppError;
use longhaul_app::operations::{Resume, ResumeInput};
use longhaul_app::submit::Changes;
use longhaul_app::views::TaskView;

use super::id_of;
use super::several::{Target, Targets, Wanted, each};
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::{self, Signals, Viewing};

pub(crate) async fn resume(line: &CommandLine, args: &cli::Resume) -> Result<Code, AppError> {
    let (key, json) = (args.request.key.as_ref(), args.request.json);
    let wanted = Wanted { tasks: &args.tasks, all: args.all, key };
    let has_reason = args.reason.is_some();
    let is_meant =
        |task: &TaskView| task.state == "paused" || (has_reason && task.needs_person && task.state != "held");
    let targets = wanted.targets(&line.call()?, is_meant).await?;
    let changes = Changes { settings: args.flags.settings(None), once: args.flags.once, ..Changes::default() };
    let input = ResumeInput { task: None, reason: args.reason.clone(), changes, key: key.cloned() };
    let is_watched = io::stdin().is_terminal() && io::stderr().is_terminal() && !args.detach && !json;
    match targets {
        Targets::One(target) if is_watched => followed(*target, input, args.verbose).await,
        targets => each(targets, "no paused task in this project", |target| one(target, input.clone(), json)).await,
    }
}

async fn one(target: Target, input: ResumeInput, json: bool) -> Result<Code, AppError> {
    let input = ResumeInput { task: target.task.clone(), ..input };
    let answer = target.brief(target.call.perform::<Resume>(input).await?);
    out::answer(&answer, json, |task| {
        let name = &task.name;
        out::note(&match task.is_run() {
            true => format!("answered: the program that executes {name} gets your answer when it asks for it"),
            false => format!("task {name} continues; follow it with `longhaul attach {name}`"),
        });
    })
}

/// The same, and follows the task from there.
async fn followed(target: Target, input: ResumeInput, detailed: bool) -> Result<Code, AppError> {
    // Before the task continues, so that any later Ctrl+C pauses it.
    let signals = Signals::listen()?;
    let Target { call, task, .. } = target;
    let answer = call.perform::<Resume>(ResumeInput { task, ..input }).await?;
    out::answer(&answer, false, |task| {
        out::note(&format!("task {} continues; Ctrl+C pauses it, d detaches", task.name));
    })?;
    if answer.view.is_run() {
        return Ok(Code::Done);
    }
    let id = id_of(&answer.view)?;
    let resumed = call.store()?.newest_events(id, &["resumed"], 1).await?.events;
    let after = resumed.first().map_or(0, |event| event.seq - 1);
    viewer::follow(&call, id, signals, Viewing { after, ..Viewing::whole(false, detailed) }).await
}
