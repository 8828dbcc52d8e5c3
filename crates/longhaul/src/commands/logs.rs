//! `longhaul logs`: prints the output of a task's sessions as turns. Needs no worker.
//! `--raw` prints the agent's lines, made safe for a terminal; `--json` prints one document per turn, in one format for all agents.

use longhaul_app::follow::{Follow, Interest, Item, Output, Until};
use longhaul_app::operations::{Logs, LogsInput};
use longhaul_app::views::{TurnRole, TurnView};
use longhaul_app::{AppError, Call, ErrorKind, lookup};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn logs(line: &CommandLine, args: &cli::Logs) -> Result<Code, AppError> {
    let call = line.call()?;
    match args.last {
        Some(last) => print_last(&call, args, last).await,
        None => print_all(&call, args).await,
    }
}

async fn print_last(call: &Call, args: &cli::Logs, last: u32) -> Result<Code, AppError> {
    let (task, session) = (args.which.task.clone(), args.session);
    let input = LogsInput { task, session, last: Some(last), ..LogsInput::default() };
    let answer = call.perform::<Logs>(input).await?;
    answer.view.turns.iter().for_each(|turn| print(turn, args));
    answer.notes.iter().for_each(|line| out::note(line));
    Ok(ended(answer.view.turns.is_empty() && last > 0))
}

async fn print_all(call: &Call, args: &cli::Logs) -> Result<Code, AppError> {
    let stored = lookup::find_executed(call, args.which.task.as_deref()).await?;
    let output = if args.raw { Output::Lines } else { Output::Turns };
    let until = if args.follow { Until::Settled } else { Until::Now };
    let mut feed = Follow::new(call, stored, Interest { output, session: args.session, until, ..Interest::default() })?;
    let mut is_empty = true;
    while let Some(item) = feed.next().await?
        && !out::is_closed()
    {
        if let Item::Turn(turn) = item {
            is_empty = false;
            print(&turn, args);
        }
    }
    match args.session {
        Some(number) if is_empty => {
            Err(AppError::new(ErrorKind::NotFound, format!("the task has no session {number}")))
        }
        Some(_) | None => Ok(ended(is_empty)),
    }
}

/// Every session has a turn, so a log without one is a task without sessions.
fn ended(is_empty: bool) -> Code {
    if is_empty {
        out::note("no session has started yet");
    }
    Code::Done
}

fn print(turn: &TurnView, args: &cli::Logs) {
    match turn.role {
        _ if args.json => out::view(turn),
        TurnRole::Session => turn.lines().iter().for_each(|line| out::note(line)),
        TurnRole::Command if args.raw => {}
        // Kept off standard output, so that a program can parse the agent's format there.
        TurnRole::Stderr if args.raw => out::note(&out::safe(&turn.text)),
        _ if args.raw => out::data(&out::safe(&turn.text)),
        _ => turn.lines().iter().for_each(|line| out::data(line)),
    }
}
