//! Who may work in a directory of the person's: one task at a time in it, in those around it and in those inside it.
//!
//! A live session always goes first. Otherwise families go one after the other, the one in progress first, else the older; inside a
//! family children go before their parent, and older ones before younger. This is a total order, so the first in it waits for nobody
//! but live sessions, and those end: no two tasks can wait for each other.

use std::path::{Component, Path};

use longhaul_core::ids::TaskId;
use rusqlite::Connection;

use super::append::as_json;
use super::statement;
use crate::StoreError;

/// Unfinished tasks that work in the directory ?1, one of those around it (?2, with itself), one inside it (between ?3 and ?4), or
/// whose worktree contains it: worktrees are named after their tasks (?5).
const OVERLAPPING: &str = "overlapping AS (
    SELECT * FROM tasks WHERE final = 0 AND directory IN (SELECT value FROM json_each(?2))
    UNION ALL SELECT * FROM tasks WHERE final = 0 AND directory > ?3 AND directory < ?4 AND directory <> ?1
    UNION ALL SELECT * FROM tasks WHERE final = 0 AND id IN (SELECT value FROM json_each(?5)))";

/// The task that this one has to wait for before it may work in its directory.
pub(super) fn holder(
    connection: &Connection,
    task: TaskId,
    directory: Option<&str>,
) -> Result<Option<TaskId>, StoreError> {
    let Some(directory) = directory else { return Ok(None) };
    let sql = format!(
        "WITH {OVERLAPPING}, own AS (
            SELECT own.lineage, top.id AS top, top.sessions = 0 AS idle FROM tasks AS own
            JOIN tasks AS top ON top.id = substr(own.lineage, 1, 36) WHERE own.id = ?6)
         SELECT other.id FROM own, overlapping AS other JOIN tasks AS top ON top.id = substr(other.lineage, 1, 36)
         WHERE other.id <> ?6 AND (other.live_session IS NOT NULL OR CASE WHEN top.id = own.top
            THEN other.lineage || '~' < own.lineage || '~'
            ELSE (top.sessions = 0, top.id) < (own.idle, own.top) END)
         LIMIT 1"
    );
    first(connection, &sql, directory, Some(task))
}

/// An unfinished task that works in this directory, around it or inside it.
pub(super) fn works_in(connection: &Connection, directory: &str) -> Result<Option<TaskId>, StoreError> {
    first(
        connection,
        &format!("WITH {OVERLAPPING} SELECT id FROM overlapping WHERE id IS NOT ?6 LIMIT 1"),
        directory,
        None,
    )
}

fn first(
    connection: &Connection,
    sql: &str,
    directory: &str,
    own: Option<TaskId>,
) -> Result<Option<TaskId>, StoreError> {
    let path = Path::new(directory);
    let around: Vec<&str> = path.ancestors().filter_map(Path::to_str).collect();
    let names: Vec<&str> = path.components().filter_map(name).collect();
    let inside = directory.trim_end_matches('/');
    let values = (
        directory,
        as_json(&around)?,
        format!("{inside}/"),
        // The character after the slash.
        format!("{inside}0"),
        as_json(&names)?,
        own.map(|task| task.to_string()),
    );
    let found: Option<String> = statement::first(connection, sql, values, |row| row.get(0))?;
    Ok(found.and_then(|id| id.parse().ok()))
}

fn name(component: Component<'_>) -> Option<&str> {
    match component {
        Component::Normal(name) => name.to_str(),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    }
}
