//! `longhaul list`: prints tasks as a table, or as one JSON document per page.
//! Works without a worker, and warns if one is missing.

use longhaul_app::config::read_span;
use longhaul_app::operations::{List, ListInput, Listing};
use longhaul_app::views::{Progress, TaskView};
use longhaul_app::{AppError, cut, now};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

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
    let width = listing.tasks.iter().map(|task| task.name.len()).max().unwrap_or(4).max(4);
    let states: Vec<String> = listing.tasks.iter().map(status).collect();
    let wide = states.iter().map(String::len).max().unwrap_or(0).max(22);
    let [name, state, progress_title, sessions, priority] = ["NAME", "STATE", "PROGRESS", "SESSIONS", "PRIORITY"];
    let title = format!("  {name:width$}  {state:wide$}  {progress_title:12}  {sessions:>8}  {priority:>8}  UPDATED");
    let mut lines: Vec<String> = (!is_continued).then_some(title).into_iter().collect();
    for (task, state) in listing.tasks.iter().zip(&states) {
        let project =
            if args.all || args.tenant.is_some() { format!("  {}", out::safe(&task.project)) } else { String::new() };
        let (mark, name, progress) = (mark(task), out::safe(&task.name), progress(task));
        let (sessions, priority, updated) = (task.sessions, task.priority, &task.updated);
        lines.push(format!(
            "{mark} {name:width$}  {state:wide$}  {progress:12}  {sessions:>8}  {priority:>8}  {updated}{project}"
        ));
    }
    // One write, not thousands.
    out::data(&lines.join("\n"));
    if listing.tasks.iter().any(|task| task.has_worker == Some(false)) {
        out::note("some tasks have no worker; start one with `longhaul worker -d`");
    }
    if listing.has_older {
        out::note("older tasks: `longhaul list --all`");
    }
}
