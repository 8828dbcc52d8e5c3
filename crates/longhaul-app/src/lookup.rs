//! Finding the task a person means: by name in this project, by id or its beginning, the one whose worktree this is, or the only live
//! one here. In a task's worktree the project is the task's, not the worktree.
//! Used by every verb that takes a task. It makes nothing, also for names that nobody has, and finds only what the caller may see.

use longhaul_core::ids::TaskId;
use longhaul_core::task::Driver;
use longhaul_store::{Filter, Listed, StoreError, Stored, Which};

use crate::app::Call;
use crate::choices::Choices;
use crate::config::nearest::nearest;
use crate::error::{AppError, ErrorKind};
use crate::text;

/// So many tasks are named if several are meant.
const MOST: Option<u32> = Some(20);
/// So many names are compared with a mistyped one.
const COMPARED: Option<u32> = Some(1_000);

/// The task that an operation is to change, meant by a name, an id or nothing. A hold whose person is gone is released first.
pub async fn find(call: &Call, wanted: Option<&str>) -> Result<Stored, AppError> {
    call.released(search(call, wanted).await?).await
}

async fn search(call: &Call, wanted: Option<&str>) -> Result<Stored, AppError> {
    if let Some(chosen) = call.caller.meant(wanted) {
        return call.read(chosen).await?.ok_or_else(|| not_found(&chosen.to_string(), None));
    }
    match wanted {
        Some(wanted) => named(call, wanted).await,
        None => match task_of_worktree(call).await? {
            Some(stored) => Ok(stored),
            None => only_live_one(call).await,
        },
    }
}

async fn named(call: &Call, wanted: &str) -> Result<Stored, AppError> {
    if let Ok(id) = wanted.parse::<TaskId>() {
        return call.read(id).await?.ok_or_else(|| not_found(wanted, None));
    }
    // Of the tasks with one name only the newest can be unfinished.
    if call.caller.is_local() {
        let here = Filter { name: Some(wanted.to_owned()), limit: Some(1), ..of_this_project(call).await? };
        if let Some(stored) = readable(call, call.list(here).await?).await?.into_iter().next() {
            return Ok(stored);
        }
    }
    let anywhere = Filter { name: Some(wanted.to_owned()), limit: MOST, ..Filter::default() };
    let mut found = readable(call, call.list(anywhere).await?).await?;
    if found.is_empty() && wanted.len() >= 4 {
        let prefixed = Filter { id_prefix: Some(wanted.to_owned()), limit: MOST, ..Filter::default() };
        found = readable(call, call.list(prefixed).await?).await?;
    }
    if found.is_empty()
        && let Some(alias) = alias(call, wanted)
    {
        found.extend(call.load(alias).await?);
    }
    if found.is_empty() && !wanted.is_empty() {
        found = beginning_with(call, wanted).await?;
    }
    match found.len() {
        0 => Err(not_found(wanted, nearest_name(call, wanted).await)),
        1 => found.pop().ok_or_else(|| not_found(wanted, None)),
        _ => Err(ambiguous(&format!("several tasks match `{}`", text::safe(wanted)), Some(wanted), &found)),
    }
}

/// The id of the task that has this text as its id in the system it was imported from: 16 hexadecimal digits.
pub(crate) fn alias(call: &Call, text: &str) -> Option<TaskId> {
    let is_alias = text.len() == 16 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    is_alias.then(|| TaskId::of_alias(call.caller.tenant.name(), text))
}

