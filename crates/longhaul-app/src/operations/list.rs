//! `list`: tasks of a project or of the whole home, newest first, read from columns only.
//! One damaged row hides none of the others, and a home that does not exist has no tasks.

use longhaul_core::task::{Action, State};
use longhaul_core::time::Time;
use longhaul_store::{Cursor, Filter, Which};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::lookup;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL, View};
use crate::views::{TaskPage, TaskView};

/// The most tasks of one answer, and how many an answer has unless asked otherwise.
const MOST: u32 = 1_000;
/// How many finished tasks are listed beside the unfinished ones.
const RECENT: u32 = 20;

/// The operation `list`.
pub struct List;

/// What `list` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListInput {
    /// Tasks of all projects and all ages, instead of this project's unfinished tasks and its 20 newest finished ones.
    pub all: bool,
    /// Only tasks in this state.
    pub state: Option<String>,
    /// Only tasks of this agent.
    pub agent: Option<String>,
    /// Only tasks that changed at or after this time, as RFC 3339.
    pub since: Option<String>,
    /// At most this many tasks; never more than 1,000.
    pub limit: Option<u32>,
    /// Where the last answer ended: its `next`.
    pub after: Option<String>,
}

/// A page of tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing {
    /// Newest first.
    pub tasks: Vec<TaskView>,
    /// Pass it as `after` to get the next page; null at the end.
    pub next: Option<String>,
    /// Whether older finished tasks are left out; `all` lists them.
    pub has_older: bool,
    /// Rows that cannot be read.
    pub damaged: Vec<DamagedRow>,
}

/// A row that cannot be read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DamagedRow {
    /// Which row.
    pub row: String,
    /// What is wrong with it.
    pub what: String,
}

impl View for Listing {
    const KIND: &'static str = "tasks";
}

impl Operation for List {
    const ABOUT: About = About::new("list", "List tasks, newest first", Action::Read, VERB_AND_TOOL).route("/tasks");
    type Input = ListInput;
    type Output = Listing;

    async fn run(call: &Call, _: Permit, input: ListInput) -> Result<Answer<Listing>, AppError> {
        let (page, has_older) = match find(call, &input).await {
            Err(error) if error.kind == ErrorKind::NotFound => (TaskPage::default(), false),
            found => found?,
        };
        let next = page.next.map(|cursor| cursor.to_string());
        let damaged = page.damaged.into_iter().map(|row| DamagedRow { row: row.row, what: row.what }).collect();
        Ok(Answer::new(Listing { tasks: page.tasks, next, has_older, damaged }))
    }
}

/// What the input asks for, and whether older finished tasks are left out.
async fn find(call: &Call, input: &ListInput) -> Result<(TaskPage, bool), AppError> {
    let filter = filter(call, input).await?;
    let narrowed = input.state.is_some() || input.agent.is_some() || input.since.is_some();
    if input.all || narrowed || input.limit.is_some() {
        return Ok((TaskView::page(call, filter).await?, false));
    }
    let mut page = TaskView::page(call, Filter { which: Which::Unfinished, ..filter.clone() }).await?;
    if input.after.is_some() {
        return Ok((page, false));
    }
    let finished = Filter { which: Which::Finished, limit: Some(RECENT), ..filter };
    let recent = TaskView::page(call, finished).await?;
    page.tasks.extend(recent.tasks);
    page.damaged.extend(recent.damaged);
    // Both sort as text: times have one length, and ids begin with the time they were made.
    page.tasks.sort_by(|one, other| (&other.created, &other.id).cmp(&(&one.created, &one.id)));
    Ok((page, recent.next.is_some()))
}

/// Below a session only its own task and that task's children are visible, in whatever project they work. A caller with an API key comes
/// from no project.
async fn filter(call: &Call, input: &ListInput) -> Result<Filter, AppError> {
    let everywhere = input.all || call.caller.actor.session.is_some() || !call.caller.is_local();
    let scope = if everywhere { Filter::default() } else { lookup::of_this_project(call).await? };
    Ok(Filter {
        state: input.state.as_deref().map(state).transpose()?,
        agent: input.agent.clone(),
        updated_since: input.since.as_deref().map(time).transpose()?,
        after: input.after.as_deref().map(cursor).transpose()?,
        limit: Some(input.limit.unwrap_or(MOST).clamp(1, MOST)),
        without_past_follow_ups: true,
        ..scope
    })
}

fn state(name: &str) -> Result<String, AppError> {
    if State::NAMES.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(AppError::new(ErrorKind::Usage, format!("there is no state `{name}`"))
        .hint(format!("use one of: {}", State::NAMES.join(", "))))
}

fn time(text: &str) -> Result<Time, AppError> {
    let stamp = text.parse::<jiff::Timestamp>().map_err(|error| {
        AppError::new(ErrorKind::Usage, format!("`{text}` is not a time"))
            .because(&error)
            .hint("write it as RFC 3339, such as 2026-11-18T09:00:00Z")
    })?;
    Ok(Time(stamp.as_microsecond()))
}

fn cursor(text: &str) -> Result<Cursor, AppError> {
    text.parse().map_err(|error| {
        AppError::new(ErrorKind::Usage, "cannot continue the list")
            .because(&error)
            .hint("pass the `next` of the last answer")
    })
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
