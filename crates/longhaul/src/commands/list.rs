//! `longhaul list`: the tasks of this project, or of all. Works without a worker, and says when none lives.
//! Only reads: nothing is made when there is nothing, and one damaged row hides none of the others.

use longhaul_store::{Damaged, Filter, Listed, Outline, Outlines, Steps, Stored};
use serde_json::{Value, json};

use super::open_existing;
use crate::cli::List;
use crate::error::CliError;
use crate::exit::Code;
use crate::opened::Opened;
use crate::{lookup, out, owner, place};

pub(crate) async fn list(args: &List) -> Result<Code, CliError> {
    let opened = match open_existing() {
        Ok(opened) => opened,
        Err(error) if error.code == Code::NotFound => return Ok(nothing(args)),
        Err(error) => return Err(error),
    };
    // Below a session there is only its task with its children to see, wherever these work.
    let filter = if args.all || place::actor().session.is_some() {
        Filter::default()
    } else {
        lookup::of_this_project(&opened).await?
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
        match self.outline.verified {
            Some(true) => format!("{state}, verified"),
            Some(false) => format!("{state}, unverified"),
            None if self.orphaned => format!("{state} (no worker)"),
            None => state.clone(),
        }
    }

    /// Done, ended otherwise, under way, without a plan.
    fn mark(&self) -> char {
        match (self.outline.verified, self.outline.is_final, self.outline.steps) {
            (Some(_), ..) => '✓',
            (None, true, _) => '✗',
            (None, false, Some(_)) => '○',
            (None, false, None) => '?',
        }
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
    let live = task.state.session();
    json!({
        "id": task.id,
        "name": task.submission.name,
        "state": task.state.name(),
        "verified": task.state.is_verified(),
        "priority": task.submission.priority,
        "agent": task.submission.agent,
        "conversation": live.and_then(|session| session.conversation.as_ref()).or(task.conversation.as_ref()),
        "branch": task.workspace.as_ref().and_then(|workspace| workspace.branch.as_ref()),
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
    let heading = ["NAME", "STATE", "PROGRESS", "SESSIONS", "PRIORITY"];
    let [name, state, progress, sessions, priority] = heading;
    let mut lines = vec![format!("  {name:width$}  {state:22}  {progress:12}  {sessions:>8}  {priority:>8}  UPDATED")];
    for row in rows {
        let outline = &row.outline;
        let project = if with_project { format!("  {}", out::safe(&outline.project)) } else { String::new() };
        lines.push(format!(
            "{} {:width$}  {:22}  {:12}  {:>8}  {:>8}  {}{project}",
            row.mark(),
            out::safe(&outline.name),
            out::safe(&row.state()),
            row.progress(),
            outline.sessions,
            outline.priority,
            outline.updated.rfc3339(),
        ));
    }
    // One write, not thousands.
    out::data(&lines.join("\n"));
    if rows.iter().any(|row| row.orphaned) {
        out::note("no worker lives for some of them; `longhaul worker -d` starts one");
    }
}
