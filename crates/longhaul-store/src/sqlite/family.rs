//! Families of tasks: everybody below one task at the top, found by `lineage`, the caps on how many and how deep, and shared limits.
//!
//! The writer counts in the transaction that submits a child or starts a session, so that no two members use the same rest.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, Family, Reached, Submission, Task};
use longhaul_core::time::Time;
use rusqlite::Connection;

use super::load::find_task;
use super::read::sound_rows;
use super::statement::first;
use crate::{CommitError, StoreError, Tenant};

/// The first limit that a task shares with its family and that is used up at this time.
pub(super) fn limit_reached(connection: &Connection, task: TaskId, at: Time) -> Result<Option<Reached>, StoreError> {
    Ok(Family::new(&family(connection, None, task)?, at).limit_reached(task))
}

/// The tasks of a task's family, itself included; empty when it has neither parent nor children. A damaged one is left out, so that it
/// does not stop the others: `list` and `check` name it.
pub(super) fn family(connection: &Connection, tenant: Option<&Tenant>, task: TaskId) -> Result<Vec<Task>, StoreError> {
    const MEMBERS: &str = "SELECT id FROM tasks, (SELECT substr(lineage, 1, 36) AS top FROM tasks \
            WHERE id = ?1 AND (?2 IS NULL OR tenant = ?2)) \
         WHERE (?2 IS NULL OR tenant = ?2) AND (id = top OR lineage > top || '/' AND lineage < top || '0')";
    let values = (task.to_string(), tenant.map(Tenant::name));
    let members: Vec<TaskId> = sound_rows(connection, MEMBERS, values, |row| {
        let id: String = row.get(0)?;
        Ok(id.parse().ok())
    })?;
    if members.len() < 2 {
        return Ok(Vec::new());
    }
    let mut family = Vec::with_capacity(members.len());
    for member in members {
        match find_task(connection, tenant, member) {
            Ok(found) => family.extend(found.map(|row| row.stored.task.clone())),
            Err(StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(family)
}

/// Refuses a child whose family is too large or whose place in it is too deep. A parent of another tenant is none, so that a family has one.
pub(super) fn check_caps(connection: &Connection, tenant: &str, events: &[Event]) -> Result<(), CommitError> {
    let submitted = events.iter().find_map(|event| {
        let Event::Submitted { submission } = event else { return None };
        Some(submission)
    });
    match submitted.and_then(|submission| Some((submission, submission.parent?))) {
        Some((submission, parent)) => check_child(connection, tenant, submission, parent),
        None => Ok(()),
    }
}

fn check_child(connection: &Connection, tenant: &str, child: &Submission, parent: TaskId) -> Result<(), CommitError> {
    const PLACE: &str = "SELECT length(lineage) / 37 + 1, (SELECT count(*) FROM tasks AS below WHERE below.final = 0 \
         AND below.lineage > substr(own.lineage, 1, 36) || '/' AND below.lineage < substr(own.lineage, 1, 36) || '0') \
         FROM tasks AS own WHERE id = ?1 AND tenant = ?2";
    let place: Option<(u32, u32)> =
        first(connection, PLACE, [&*parent.to_string(), tenant], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((depth, unfinished)) = place else { return Err(CommitError::NotFound) };
    let (most, deepest) = (child.patience.max_children, child.patience.child_depth);
    if depth > deepest {
        return Err(CommitError::TooDeep { deepest });
    }
    if unfinished >= most { Err(CommitError::TooManyChildren { most }) } else { Ok(()) }
}
