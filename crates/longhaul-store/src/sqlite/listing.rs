//! Many tasks at once: whole ones, and outlines that are read from the columns of their rows alone.
//!
//! Used by the handle on a reader's connection. Each filter has an index that gives the order as well, so that nothing is sorted.

use std::sync::Arc;

use longhaul_core::task::{Driver, ResultKind};
use longhaul_core::time::Time;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::failure::{is_row_damage, store_error};
use super::load::read_task;
use super::row::{FROM_THE_TASK, TASK_COLUMNS, damaged_task, parse_id, parse_optional};
use crate::{ChainHead, Damaged, Filter, Listed, Steps, StoreError, Summaries, TaskSummary, Which};

/// Tasks for people, newest first.
pub(super) fn list(connection: &Connection, filter: &Filter) -> Result<Listed, StoreError> {
    let mut listed = Listed::default();
    each(connection, filter, |row| {
        match read_task(connection, row)? {
            Ok(task) => listed.tasks.push(Arc::unwrap_or_clone(task.stored)),
            Err(damaged) => listed.damaged.push(damaged),
        }
        Ok(listed.tasks.len())
    })?;
    Ok(listed)
}

/// What the rows say of tasks, newest first.
pub(super) fn tasks(connection: &Connection, filter: &Filter) -> Result<Summaries, StoreError> {
    let mut outlines = Summaries::default();
    each(connection, filter, |row| {
        match outline(row)? {
            Ok(outline) => outlines.tasks.push(outline),
            Err(damaged) => outlines.damaged.push(damaged),
        }
        Ok(outlines.tasks.len())
    })?;
    Ok(outlines)
}

/// Runs over the rows until there are as many sound ones as wanted. Counted here and not by LIMIT: a damaged row takes no sound
/// one's place.
fn each(
    connection: &Connection,
    filter: &Filter,
    mut read: impl FnMut(&Row<'_>) -> Result<usize, StoreError>,
) -> Result<(), StoreError> {
    let limit = filter.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let (sql, values) = query(filter);
    let mut statement = connection.prepare_cached(&sql).map_err(store_error)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(store_error)?;
    let mut sound = 0;
    while sound < limit
        && let Some(row) = rows.next().map_err(store_error)?
    {
        sound = read(row)?;
    }
    Ok(())
}

/// Only what was asked for stands in the statement: a condition that may be empty would keep SQLite from its indexes.
pub(super) fn query(filter: &Filter) -> (String, Vec<Value>) {
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    let mut wants = |condition: &str, value: Value| {
        values.push(value);
        conditions.push(condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(project) = &filter.project {
        wants("project = ?", Value::Text(project.clone()));
    }
    if let Some(name) = &filter.name {
        wants("name = ?", Value::Text(name.clone()));
    }
    if let Some(prefix) = &filter.id_prefix {
        wants("id >= ? AND id < ? || '~'", Value::Text(prefix.clone()));
    }
    if let Some(state) = &filter.state {
        wants("state = ?", Value::Text(state.clone()));
    }
    if let Some(Time(before)) = filter.updated_before {
        wants("updated < ?", Value::Integer(before));
    }
    match filter.which {
        Which::All => {}
        Which::Unfinished => conditions.push("final = 0".to_owned()),
        Which::Finished => conditions.push("final = 1".to_owned()),
    }
    let conditions = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") };
    (format!("SELECT {TASK_COLUMNS} FROM tasks WHERE {conditions} ORDER BY created DESC, id DESC"), values)
}

fn outline(row: &Row<'_>) -> Result<Result<TaskSummary, Damaged>, StoreError> {
    match read_outline(row) {
        Ok(outline) => Ok(outline.map_err(|what| damaged_task(row, what))),
        Err(error) if is_row_damage(&error) => Ok(Err(damaged_task(row, error.to_string()))),
        Err(error) => Err(store_error(error)),
    }
}

fn read_outline(row: &Row<'_>) -> rusqlite::Result<Result<TaskSummary, String>> {
    let id: String = row.get(FROM_THE_TASK)?;
    let (owner, parent, live): (Option<String>, Option<String>, Option<String>) =
        (row.get(4)?, row.get(11)?, row.get(17)?);
    let (task, owner, parent) = match (parse_id("id", &id), parse_optional(owner), parse_optional(parent)) {
        (Ok(task), Some(owner), Some(parent)) => (task, owner, parent),
        (Err(what), ..) => return Ok(Err(what)),
        _ => return Ok(Err("owner or parent is not an id".into())),
    };
    if ChainHead::parse(row.get_ref(1)?.as_str().unwrap_or_default()).is_none() {
        return Ok(Err("head is not a hash".into()));
    }
    let result: Option<String> = row.get(26)?;
    let result = result.and_then(|name| ResultKind::ALL.into_iter().find(|kind| kind.name() == name));
    let steps: (Option<u32>, Option<u32>) = (row.get(19)?, row.get(20)?);
    Ok(Ok(TaskSummary {
        task,
        owner,
        parent,
        live: live.is_some(),
        of_runner: row.get_ref(12)?.as_str().is_ok_and(|driver| driver == Driver::Runner.name()),
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
    }))
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
