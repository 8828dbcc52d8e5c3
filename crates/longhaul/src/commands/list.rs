//! `longhaul list`: prints tasks in groups, or as one JSON document per page.
//! Works without a worker, and warns if one is missing.

pub(crate) mod board;
mod prompt;
mod watch;

use longhaul_app::config::read_span;
use longhaul_app::operations::{List, ListInput, Listing};
use longhaul_app::{AppError, now};

use self::board::Board;
pub(crate) use self::prompt::prompt;
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::paint::Paint;
use crate::when::When;
use crate::width;

pub(crate) async fn list(line: &CommandLine, args: &cli::List) -> Result<Code, AppError> {
    let call = line.call_for(args.tenant.as_deref())?;
    let mut input = ListInput {
        all: args.all || args.tenant.is_some(),
        state: args.state.clone(),
        agent: args.agent.clone(),
        since: args.since.as_deref().map(since),
        limit: args.limit,
        after: args.after.clone(),
    };
    if args.watch {
        return watch::watch(&call, &input, args).await;
    }
    let mut code = Code::Done;
    loop {
        let answer = call.perform::<List>(input.clone()).await?;
        out::answer(&answer, args.json, |listing| print(listing, args))?;
        for damaged in &answer.view.damaged {
            out::note(&format!("damaged: {}: {}", out::safe(&damaged.row), out::safe(&damaged.what)));
            code = Code::Damaged;
        }
        match answer.view.next {
            // With a limit the caller asks for the next page.
            Some(next) if args.limit.is_none() && !out::is_closed() => input.after = Some(next),
            Some(_) | None => return Ok(code),
        }
    }
}

/// A span is counted back from now; any other text is passed on as a time.
fn since(text: &str) -> String {
    read_span(text).map_or_else(|| text.to_owned(), |span| now().before(span).rfc3339())
}

fn print(listing: &Listing, args: &cli::List) {
    if listing.tasks.is_empty() {
        return out::note(nothing(args));
    }
    let (lines, notes) = shown(listing, args);
    // One write, not thousands.
    out::data(&lines.join("\n"));
    notes.iter().for_each(|note| out::note(note));
}

/// Everything that is shown of the list on a screen.
fn lines(listing: &Listing, args: &cli::List) -> Vec<String> {
    if listing.tasks.is_empty() {
        return vec![nothing(args).to_owned()];
    }
    let (lines, notes) = shown(listing, args);
    let damaged =
        listing.damaged.iter().map(|row| format!("damaged: {}: {}", out::safe(&row.row), out::safe(&row.what)));
    lines.into_iter().chain(notes).chain(damaged).collect()
}

fn nothing(args: &cli::List) -> &'static str {
    let narrowed = args.state.is_some() || args.agent.is_some() || args.since.is_some() || args.after.is_some();
    if narrowed {
        "no task matches"
    } else if args.tenant.is_some() {
        "no tasks of this tenant; `longhaul keys list` shows which tenants have API keys"
    } else if args.all {
        "no tasks; start one with `longhaul run \"goal\"`"
    } else {
        "no tasks in this project; `longhaul list --all` lists every task"
    }
}

/// The rows of the tasks, and what must be known besides.
fn shown(listing: &Listing, args: &cli::List) -> (Vec<String>, Vec<String>) {
    let when = When::here();
    let board = Board {
        width: width::of_stdout(),
        when: &when,
        paint: Paint(out::coloured()),
        all: args.all || args.tenant.is_some(),
    };
    let (lines, folded) = board.lines(&listing.tasks);
    let is_left = listing.tasks.iter().any(|task| task.has_worker == Some(false));
    let left = is_left.then(|| "some tasks have no worker; start one with `longhaul worker -d`".to_owned());
    let older = match (folded, listing.has_older) {
        (0, false) => None,
        (1, false) => Some("1 older task: `longhaul list --all`".to_owned()),
        (many, false) => Some(format!("{many} older tasks: `longhaul list --all`")),
        (_, true) => Some("older tasks: `longhaul list --all`".to_owned()),
    };
    (lines, left.into_iter().chain(older).collect())
}
