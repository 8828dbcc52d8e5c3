//! `longhaul list`: the tasks of this project, or of all. Works without a worker, and says when none lives.
//! Only reads: nothing is made when there is nothing, and one damaged row hides none of the others.

use longhaul_store::{Filter, Listed, Stored, Unfinished};
use serde_json::{Value, json};

use super::open_existing;
use crate::cli::List;
use crate::error::CliError;
use crate::exit::Code;
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
    let listed = opened.list(filter).await?;
    let mut rows = Vec::new();
    for stored in &listed.tasks {
        rows.push(Row { stored, orphaned: owner::is_missing(&opened, stored).await? });
    }
    if args.json {
        out::json(
            "tasks",
            &json!({ "tasks": rows.iter().map(Row::json).collect::<Vec<_>>(), "damaged": damaged(&listed) }),
        );
    } else {
        print(&rows, args.all);
    }
    for damaged in &listed.damaged {
        out::note(&format!("damaged: {}: {}", out::safe(&damaged.row), out::safe(&damaged.what)));
    }
    Ok(if listed.damaged.is_empty() { Code::Done } else { Code::Damaged })
}

fn nothing(args: &List) -> Code {
    if args.json {
        out::json("tasks", &json!({ "tasks": [], "damaged": [] }));
    } else {
        out::note("no tasks yet; start one with `longhaul run \"goal\"`");
    }
    Code::Done
}

fn damaged(listed: &Listed) -> Vec<Value> {
    listed.damaged.iter().map(|row| json!({ "row": row.row, "what": row.what })).collect()
}

/// One task as a line.
struct Row<'a> {
    stored: &'a Stored,
    /// It wants an owner and none lives.
    orphaned: bool,
}

impl Row<'_> {
    fn state(&self) -> String {
        let state = self.stored.task.state.name();
        if self.orphaned { format!("{state} (no worker)") } else { state.to_owned() }
    }

    fn progress(&self) -> String {
        self.stored.task.plan.as_ref().map_or_else(
            || "-".to_owned(),
            |accepted| format!("{} {}%", accepted.plan.progress(), accepted.plan.percent()),
        )
    }

    fn json(&self) -> Value {
        let task = &self.stored.task;
        json!({
            "id": task.id,
            "name": task.submission.name,
            "state": task.state.name(),
            "worker_alive": task.state.wants_owner().then_some(!self.orphaned),
            "done": task.plan.as_ref().map(|accepted| accepted.plan.done()),
            "total": task.plan.as_ref().map(|accepted| accepted.plan.total()),
            "sessions": task.tally.sessions,
            "tokens": task.tally.usage.total(),
            "project": task.submission.project,
            "goal": task.submission.goal,
            "updated": task.updated.rfc3339(),
        })
    }
}

fn print(rows: &[Row<'_>], with_project: bool) {
    if rows.is_empty() {
        out::note("no tasks in this project; `longhaul list --all` shows those of every project");
        return;
    }
    let width = rows.iter().map(|row| row.stored.task.submission.name.to_string().len()).max().unwrap_or(4).max(4);
    out::data(&format!("{:width$}  {:22}  {:12}  {:>8}  UPDATED", "NAME", "STATE", "PROGRESS", "SESSIONS"));
    for row in rows {
        let task = &row.stored.task;
        let project = if with_project { format!("  {}", out::safe(&task.submission.project)) } else { String::new() };
        out::data(&format!(
            "{:width$}  {:22}  {:12}  {:>8}  {}{project}",
            task.submission.name.to_string(),
            row.state(),
            row.progress(),
            task.tally.sessions,
            task.updated.rfc3339(),
        ));
    }
    if rows.iter().any(|row| row.orphaned) {
        out::note("no worker lives for some of them; `longhaul worker -d` starts one");
    }
}
