//! `longhaul logs`: prints the output of a task's sessions as turns. Needs no worker.
//! `--raw` prints the agent's lines, made safe for a terminal; `--json` prints one document per turn, in one format for all agents.

use std::collections::VecDeque;

use jiff::Timestamp;
use longhaul_app::config::read_span;
use longhaul_app::follow::{Follow, Interest, Item, Output, Until};
use longhaul_app::operations::{Logs, LogsInput};
use longhaul_app::views::{TurnRole, TurnView};
use longhaul_app::{AppError, Call, ErrorKind, lookup, now};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::when::When;

pub(crate) async fn logs(line: &CommandLine, args: &cli::Logs) -> Result<Code, AppError> {
    let call = line.call()?;
    let wanted = Wanted::new(args)?;
    match args.last {
        // Bounded, and it reads no more than it shows.
        Some(last) if !args.follow && wanted.is_everything() => print_last(&call, args, last).await,
        Some(_) | None => print_all(&call, args, &wanted).await,
    }
}

/// Which turns are printed.
struct Wanted {
    since: Option<Timestamp>,
    errors: bool,
}

impl Wanted {
    fn new(args: &cli::Logs) -> Result<Wanted, AppError> {
        let since = args.since.as_deref().map(|text| {
            let time = read_span(text).map_or_else(|| text.to_owned(), |span| now().before(span).rfc3339());
            time.parse::<Timestamp>().map_err(|error| {
                AppError::new(ErrorKind::Usage, format!("`{text}` is neither a time nor a span"))
                    .because(&error)
                    .hint("write a span such as `10m`, or a time such as 2026-11-18T09:00:00Z")
            })
        });
        Ok(Wanted { since: since.transpose()?, errors: args.errors })
    }

    fn is_everything(&self) -> bool {
        self.since.is_none() && !self.errors
    }

    fn includes(&self, turn: &TurnView) -> bool {
        let is_error = match turn.role {
            TurnRole::Notice | TurnRole::Stderr | TurnRole::Unknown => true,
            TurnRole::Result => ["exit ", "failed"].iter().any(|word| turn.text.starts_with(word)),
            TurnRole::Session | TurnRole::Command | TurnRole::Text | TurnRole::Tool | TurnRole::Output => false,
        };
        // What was printed at an unknown time may be new.
        let at = turn.at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        let is_old = self.since.zip(at).is_some_and(|(since, at)| at < since);
        !is_old && (is_error || !self.errors)
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

async fn print_all(call: &Call, args: &cli::Logs, wanted: &Wanted) -> Result<Code, AppError> {
    let stored = lookup::find_executed(call, args.which.task.as_deref()).await?;
    let output = if args.raw { Output::Lines } else { Output::Turns };
    let until = if args.follow { Until::Settled } else { Until::Now };
    let mut feed = Follow::new(call, stored, Interest { output, session: args.session, until, ..Interest::default() })?;
    let mut is_empty = true;
    // The last turns so far, until all of them were read; what follows is printed as it comes.
    let mut last = args.last.map(|last| (last as usize, VecDeque::new()));
    while let Some(item) = feed.next().await?
        && !out::is_closed()
    {
        match (item, &mut last) {
            (Item::Turn(turn), _) if !wanted.includes(&turn) => is_empty = false,
            (Item::Turn(turn), Some((most, kept))) => {
                is_empty = false;
                kept.push_back(turn);
                if kept.len() > *most {
                    kept.pop_front();
                }
            }
            (Item::Turn(turn), None) => {
                is_empty = false;
                print(&turn, args);
            }
            (Item::UpToDate(_), Some((_, kept))) => {
                kept.iter().for_each(|turn| print(turn, args));
                last = None;
            }
            (Item::UpToDate(_) | Item::Event(_) | Item::Status(_) | Item::Settled(_), _) => {}
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
        // With `--raw`, a program parses the agent's format on standard output.
        TurnRole::Session if args.raw => turn.lines().iter().for_each(|line| out::note(line)),
        TurnRole::Command if args.raw => {}
        TurnRole::Stderr if args.raw => out::note(&out::safe(&turn.text)),
        _ if args.raw => out::data(&out::safe(&turn.text)),
        TurnRole::Session => turn.lines().iter().for_each(|line| out::data(&When::here().localized(line))),
        _ => turn.lines().iter().for_each(|line| out::data(line)),
    }
}