/// The tasks of this project whose names begin so, the unfinished ones if there are any.
async fn beginning_with(call: &Call, wanted: &str) -> Result<Vec<Stored>, AppError> {
    for which in [Which::Unfinished, Which::Finished] {
        let prefix = Some(wanted.to_owned());
        let here = Filter { name_prefix: prefix, which, limit: MOST, ..of_this_project(call).await? };
        let found = readable(call, call.list(here).await?).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The name of a task of this project that was probably meant.
async fn nearest_name(call: &Call, wanted: &str) -> Option<String> {
    let here = Filter { limit: COMPARED, ..of_this_project(call).await.ok()? };
    let names: Vec<String> = call.summaries(here).await.ok()?.tasks.into_iter().map(|task| task.name).collect();
    nearest(wanted, names.iter().map(String::as_str)).map(str::to_owned)
}

/// What is of the project this command is run in. Whoever calls from no directory of this machine has no project, and means all of them.
pub async fn of_this_project(call: &Call) -> Result<Filter, AppError> {
    if !call.caller.is_local() {
        return Ok(Filter::default());
    }
    let project = match task_of_worktree(call).await? {
        Some(stored) => stored.task.submission.project.clone(),
        None => call.caller.project()?.root.display().to_string(),
    };
    Ok(Filter { project: Some(project), ..Filter::default() })
}

async fn task_of_worktree(call: &Call) -> Result<Option<Stored>, AppError> {
    match call.caller.worktree_task(call.home()) {
        Some(task) => call.read(task).await,
        None => Ok(None),
    }
}

/// Damage is never taken for absence: where nothing else is meant, the damaged row is, as far as it can be read.
async fn readable(call: &Call, listed: Listed) -> Result<Vec<Stored>, AppError> {
    let Listed { tasks, damaged } = listed;
    let Some(first) = damaged.into_iter().next().filter(|_| tasks.is_empty()) else { return Ok(tasks) };
    let id = first.row.rsplit('/').next().and_then(|id| id.parse().ok());
    let found = if let Some(id) = id { call.read(id).await? } else { None };
    let damaged = || StoreError::Damaged { what: format!("{}: {}", first.row, first.what) };
    Ok(vec![found.ok_or_else(damaged)?])
}

/// Runs of outside programs come and go without the person, so they are always named.
async fn only_live_one(call: &Call) -> Result<Stored, AppError> {
    let filter = Filter { which: Which::Executed, limit: MOST, ..of_this_project(call).await? };
    only_one(readable(call, call.list(filter).await?).await?, "unfinished")
}

fn only_one(mut tasks: Vec<Stored>, kind: &str) -> Result<Stored, AppError> {
    if tasks.len() > 1 {
        return Err(ambiguous(&format!("several {kind} tasks in this project"), None, &tasks));
    }
    let none = || AppError::new(ErrorKind::NotFound, format!("no {kind} task in this project"));
    tasks.pop().ok_or_else(|| none().hint("see `longhaul list --all`"))
}

/// The finished task that an operation starts again. Without a name it must be the only one: what costs money is never guessed.
pub async fn find_finished(call: &Call, wanted: Option<&str>) -> Result<Stored, AppError> {
    if wanted.is_some() || call.caller.meant(None).is_some() {
        return search(call, wanted).await;
    }
    if let Some(stored) = task_of_worktree(call).await? {
        return Ok(stored);
    }
    let here = of_this_project(call).await?;
    let filter = Filter { which: Which::Finished, without_past_follow_ups: true, limit: MOST, ..here };
    only_one(readable(call, call.list(filter).await?).await?, "finished")
}

/// The task a reading operation means: as [`find`], and without a name and without a live task the newest one of this project.
/// Changes nothing.
pub async fn find_to_read(call: &Call, wanted: Option<&str>) -> Result<Stored, AppError> {
    match search(call, wanted).await {
        Err(error) if wanted.is_none() && error.kind == ErrorKind::NotFound => {
            let newest = Filter { limit: Some(1), without_past_follow_ups: true, ..of_this_project(call).await? };
            call.list(newest).await?.tasks.into_iter().next().ok_or(error)
        }
        found => found,
    }
}

/// As [`find_to_read`], for what only a task has that Longhaul executes: sessions, a plan, a workspace, and a result that can be verified.
pub async fn find_executed(call: &Call, wanted: Option<&str>) -> Result<Stored, AppError> {
    let stored = find_to_read(call, wanted).await?;
    if stored.task.submission.driver != Driver::External {
        return Ok(stored);
    }
    let name = &stored.task.submission.name;
    let what =
        format!("{name} is executed by an outside program: it has no sessions, plan or files, and is never verified");
    Err(AppError::new(ErrorKind::Conflict, what).hint(format!("`longhaul show {name}` has what the program reported")))
}

fn not_found(wanted: &str, nearest: Option<String>) -> AppError {
    let error = AppError::new(ErrorKind::NotFound, format!("there is no task `{}`", text::safe(wanted)));
    match nearest {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error.hint("`longhaul list --all` shows every task"),
    }
}

fn ambiguous(what: &str, wanted: Option<&str>, found: &[Stored]) -> AppError {
    let choices = Choices::of_tasks(wanted, found);
    let is_cut = MOST.is_some_and(|most| found.len() >= most as usize);
    let more = if is_cut { "\n  and more: `longhaul list --all`" } else { "" };
    let hint = format!("name one:{}{more}", choices.lines());
    AppError::new(ErrorKind::Usage, what).hint(hint).coded("task_not_chosen").choose(choices)
}
