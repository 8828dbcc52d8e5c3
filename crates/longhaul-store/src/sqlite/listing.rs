//! Many tasks at once: whole ones, and summaries that are read from the columns of their rows alone.
//!
//! Used by the handle on a reader's connection. Each filter of a tenant has an index that gives the order as well, so that nothing is sorted;
//! lists of all tenants are for `gc` and the like, and are sorted.

use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Driver, ResultKind, RunStatus, State};
use longhaul_core::time::Time;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::failure::{is_row_damage, store_error};
use super::load::read_task;
use super::row::{FROM_THE_TASK, TASK_COLUMNS, WAIT, damaged_task, parse_id, parse_optional, read_json};
use crate::{ChainHead, Cursor, Damaged, Filter, Listed, Steps, StoreError, Summaries, TaskSummary, Tenant, Which};

/// Where a list has what came of a task's newest follow-up.
const NEWEST: usize = 40;

/// Tasks for people, newest first.
pub(super) fn list(connection: &Connection, tenant: Option<&Tenant>, filter: &Filter) -> Result<Listed, StoreError> {
    let mut listed = Listed::default();
    each(connection, tenant, filter, |row| {
        match read_task(connection, row)? {
            Ok(task) => listed.tasks.push(Arc::unwrap_or_clone(task.stored)),
            Err(damaged) => listed.damaged.push(damaged),
        }
        Ok(listed.tasks.len())
    })?;
    Ok(listed)
}

/// What the rows say of tasks, newest first.
pub(super) fn summaries(
    connection: &Connection,
    tenant: Option<&Tenant>,
    filter: &Filter,
) -> Result<Summaries, StoreError> {
    let mut found = Summaries::default();
    let more = each(connection, tenant, filter, |row| {
        match summary(row)? {
            Ok(summary) => found.tasks.push(summary),
            Err(damaged) => found.damaged.push(damaged),
        }
        Ok(found.tasks.len())
    })?;
    found.next = found.tasks.last().filter(|_| more).map(TaskSummary::cursor);
    Ok(found)
}

