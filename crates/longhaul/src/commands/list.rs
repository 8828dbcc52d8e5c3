//! `longhaul list`: the tasks of this project, or of all. Works without a worker, and says when none lives.
//! Only reads: nothing is made when there is nothing, and one damaged row hides none of the others.

use longhaul_store::{Damaged, Filter, Listed, Outline, Outlines, Steps, Stored, Unfinished};
use serde_json::{Value, json};

use super::open_existing;
use crate::cli::List;
use crate::error::CliError;
use crate::exit::Code;
use crate::opened::Opened;
use crate::{out, owner, place};

pub(crate) async fn list(args: &List) -> Result<Code, CliError> {
    let opened = match open_existing() {
        Ok(opened) => opened,
        Err(error) if error.code == Code::NotFound => return Ok(nothing(args)),
        Err(error) => return Err(error),
    };
    let filter = if args.all {
        Filter::default()
    } else {
        let project = Some(place::here()?.project.display().to_string());
        Filter { project, unfinished: Unfinished::AndFinished, ..Filter::default() }
    };
    let damaged =
        if args.json { list_whole(&opened, filter).await? } else { list_lines(&opened, filter, args.all).await? };
    for damaged in &damaged {
        out::note(&format!("damaged: {}: {}", out::safe(&damaged.row), out::safe(&damaged.what)));
    }
    Ok(if damaged.is_empty() { Code::Done } else { Code::Damaged })
}

/// Programs get the goal too, which only whole tasks have.
async fn list_whole(opened: &Opened, filter: Filter) -> Result<Vec<Damaged>, CliError> {
    let Listed { tasks, damaged } = opened.list(filter).await?;
    let mut rows = Vec::new();
    for stored in &tasks {
        rows.push(as_json(stored, owner::is_missing(opened, stored).await?));
    }
    let broken: Vec<Value> = damaged.iter().map(|row| json!({ "row": row.row, "what": row.what })).collect();
    out::json("tasks", &json!({ "tasks": rows, "damaged": broken }));
    Ok(damaged)
}

/// People get lines, for which no task has to be rebuilt: fast with many thousands of them.
async fn list_lines(opened: &Opened, filter: Filter, with_project: bool) -> Result<Vec<Damaged>, CliError> {
    let Outlines { tasks, damaged } = opened.outlines(filter).await?;
    let mut rows = Vec::new();
    for outline in tasks {
        let orphaned = owner::is_missing_in_list(opened, &outline).await?;
        rows.push(Row { outline, orphaned });
    }
    print(&rows, with_project);
    Ok(damaged)
}

fn nothing(args: &List) -> Code {
    if args.json {
        out::json("tasks", &json!({ "tasks": [], "damaged": [] }));
    } else {
        out::note("no tasks yet; start one with `longhaul run \"goal\"`");
    }
    Code::Done
}

/// One task as a line.
struct Row {
    outline: Outline,
    /// It wants an owner and none lives.
    orphaned: bool,
}

impl Row {
    fn state(&self) -> String {
        let state = &self.outline.state;
        if self.orphaned { format!("{state} (no worker)") } else { state.clone() }
    }

    fn progress(&self) -> String {
        self.outline.steps.map_or_else(
            || "-".to_owned(),
            |Steps { done, total }| {
                let percent = (u64::from(done) * 100).checked_div(u64::from(total)).unwrap_or(0);
                format!("{done}/{total} {percent}%")
            },
        )
    }
}

fn as_json(stored: &Stored, orphaned: bool) -> Value {
    let task = &stored.task;
    json!({
        "id": task.id,
        "name": task.submission.name,
        "state": task.state.name(),
        "worker_alive": task.state.wants_owner().then_some(!orphaned),
        "done": task.plan.as_ref().map(|accepted| accepted.plan.done()),
        "total": task.plan.as_ref().map(|accepted| accepted.plan.total()),
        "sessions": task.tally.sessions,
        "tokens": task.tally.usage.total(),
        "project": task.submission.project,
        "goal": task.submission.goal,
        "updated": task.updated.rfc3339(),
    })
}

fn print(rows: &[Row], with_project: bool) {
    if rows.is_empty() {
        out::note("no tasks in this project; `longhaul list --all` shows those of every project");
        return;
    }
    let width = rows.iter().map(|row| row.outline.name.len()).max().unwrap_or(4).max(4);
    let mut lines = vec![format!("{:width$}  {:22}  {:12}  {:>8}  UPDATED", "NAME", "STATE", "PROGRESS", "SESSIONS")];
    for row in rows {
        let outline = &row.outline;
        let project = if with_project { format!("  {}", out::safe(&outline.project)) } else { String::new() };
        lines.push(format!(
            "{:width$}  {:22}  {:12}  {:>8}  {}{project}",
            out::safe(&outline.name),
            out::safe(&row.state()),
            row.progress(),
            outline.sessions,
            outline.updated.rfc3339(),
        ));
    }
    // One write, not thousands.
    out::data(&lines.join("\n"));
    if rows.iter().any(|row| row.orphaned) {
        out::note("no worker lives for some of them; `longhaul worker -d` starts one");
    }
}
