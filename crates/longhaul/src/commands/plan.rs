//! `longhaul plan`: shows a task's plan and what was refused of it; `--accept` takes a person's list as it is, whatever it changes.
//! Whether that is allowed now is decided by the core; the file in the task directory is put in order before the next session.

use std::path::Path;

use longhaul_app::{TaskDir, redact_intake};
use longhaul_core::plan;
use longhaul_core::task::{Accepted, Command, Task, TaskListFile};
use longhaul_store::StoredEvent;
use serde_json::json;

use crate::cli::Plan;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::report::refused_plans;
use longhaul_app::send_command::send_command;
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{describe, lookup};

/// As long as a list may be.
const LIST_CAP: u64 = 4 << 20;

pub(crate) async fn plan(line: &CommandLine, args: &Plan) -> Result<Code, AppError> {
    let Some(file) = &args.accept else { return show(line, args).await };
    let call = line.open_existing()?;
    let stored = lookup::find(&call, args.which.task.as_deref()).await?;
    let task = &stored.task;
    let list = sight(line, task)?;
    let seen = if let TaskListFile::Text { hash, .. } = &list { Some(hash.clone()) } else { None };
    let text = match file {
        Some(path) => redact_intake(&line.system.environment, &from_file(path)?, &task.submission.secret_names).0,
        None => from_task_directory(task, list)?,
    };
    let name = &task.submission.name;
    let running = task.state.session().is_some() && call.caller.actor.clone().session.is_none();
    let after =
        send_command(&call, &stored, Command::AcceptPlan { text, seen }).await.map_err(|error| match error.kind {
            ErrorKind::Conflict if running => error.hint(format!("first `longhaul pause {name}`, then this again")),
            _ => error,
        })?;
    if after.task.version == task.version {
        out::note(&format!("task {name}: that is the accepted plan already"));
    } else if let Some(accepted) = &after.task.plan {
        let (revision, progress) = (accepted.revision, accepted.plan.progress());
        out::note(&format!(
            "task {name}: plan revision {revision} accepted, {progress}; {}",
            describe::next_command(&after)
        ));
    }
    Ok(Code::Done)
}

fn from_file(path: &Path) -> Result<String, AppError> {
    let unusable = |why: &str| {
        AppError::new(ErrorKind::Usage, format!("cannot take `{}` as a plan: {why}", path.display()))
            .hint("name a file with `- [ ] Task 1: ...` lines; the task comes before --accept")
    };
    let meta = path.metadata().map_err(|error| unusable("it cannot be read").because(&error))?;
    if !meta.is_file() || meta.len() > LIST_CAP {
        return Err(unusable("it is no file, or longer than 4 MiB"));
    }
    std::fs::read_to_string(path).map_err(|error| unusable("it cannot be read as text").because(&error))
}

fn from_task_directory(task: &Task, list: TaskListFile) -> Result<String, AppError> {
    let unusable = |why: &str| {
        let path = format!("{}/task_list.md", describe::task_directory(task));
        AppError::new(ErrorKind::Usage, format!("cannot take `{path}` as a plan: {why}"))
            .hint("write it there, or name a file: `longhaul plan TASK --accept FILE`")
    };
    match list {
        TaskListFile::Text { text, .. } => Ok(text),
        TaskListFile::Missing => Err(unusable("it is not there")),
        TaskListFile::Unreadable { why } => Err(unusable(&why)),
    }
}

/// The list in the task directory as it is now. Makes nothing.
fn sight(line: &CommandLine, task: &Task) -> Result<TaskListFile, AppError> {
    let directory = describe::task_directory(task);
    if !Path::new(&directory).is_dir() {
        return Ok(TaskListFile::Missing);
    }
    let opened = TaskDir::open(task, line.system.environment.clone());
    opened.map(|dir| dir.sight().list).map_err(|cause| AppError::new(ErrorKind::Failure, out::safe(&cause.to_string())))
}

async fn show(line: &CommandLine, args: &Plan) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    let events = call.store()?.events(stored.task.id, 0, u32::MAX).await?;
    if args.json {
        out::json("plan", &facts(line, &stored.task, &events));
    } else {
        print(line, &stored.task, &events);
    }
    Ok(Code::Done)
}

/// How the file in the task directory stands to the accepted plan.
fn file(line: &CommandLine, task: &Task) -> &'static str {
    let same = |accepted: &Accepted, hash: &str, text: &str| {
        hash == accepted.hash || plan::parse(text).is_ok_and(|plan| plan == accepted.plan)
    };
    match (sight(line, task), &task.plan) {
        (Ok(TaskListFile::Text { hash, text }), Some(accepted)) if same(accepted, &hash, &text) => "as accepted",
        (Ok(TaskListFile::Text { .. }), _) => "changed",
        (Ok(TaskListFile::Missing), _) => "missing",
        (Ok(TaskListFile::Unreadable { .. }) | Err(_), _) => "unreadable",
    }
}

fn facts(line: &CommandLine, task: &Task, events: &[StoredEvent]) -> serde_json::Value {
    let accepted = task.plan.as_ref();
    json!({
        "task": task.id,
        "revision": accepted.map(|accepted| accepted.revision),
        "hash": accepted.map(|accepted| &accepted.hash),
        "done": accepted.map(|accepted| accepted.plan.done()),
        "total": accepted.map(|accepted| accepted.plan.total()),
        "steps": accepted.map(|accepted| &accepted.plan.steps),
        "current": accepted.and_then(|accepted| accepted.plan.current()).map(|step| step.number),
        "refused": refused_plans(events),
        "directory": describe::task_directory(task),
        "file": file(line, task),
    })
}

fn print(line: &CommandLine, task: &Task, events: &[StoredEvent]) {
    let name = &task.submission.name;
    match &task.plan {
        None => out::data("no plan is accepted yet"),
        Some(accepted) => print_steps(accepted),
    }
    for refused in refused_plans(events) {
        out::data(&format!("refused {}: {}", refused.at, out::safe(&refused.what)));
    }
    if task.plan.is_some() && file(line, task) == "changed" {
        out::note(&format!("task_list.md was changed since; `longhaul plan {name} --accept` takes it as it is"));
    }
}

fn print_steps(accepted: &Accepted) {
    let plan = &accepted.plan;
    out::data(&format!("plan revision {}, {} ({}%)", accepted.revision, plan.progress(), plan.percent()));
    let current = plan.current().map(|step| step.number);
    let mut phase = None;
    for step in &plan.steps {
        if step.phase.as_ref() != phase {
            phase = step.phase.as_ref();
            out::data(&format!("  {}", out::safe(phase.map_or("", |text| text))));
        }
        let tick = if step.ticked { "x" } else { " " };
        let now = if Some(step.number) == current { "  <- current" } else { "" };
        out::data(&format!("  [{tick}] Task {}: {}{now}", step.number, out::safe(&step.text)));
    }
}
