//! Rows as values: a task with its ownership, and an event. A row that does not fit itself is named, never guessed at.
//!
//! Read by every query of this store. What the columns of a task say must be what its last snapshot and later events make.

use std::str::FromStr;
use std::sync::Arc;

use longhaul_core::ids::{LeaseId, WorkerId};
use longhaul_core::task::{FollowUpResult, Remarks, State, Task, Verdict, Wait};
use longhaul_core::time::Time;
use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};
use serde::de::DeserializeOwned;

use super::failure::{is_row_damage, store_error};
use crate::{ChainHead, Damaged, Lease, Owner, StoreError, Stored, StoredEvent};

/// The columns of `tasks` that every commit may move, in the order of [`values_of`].
pub(super) const TASK_COLUMNS: &str = "number, head, history_bytes, epoch, owner, owner_host, lease_id, owner_since, id, \
     project, name, parent, driver, state, final, wants_owner, waits_for_person, live_session, priority, steps_done, steps, \
     sessions, tokens, version, created, updated, result, remarks, goal, agent, branch, step, worked_ms, cost_micros, since, \
     wait_agent, follows, kind, wait, came_to";

/// Where the columns begin that are written from the task itself.
pub(super) const FROM_THE_TASK: usize = 8;

/// Where the name is among them.
pub(super) const NAME: usize = 10;

/// What the task waits for. It and what comes after it are compared as values, because later versions may spell them in another way.
pub(super) const WAIT: usize = 38;
/// What came of a follow-up.
pub(super) const CAME_TO: usize = 39;

/// The longest line of a goal or step that lists show. Another length needs a migration: the columns are compared with the task.
const LINE_CHARS: usize = 200;

/// What [`read_event`] needs of a row, in order.
pub(super) const EVENT_COLUMNS: &str = "task, seq, at, epoch, actor, kind, payload, hash";

/// A row of `tasks` and what is known of the tables beside it.
#[derive(Debug)]
pub(super) struct TaskRow {
    /// Its key within the database.
    pub(super) number: i64,
    /// The task and who owns it.
    pub(super) stored: Arc<Stored>,
    /// The hash of its history.
    pub(super) head: ChainHead,
    /// The bytes of its events.
    pub(super) history_bytes: u64,
    /// The version its snapshot is of; 0 when it has none.
    pub(super) snapshot: u64,
    /// The bytes of the events after the snapshot.
    pub(super) tail_bytes: u64,
    /// The columns as stored in the row.
    pub(super) values: Vec<Value>,
}

/// How urgent a task is: higher first among those that want an owner.
fn priority(task: &Task) -> i64 {
    task.submission.priority
}

