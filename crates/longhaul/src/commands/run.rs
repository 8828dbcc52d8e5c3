//! `longhaul run`: submits a goal and follows the task. Below an agent session it submits a child task and returns.
//! Once the submission is durable, it is only a viewer. No part of the goal is ever in the argv of another process.

use std::io::IsTerminal;

use longhaul_app::operation::Answer;
use longhaul_app::operations::{Submit, SubmitInput};
use longhaul_app::views::TaskView;
use longhaul_app::{AppError, ErrorKind, Missing, usual_span};
use longhaul_core::task::{Action, permit};

use super::choose::choose;
use super::dry_run::dry_run;
use super::goal::goal;
use super::notify::hint_once;
use super::{id_of, tmux_view};
use crate::cli::Run;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::{self, Signals, Viewing};

pub(crate) async fn run(line: &CommandLine, args: &Run) -> Result<Code, AppError> {
    if args.tmux {
        permit(&line.caller.actor, &Action::Manage("open a tmux session"))?;
    }
    let is_child = line.caller.actor.session.is_some();
    let call = line.call()?;
    // Before the submission, so that any later Ctrl+C pauses the task; before an editor too, which gets its own Ctrl+C.
    let follows = !(is_child || args.detach || args.tmux || args.dry_run);
    let mut signals = if follows || args.goal.is_none() { Some(Signals::listen()?) } else { None };
    let goal = goal(line, args).await?;
    let mut input = input(args, goal.text.clone())?;
    if args.dry_run {
        return dry_run(&call, input, args.json).await;
    }
    let submitted = match call.perform::<Submit>(input.clone()).await {
        Err(error) if lacks_agent(&error) => match choose(error, args.json, signals.as_mut()).await {
            Ok(agent) => {
                input.settings.insert("agent".to_owned(), agent);
                call.perform::<Submit>(input).await
            }
            Err(error) => Err(error),
        },
        outcome => outcome,
    };
    let answer = goal.kept_until(submitted)?;
    let signals = signals.filter(|_| follows);
    print(&answer, args.json)?;
    let task = id_of(&answer.view)?;
    if !is_child && !args.json {
        out::note(&usual_span::sentence(&call, &answer.view.agent, &answer.view.project, Some(task)).await);
    }
    match signals {
        Some(signals) => viewer::follow(&call, task, signals, Viewing::whole(args.json, args.verbose)).await,
        None if args.tmux => tmux_view::open(&call, task).await,
        None => {
            let code = detached(&answer.view, args.detach && !args.json);
            if args.detach && !is_child && std::io::stderr().is_terminal() {
                hint_once(&call, task).await;
            }
            Ok(code)
        }
    }
}

fn lacks_agent(error: &AppError) -> bool {
    error.choices.as_ref().is_some_and(|choices| choices.missing == Missing::Agent)
}

fn input(args: &Run, goal: String) -> Result<SubmitInput, AppError> {
    let mut settings = args.flags.settings(args.model.as_ref());
    settings.extend(args.backoff.clone().map(|backoff| ("limits.backoff".to_owned(), backoff)));
    Ok(SubmitInput {
        goal,
        name: args.name.clone(),
        workspace: args.workspace.clone(),
        checks: args.checks.clone(),
        criteria: args.criteria.clone(),
        constraints: args.constraints.clone(),
        inputs: args.inputs.clone(),
        expects: args.expects.clone(),
        after: args.after.clone(),
        priority: args.priority,
        base: args.base.clone(),
        profile: args.profile.clone(),
        in_place: args.in_place,
        no_wait: args.no_wait,
        once: args.flags.once,
        no_preflight: args.no_preflight,
        settings,
        key: args.key.clone(),
    })
}

/// Prints the submitted task.
pub(super) fn print(answer: &Answer<TaskView>, json: bool) -> Result<Code, AppError> {
    out::answer(answer, json, |task| {
        let how = if answer.repeated { "was already submitted" } else { "submitted" };
        out::note(&format!("task {} ({}) {how}", task.name, task.id));
    })
}

/// Prints what a detached caller can do next.
pub(super) fn detached(task: &TaskView, is_asked: bool) -> Code {
    if is_asked {
        let name = &task.name;
        out::data(name);
        out::note(&format!("follow it with `longhaul logs -f {name}`, or wait for it with `longhaul wait {name}`"));
    }
    Code::Done
}

/// A text argument; `-` reads it from standard input.
pub(crate) fn text_or_stdin(text: &str) -> Result<String, AppError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    std::io::read_to_string(std::io::stdin().lock())
        .map_err(|error| AppError::new(ErrorKind::Usage, "cannot read standard input").because(&error))
}