/// Runs over the rows until there are as many sound ones as wanted; whether there are more. Counted here and not by LIMIT: a damaged row
/// takes no sound one's place.
fn each(
    connection: &Connection,
    tenant: Option<&Tenant>,
    filter: &Filter,
    mut read: impl FnMut(&Row<'_>) -> Result<usize, StoreError>,
) -> Result<bool, StoreError> {
    let limit = filter.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let (sql, values) = query(tenant, filter);
    let mut statement = connection.prepare_cached(&sql).map_err(store_error)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(store_error)?;
    let mut sound = 0;
    while let Some(row) = rows.next().map_err(store_error)? {
        if sound >= limit {
            return Ok(true);
        }
        sound = read(row)?;
    }
    Ok(false)
}

/// What came of the newest follow-up of a task that is done.
const CAME_TO_OF_NEWEST: &str = "SELECT later.came_to FROM tasks AS later WHERE later.follows = tasks.id AND \
     later.came_to IS NOT NULL ORDER BY later.number DESC LIMIT 1";

/// The statement contains only what was asked for: a condition that may be empty would keep SQLite from its indexes.
pub(super) fn query(tenant: Option<&Tenant>, filter: &Filter) -> (String, Vec<Value>) {
    let text = |text: &Option<String>| text.clone().map(Value::Text);
    let id = |task: Option<TaskId>| task.map(|task| Value::Text(task.to_string()));
    let time = |time: Option<Time>| time.map(|Time(at)| Value::Integer(at));
    // Without the plus SQLite would rather read all tasks of the tenant in their order than the few with such an id.
    let by_id = filter.family_of.is_some() || filter.id_prefix.is_some();
    let asked = [
        (if by_id { "+tenant = ?" } else { "tenant = ?" }, tenant.map(|tenant| Value::Text(tenant.name().to_owned()))),
        ("project = ?", text(&filter.project)),
        ("(id = ? OR parent = ?)", id(filter.family_of)),
        ("name = ?", text(&filter.name)),
        ("name >= ? AND name < ? || '~'", text(&filter.name_prefix)),
        ("id >= ? AND id < ? || '~'", text(&filter.id_prefix)),
        ("state = ?", text(&filter.state)),
        ("driver = ?", filter.driver.map(|driver| Value::Text(driver.word().to_owned()))),
        ("follows = ?", id(filter.follows)),
        ("agent = ?", text(&filter.agent)),
        ("created >= ?", time(filter.created_since)),
        ("updated < ?", time(filter.updated_before)),
        ("updated >= ?", time(filter.updated_since)),
    ];
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    for (condition, value) in asked.into_iter().filter_map(|(condition, value)| Some((condition, value?))) {
        values.push(value);
        conditions.push(condition.replace('?', &format!("?{}", values.len())));
    }
    if let Some(Cursor { created, task }) = filter.after {
        conditions.push(format!("(created, id) < (?{}, ?{})", values.len() + 1, values.len() + 2));
        values.extend([Value::Integer(created.0), Value::Text(task.to_string())]);
    }
    conditions.extend(filter.status.map(has_status));
    if filter.follow_ups {
        conditions.push("follows IS NOT NULL".to_owned());
    }
    if filter.without_past_follow_ups {
        conditions.push("(follows IS NULL OR final = 0)".to_owned());
    }
    match filter.which {
        Which::All => {}
        Which::Unfinished => conditions.push("final = 0".to_owned()),
        Which::Executed => conditions.push(format!("final = 0 AND driver <> '{}'", Driver::External.word())),
        Which::Finished => conditions.push("final = 1".to_owned()),
    }
    let conditions = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") };
    (
        format!(
            "SELECT {TASK_COLUMNS}, ({CAME_TO_OF_NEWEST}) FROM tasks WHERE {conditions} ORDER BY created DESC, id DESC"
        ),
        values,
    )
}

/// What `RunStatus::of` says, in columns.
fn has_status(status: RunStatus) -> String {
    let pending = "(state = 'queued' AND sessions = 0)";
    match status {
        RunStatus::Pending => format!("final = 0 AND {pending}"),
        RunStatus::NeedsHelp => "final = 0 AND waits_for_person = 1".to_owned(),
        RunStatus::Running => format!("final = 0 AND waits_for_person = 0 AND NOT {pending}"),
        RunStatus::Completed => "result IS NOT NULL".to_owned(),
        RunStatus::Failed => format!("state = '{}'", State::FAILED),
        RunStatus::Cancelled => format!("final = 1 AND result IS NULL AND state <> '{}'", State::FAILED),
    }
}

fn summary(row: &Row<'_>) -> Result<Result<TaskSummary, Damaged>, StoreError> {
    match read_summary(row) {
        Ok(summary) => Ok(summary.map_err(|what| damaged_task(row, what))),
        Err(error) if is_row_damage(&error) => Ok(Err(damaged_task(row, error.to_string()))),
        Err(error) => Err(store_error(error)),
    }
}

fn read_summary(row: &Row<'_>) -> rusqlite::Result<Result<TaskSummary, String>> {
    let id = |column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str_or_null()?);
    let task = match parse_id("id", id(FROM_THE_TASK)?.unwrap_or_default()) {
        Ok(task) => task,
        Err(what) => return Ok(Err(what)),
    };
    let (Some(owner), Some(parent), Some(follows)) =
        (parse_optional(id(4)?), parse_optional(id(11)?), parse_optional(id(36)?))
    else {
        return Ok(Err("owner, parent or followed task is not an id".into()));
    };
    if ChainHead::parse(row.get_ref(1)?.as_str().unwrap_or_default()).is_none() {
        return Ok(Err("head is not a hash".into()));
    }
    let (wait, came_to) = match (read_json(row, WAIT), read_json(row, NEWEST)) {
        (Ok(wait), Ok(came_to)) => (wait, came_to),
        (Err(what), _) | (_, Err(what)) => return Ok(Err(what)),
    };
    let Some(driver) = Driver::ALL.into_iter().find(|driver| id(12).is_ok_and(|name| name == Some(driver.word())))
    else {
        return Ok(Err("unknown driver".into()));
    };
    let result = id(26)?.and_then(ResultKind::from_word);
    let steps: (Option<u32>, Option<u32>) = (row.get(19)?, row.get(20)?);
    Ok(Ok(TaskSummary {
        task,
        owner,
        parent,
        live: id(17)?.is_some(),
        driver,
        history_bytes: row.get(2)?,
        epoch: row.get(3)?,
        project: row.get(9)?,
        name: row.get(10)?,
        state: row.get(13)?,
        is_final: row.get(14)?,
        wants_owner: row.get(15)?,
        waits_for_person: row.get(16)?,
        priority: row.get(18)?,
        steps: steps.0.zip(steps.1).map(|(done, total)| Steps { done, total }),
        sessions: row.get(21)?,
        tokens: row.get(22)?,
        version: row.get(23)?,
        created: Time(row.get(24)?),
        updated: Time(row.get(25)?),
        result,
        remarks: row.get(27)?,
        goal: row.get(28)?,
        agent: row.get(29)?,
        branch: row.get(30)?,
        step: row.get(31)?,
        worked_ms: row.get(32)?,
        cost_micros: row.get(33)?,
        since: Time(row.get(34)?),
        wait_agent: row.get(35)?,
        follows,
        kind: row.get(37)?,
        came_to,
        wait,
    }))
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
