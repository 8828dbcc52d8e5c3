//! Who may start a session: everything that holds one back is here, asked before a task is prepared and enforced by the commit that
//! starts it.
//!
//! The line is the owned tasks that are about to start a session, the most urgent first and then the oldest. A runner's task is not in
//! it: somebody waits for that in a terminal. All live sessions count, a runner's and a check's too.

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::{Driver, Event, State, Task};
use rusqlite::{Connection, Row};

use super::directory::holder;
use super::failure::store_error;
use super::family::limit_reached;
use super::row::unless_damaged;
use super::statement::value;
use crate::{Change, CommitError, StoreError, Turn, Turns};

/// Whose turn it is: as many tasks as there are free slots, none of a worker that is passed over, and none whose directory is another's.
pub(super) fn turns(connection: &Connection, cap: u32, passed_over: &[WorkerId]) -> Result<Turns, StoreError> {
    const LINE: &str = "SELECT id, owner, directory FROM tasks WHERE wants_owner = 1 AND owner IS NOT NULL AND state = ?1 AND driver <> ?2 \
         ORDER BY priority DESC, created, id";
    let in_use = live_sessions(connection, None)?;
    let free = cap.saturating_sub(in_use) as usize;
    if free == 0 {
        return Ok(Turns { in_use, next: Vec::new() });
    }
    let mut statement = connection.prepare_cached(LINE).map_err(store_error)?;
    let mut line = statement.query([State::PREPARING, Driver::Runner.word()]).map_err(store_error)?;
    let mut next = Vec::new();
    // The line may be long, and only its beginning counts.
    while next.len() < free
        && let Some(row) = line.next().map_err(store_error)?
    {
        let Some((turn, directory)) = unless_damaged(read_turn(row))?.flatten() else { continue };
        if !passed_over.contains(&turn.owner) && holder(connection, turn.task, directory.as_deref())?.is_none() {
            next.push(turn);
        }
    }
    Ok(Turns { in_use, next })
}

fn read_turn(row: &Row<'_>) -> rusqlite::Result<Option<(Turn, Option<String>)>> {
    let (id, owner, directory): (String, String, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let turn = id.parse().ok().zip(owner.parse().ok()).map(|(task, owner)| Turn { task, owner });
    Ok(turn.map(|turn| (turn, directory)))
}

/// Whether a task may start the session of a change, inside the transaction that starts it. A runner is started by a person, who sees what
/// else works in the directory. Checks of the result count for no limit.
pub(super) fn check_start(connection: &Connection, task: Option<&Task>, change: &Change) -> Result<(), CommitError> {
    let session = change.events.iter().find_map(Event::started_session);
    let (Some(task), Some(session)) = (task, session) else { return Ok(()) };
    if let Some(cap) = change.session_cap
        && live_sessions(connection, Some(task.id))? >= cap
    {
        return Err(CommitError::SessionCap { cap });
    }
    let directory = task.submission.directory().filter(|_| task.submission.driver.conduct().takes_turns);
    if let Some(by) = holder(connection, task.id, directory)? {
        return Err(CommitError::DirectoryTaken { by });
    }
    match session.purpose.is_agent().then(|| limit_reached(connection, task.id, change.at)).transpose()?.flatten() {
        Some(reached) => Err(CommitError::FamilyLimit { reached }),
        None => Ok(()),
    }
}

fn live_sessions(connection: &Connection, beside: Option<TaskId>) -> Result<u32, StoreError> {
    const LIVE: &str = "SELECT count(*) FROM tasks WHERE live_session IS NOT NULL AND id IS NOT ?1";
    value(connection, LIVE, [beside.map(|task| task.to_string())])
}