/// What [`TASK_COLUMNS`] must say of a task.
pub(super) fn values_of(number: Option<i64>, stored: &Stored, head: &ChainHead, history_bytes: u64) -> Vec<Value> {
    let Stored { task, epoch, owner } = stored;
    let owner = owner.as_ref();
    let plan = task.plan.as_ref().map(|accepted| &accepted.plan);
    vec![
        Value::from(number),
        Value::Text(head.to_string()),
        count(history_bytes),
        count(*epoch),
        text(owner.map(|owner| owner.worker)),
        text(owner.map(|owner| &owner.host)),
        text(owner.map(|owner| owner.lease.id)),
        Value::from(owner.map(|owner| owner.since.0)),
        Value::Text(task.id.to_string()),
        Value::Text(task.submission.project.clone()),
        Value::Text(task.submission.name.as_str().to_owned()),
        text(task.submission.parent),
        Value::Text(task.submission.driver.word().to_owned()),
        Value::Text(task.state.name().to_owned()),
        Value::from(task.state.is_final()),
        Value::from(task.state.wants_owner()),
        Value::from(task.state.waits_for_person()),
        text(task.state.session().map(|session| session.id)),
        Value::Integer(priority(task)),
        plan.map_or(Value::Null, |plan| count(plan.done() as u64)),
        plan.map_or(Value::Null, |plan| count(plan.total() as u64)),
        count(u64::from(task.tally.sessions)),
        task.tally.usage.total().map_or(Value::Null, count),
        count(task.version),
        Value::Integer(task.created.0),
        Value::Integer(task.updated.0),
        text(task.state.verdict().map(|verdict| verdict.kind().word())),
        count(task.state.verdict().and_then(Verdict::remarks).map_or(0, Remarks::count) as u64),
        Value::Text(first_line(&task.submission.goal)),
        Value::Text(task.submission.agent.clone()),
        text(task.workspace.as_ref().and_then(|workspace| workspace.branch.as_ref())),
        text(step(task)),
        count(task.tally.worked_ms),
        task.tally.usage.cost_micros.map_or(Value::Null, count),
        Value::Integer(task.since.0),
        text(limited_agent(task)),
        text(task.submission.follow_up.as_ref().map(|follow_up| follow_up.task)),
        text(task.submission.follow_up.as_ref().map(|follow_up| follow_up.action.kind())),
        text(wait(task).and_then(|state| serde_json::to_string(state).ok())),
        text(came_to(task).and_then(|result| serde_json::to_string(result).ok())),
    ]
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    // A line of so few bytes has no more characters; every commit asks.
    let end = if line.len() <= LINE_CHARS { None } else { line.char_indices().nth(LINE_CHARS) };
    end.map_or(line, |(end, _)| &line[..end]).to_owned()
}

/// The step that is next in the plan, or what the program that executes it said last.
fn step(task: &Task) -> Option<String> {
    let next = task.plan.as_ref().and_then(|accepted| accepted.plan.current()).map(|step| first_line(&step.text));
    next.or_else(|| task.tracked.as_ref()?.reported.summary.as_deref().map(first_line))
}

/// The state of a task that waits for a time, a person or something outside.
pub(super) fn wait(task: &Task) -> Option<&State> {
    match &task.state {
        State::Waiting { .. }
        | State::NeedsHelp { .. }
        | State::Held { .. }
        | State::Stopped { .. }
        | State::Blocked { .. }
        | State::Tracked { .. } => Some(&task.state),
        State::Queued
        | State::Preparing
        | State::Landing
        | State::SettingUp { .. }
        | State::Planning { .. }
        | State::Working { .. }
        | State::Verifying { .. }
        | State::Stopping { .. }
        | State::Paused
        | State::Done { .. }
        | State::Failed { .. }
        | State::Cancelled { .. } => None,
    }
}

/// The agent whose usage limit a task waits for: of those that would do, the one whose limit ends first.
fn limited_agent(task: &Task) -> Option<&str> {
    let State::Waiting { why: Wait::Limit, .. } = &task.state else { return None };
    let usable = task.candidates().filter(|agent| !task.unusable.contains_key(*agent));
    let limited = usable.filter_map(|agent| Some((task.limited.get(agent)?.until, agent)));
    limited.min_by_key(|(until, _)| *until).map(|(_, agent)| agent)
}

/// What came of a follow-up that is done.
pub(super) fn came_to(task: &Task) -> Option<&FollowUpResult> {
    match task.state.verdict() {
        Some(Verdict::FollowedUp(result)) => Some(result),
        Some(Verdict::Verified { .. } | Verdict::NotVerified { .. } | Verdict::NoChecks) | None => None,
    }
}

/// A value that a column holds as JSON, if it holds one.
pub(super) fn read_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Option<T>, String> {
    let found = row.get_ref(column).and_then(|value| Ok(value.as_str_or_null()?)).map_err(|error| error.to_string())?;
    let unreadable = |error| format!("column {column} does not parse: {error}");
    found.map(serde_json::from_str).transpose().map_err(unreadable)
}

fn text(value: Option<impl ToString>) -> Value {
    value.map_or(Value::Null, |value| Value::Text(value.to_string()))
}

