//! `longhaul list`: prints tasks as a table, or as one JSON document per page.
//! Works without a worker, and warns if one is missing.

use std::io::IsTerminal;
use std::time::Duration;

use longhaul_app::config::read_span;
use longhaul_app::operations::{List, ListInput, Listing};
use longhaul_app::views::{Progress, TaskView};
use longhaul_app::{AppError, cut, now};
use longhaul_core::time::Time;

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

/// Fewer columns than this hold no table, so lines are broken there.
const NARROWEST: usize = 60;

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
    let mut code = Code::Done;
    loop {
        let answer = call.perform::<List>(input.clone()).await?;
        out::answer(&answer, args.json, |listing| print(listing, args, input.after.is_some()))?;
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

/// Done, ended without success, in progress, without a plan.
fn mark(task: &TaskView) -> char {
    match (&task.result, task.is_finished, task.progress) {
        (Some(_), ..) => '✓',
        (None, true, _) => '✗',
        (None, false, Some(_)) => '○',
        (None, false, None) if task.reported.is_some() => '○',
        (None, false, None) => '?',
    }
}

fn progress(task: &TaskView) -> String {
    task.progress.map_or_else(
        || "-".to_owned(),
        |Progress { done, total }| {
            let percent = (u64::from(done) * 100).checked_div(u64::from(total)).unwrap_or(0);
            format!("{done}/{total} {percent}%")
        },
    )
}

fn status(task: &TaskView) -> String {
    let said = task.reported.as_ref().and(task.step.as_ref()).filter(|_| !task.needs_person);
    let said = said.map_or_else(String::new, |words| format!(": {}", cut(words, 40)));
    let missing = if task.has_worker == Some(false) { " (no worker)" } else { "" };
    format!("{}{}{missing}", out::safe(&task.status), out::safe(&said))
}

/// The columns of the terminal that standard output is.
fn terminal_width() -> Option<usize> {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    Some(usize::from(size.ws_col).max(NARROWEST))
}

/// A table that fits the terminal: what people look for, with ages instead of times.
fn narrow(tasks: &[TaskView], columns: usize, now: Time) -> Vec<String> {
    let width = tasks.iter().map(|task| task.name.len()).max().unwrap_or(4).clamp(4, columns / 3);
    let state_width = columns - width - 2 - 2 - 2 - 10 - 2 - 8;
    let row = |mark: char, name: &str, state: &str, progress: &str, updated: &str| {
        let (name, state) = (fitted(name, width), fitted(state, state_width));
        format!("{mark} {name:width$}  {state:state_width$}  {progress:10}  {updated:>8}")
    };
    let age = |task: &TaskView| {
        let then = task.updated.parse::<jiff::Timestamp>().ok();
        then.map_or_else(|| "-".to_owned(), |then| age(now.since(Time(then.as_microsecond()))))
    };
    let title = row(' ', "NAME", "STATE", "PROGRESS", "UPDATED");
    let of = |task: &TaskView| row(mark(task), &out::safe(&task.name), &status(task), &progress(task), &age(task));
    std::iter::once(title).chain(tasks.iter().map(of)).collect()
}

fn fitted(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns { text.to_owned() } else { cut(text, columns - 1) }
}

/// A table for files, pipes and long lists.
fn wide(tasks: &[TaskView], with_project: bool) -> Vec<String> {
    let width = tasks.iter().map(|task| task.name.len()).max().unwrap_or(4).max(4);
    let states: Vec<String> = tasks.iter().map(status).collect();
    let wide = states.iter().map(String::len).max().unwrap_or(0).max(22);
    let [name, state, progress_title, sessions, priority] = ["NAME", "STATE", "PROGRESS", "SESSIONS", "PRIORITY"];
    let title = format!("  {name:width$}  {state:wide$}  {progress_title:12}  {sessions:>8}  {priority:>8}  UPDATED");
    let mut lines = vec![title];
    for (task, state) in tasks.iter().zip(&states) {
        let project = if with_project { format!("  {}", out::safe(&task.project)) } else { String::new() };
        let (mark, name, progress) = (mark(task), out::safe(&task.name), progress(task));
        let (sessions, priority, updated) = (task.sessions, task.priority, &task.updated);
        lines.push(format!(
            "{mark} {name:width$}  {state:wide$}  {progress:12}  {sessions:>8}  {priority:>8}  {updated}{project}"
        ));
    }
    lines
}

/// How long ago something was, in one unit.
fn age(span: Duration) -> String {
    let seconds = span.as_secs();
    match (seconds / 86_400, seconds / 3_600, seconds / 60) {
        (0, 0, 0) => format!("{seconds}s ago"),
        (0, 0, minutes) => format!("{minutes}m ago"),
        (0, hours, _) => format!("{hours}h ago"),
        (days, ..) => format!("{days}d ago"),
    }
}

fn print(listing: &Listing, args: &cli::List, is_continued: bool) {
    if listing.tasks.is_empty() {
        let narrowed = args.state.is_some() || args.agent.is_some() || args.since.is_some() || args.after.is_some();
        out::note(if narrowed {
            "no task matches"
        } else if args.tenant.is_some() {
            "no tasks of this tenant; `longhaul keys list` shows which tenants have API keys"
        } else if args.all {
            "no tasks; start one with `longhaul run \"goal\"`"
        } else {
            "no tasks in this project; `longhaul list --all` lists every task"
        });
        return;
    }
    let with_project = args.all || args.tenant.is_some();
    let lines = match terminal_width().filter(|_| !with_project) {
        Some(columns) => narrow(&listing.tasks, columns, now()),
        None => wide(&listing.tasks, with_project),
    };
    // One write, not thousands.
    out::data(&lines[usize::from(is_continued)..].join("\n"));
    if listing.tasks.iter().any(|task| task.has_worker == Some(false)) {
        out::note("some tasks have no worker; start one with `longhaul worker -d`");
    }
    if listing.has_older {
        out::note("older tasks: `longhaul list --all`");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_and_ages_have_one_unit() {
        assert_eq!((fitted("äbcd", 4), fitted("äbcde", 4)), ("äbcd".to_owned(), "äbc…".to_owned()));
        let ages = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 900_000].map(|seconds| age(Duration::from_secs(seconds)));
        assert_eq!(ages, ["0s ago", "59s ago", "1m ago", "59m ago", "1h ago", "23h ago", "1d ago", "10d ago"]);
    }
}
