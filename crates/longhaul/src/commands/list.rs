//! `longhaul list`: the tasks of this project, or of all. Works without a worker, and says when none lives.
//! Only reads: nothing is made when there is nothing, and one damaged row hides none of the others.

use longhaul_core::task::State;
use longhaul_store::{Damaged, Filter, Listed, Steps, Stored, Summaries, TaskSummary};
use serde_json::{Value, json};

use crate::cli::List;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::Call;
use longhaul_app::describe::{ResultFacts, Waiting};
use longhaul_app::slot_wait::Slots;
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{describe, lookup, ownership};

pub(crate) async fn list(line: &CommandLine, args: &List) -> Result<Code, AppError> {
    let call = match line.open_existing() {
        Ok(call) => call,
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(nothing(args)),
        Err(error) => return Err(error),
    };
    // Below a session there is only its task with its children to see, wherever these work.
    let filter = if args.all || call.caller.actor.session.is_some() {
        Filter::default()
    } else {
        lookup::of_this_project(&call).await?
    };
    let damaged =
        if args.json { list_whole(&call, filter).await? } else { list_lines(&call, filter, args.all).await? };
    for damaged in &damaged {
        out::note(&format!("damaged: {}: {}", out::safe(&damaged.row), out::safe(&damaged.what)));
    }
    Ok(if damaged.is_empty() { Code::Done } else { Code::Damaged })
}

/// Programs get facts that are not columns yet, so each task is rebuilt.
async fn list_whole(call: &Call, filter: Filter) -> Result<Vec<Damaged>, AppError> {
    let Listed { tasks, damaged } = call.list(filter).await?;
    let slots = Slots::now(call).await?;
    let mut rows = Vec::new();
    for stored in &tasks {
        let waiting = describe::waiting(&stored.task).or(slots.wait_of(call, stored).await?);
        rows.push(as_json(stored, waiting.as_ref(), ownership::is_missing(call, stored).await?));
    }
    let broken: Vec<Value> = damaged.iter().map(|row| json!({ "row": row.row, "what": row.what })).collect();
    out::json("tasks", &json!({ "tasks": rows, "damaged": broken }));
    Ok(damaged)
}

/// People get lines, for which no task has to be rebuilt: fast with many thousands of them.
async fn list_lines(call: &Call, filter: Filter, with_project: bool) -> Result<Vec<Damaged>, AppError> {
    let Summaries { tasks, damaged, next: _ } = call.outlines(filter).await?;
    let slots = Slots::now(call).await?;
    let mut rows = Vec::new();
    for outline in tasks {
        let orphaned = ownership::is_missing_in_list(call, &outline).await?;
        let waiting = waiting(call, &outline).await?;
        let slot = slots.wait_in_list(call, &outline).await?;
        rows.push(Row { outline, orphaned, waiting, slot });
    }
    print(&rows, with_project);
    Ok(damaged)
}

/// What a waiting task waits for. Only of those the whole task is read, and they are few.
async fn waiting(call: &Call, outline: &TaskSummary) -> Result<Option<Waiting>, AppError> {
    if outline.state != State::WAITING {
        return Ok(None);
    }
    // A row that cannot be read is told among the damaged ones.
    Ok(call.store().load(outline.task).await.ok().flatten().and_then(|stored| describe::waiting(&stored.task)))
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
    outline: TaskSummary,
    /// It wants an owner and none lives.
    orphaned: bool,
    waiting: Option<Waiting>,
    /// It waits for a free slot or for its directory.
    slot: Option<Waiting>,
}

impl Row {
    fn state(&self) -> String {
        let state = match &self.waiting {
            Some(Waiting { until: Some(until), agent: Some(agent), .. }) => format!("limit of {agent} until {until}"),
            Some(Waiting { why, until: Some(until), .. }) => format!("waiting ({why}) until {until}"),
            Some(Waiting { until: None, .. }) | None => {
                self.slot.as_ref().map_or_else(|| self.outline.state.clone(), Waiting::in_line)
            }
        };
        match self.outline.result {
            Some(result) => format!("{state}, {result}{}", remarks(self.outline.remarks)),
            None if self.orphaned => format!("{state} (no worker)"),
            None => state,
        }
    }

    /// Done, ended otherwise, under way, without a plan.
    fn mark(&self) -> char {
        match (self.outline.result, self.outline.is_final, self.outline.steps) {
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

/// The remarks themselves are long; `show` has them.
fn remarks(count: u32) -> String {
    match count {
        0 => String::new(),
        1 => ", 1 remark".to_owned(),
        count => format!(", {count} remarks"),
    }
}

fn as_json(stored: &Stored, waiting: Option<&Waiting>, orphaned: bool) -> Value {
    let task = &stored.task;
    let live = task.state.session();
    json!({
        "id": task.id,
        "name": task.submission.name,
        "state": task.state.name(),
        "result": task.state.verdict().map(ResultFacts::new),
        "priority": task.submission.priority,
        "agent": task.submission.agent,
        "session_agent": live.map(|session| session.agent.as_str()).filter(|agent| !agent.is_empty()),
        "waiting": waiting,
        "conversation": live.and_then(|session| session.conversation.as_deref()).or(task.conversation_id()),
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
    let states: Vec<String> = rows.iter().map(|row| out::safe(&row.state())).collect();
    let wide = states.iter().map(String::len).max().unwrap_or(0).max(22);
    let heading = ["NAME", "STATE", "PROGRESS", "SESSIONS", "PRIORITY"];
    let [name, state, progress, sessions, priority] = heading;
    let mut lines =
        vec![format!("  {name:width$}  {state:wide$}  {progress:12}  {sessions:>8}  {priority:>8}  UPDATED")];
    for (row, state) in rows.iter().zip(&states) {
        let outline = &row.outline;
        let project = if with_project { format!("  {}", out::safe(&outline.project)) } else { String::new() };
        lines.push(format!(
            "{} {:width$}  {state:wide$}  {:12}  {:>8}  {:>8}  {}{project}",
            row.mark(),
            out::safe(&outline.name),
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