/// A count as SQLite has numbers; none of ours comes near the end of its range.
fn count(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Whether columns of a row, from one on, are exactly these.
pub(super) fn says(row: &Row<'_>, from: usize, values: &[Value]) -> bool {
    values.iter().enumerate().all(|(index, value)| row.get_ref(from + index).is_ok_and(|found| is_same(found, value)))
}

fn is_same(found: ValueRef<'_>, value: &Value) -> bool {
    match (found, value) {
        (ValueRef::Null, Value::Null) => true,
        (ValueRef::Integer(found), Value::Integer(value)) => found == *value,
        (ValueRef::Text(found), Value::Text(value)) => found == value.as_bytes(),
        _ => false,
    }
}

/// Who owns the task of this row, by its columns.
pub(super) fn read_owner(row: &Row<'_>, epoch: u64) -> Result<Option<Owner>, String> {
    let fields = (|| Ok((row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?)))();
    let fields: (Option<String>, Option<String>, Option<String>, Option<i64>) =
        fields.map_err(|error: rusqlite::Error| error.to_string())?;
    match fields {
        (None, None, None, None) => Ok(None),
        (Some(worker), Some(host), Some(lease), Some(since)) => Ok(Some(Owner {
            worker: parse_id::<WorkerId>("owner", &worker)?,
            host,
            lease: Lease { epoch, id: parse_id::<LeaseId>("lease_id", &lease)? },
            since: Time(since),
        })),
        _ => Err("owner columns disagree".into()),
    }
}

/// A row of [`EVENT_COLUMNS`] as a value.
pub(super) fn read_event(row: &Row<'_>) -> Result<StoredEvent, String> {
    let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str()?)).map_err(|error| error.to_string());
    let number = |column| row.get::<_, u64>(column).map_err(|error| error.to_string());
    let event: longhaul_core::task::Event =
        serde_json::from_str(text(6)?).map_err(|error| format!("payload does not parse: {error}"))?;
    if event.kind() != text(5)? {
        return Err("payload and kind disagree".into());
    }
    Ok(StoredEvent {
        seq: number(1)?,
        at: Time(row.get(2).map_err(|error| error.to_string())?),
        epoch: number(3)?,
        actor: serde_json::from_str(text(4)?).map_err(|error| format!("actor does not parse: {error}"))?,
        event,
        hash: text(7)?.to_owned(),
    })
}

/// Names an event of a task that does not fit itself.
pub(super) fn damaged_event(task: impl std::fmt::Display, row: &Row<'_>, what: String) -> Damaged {
    Damaged { row: format!("events/{task}/{}", text_of(row, 1)), what }
}

/// Names the task of a row of [`TASK_COLUMNS`] that does not fit itself.
pub(super) fn damaged_task(row: &Row<'_>, what: String) -> Damaged {
    Damaged { row: format!("tasks/{}", text_of(row, FROM_THE_TASK)), what }
}

/// An id of a column.
pub(super) fn parse_id<Id: FromStr<Err: ToString>>(column: &str, text: &str) -> Result<Id, String> {
    text.parse().map_err(|error: Id::Err| format!("{column}: {}", error.to_string()))
}

/// None for a text that is no id; absence is an answer.
pub(super) fn parse_optional<Id: FromStr>(text: Option<impl AsRef<str>>) -> Option<Option<Id>> {
    match text {
        None => Some(None),
        Some(text) => text.as_ref().parse().ok().map(Some),
    }
}

/// A column for naming a row, whatever is in it.
pub(super) fn text_of(row: &Row<'_>, column: usize) -> String {
    match row.get_ref(column) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(ValueRef::Null | ValueRef::Real(_)) | Err(_) => "?".into(),
    }
}

/// Runs over rows that each may be damaged: damage goes to `None`, failures of the database end it.
pub(super) fn unless_damaged<T>(value: rusqlite::Result<T>) -> Result<Option<T>, StoreError> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_row_damage(&error) => Ok(None),
        Err(error) => Err(store_error(error)),
    }
}
