//! What the writer remembers of tasks it wrote, so that a commit neither parses nor replays them again.
//!
//! Used only inside a transaction. An entry counts as long as nobody but this writer has committed, which SQLite's data version shows.
//! After another connection's commit or a rollback it counts once its row in the database was compared with it, chain head included. So
//! neither that commit nor damage done through SQLite is ever overlooked.

use std::collections::HashMap;
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use rusqlite::{Connection, Row};

use super::load::{damage, find_unless};
use super::read::last_position;
use super::row::{TaskRow, says};
use super::statement::value;
use crate::StoreError;

/// As many tasks as are remembered.
const TASKS: usize = 1_024;

/// Tasks as the writer last saw them.
#[derive(Debug, Default)]
pub(super) struct Cache {
    rows: HashMap<TaskId, Known>,
    /// SQLite's data version in the last transaction.
    data_version: i64,
    /// Counts the commits of others and our own rollbacks.
    era: u64,
    /// The position of the newest event; none if others may have written one.
    last_position: Option<i64>,
    /// Rows that were replaced, whose memory is given back when nobody waits.
    replaced: Vec<Arc<TaskRow>>,
}

#[derive(Debug)]
struct Known {
    row: Arc<TaskRow>,
    /// When it was last known to be what the database has.
    era: u64,
}

impl Cache {
    /// Finds out, right after a transaction began, whether others have committed since the last one.
    pub(super) fn begin(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let now = value(connection, "PRAGMA data_version", [])?;
        if std::mem::replace(&mut self.data_version, now) != now {
            self.distrust();
        }
        Ok(())
    }

    /// Lets every entry be compared with its row before it counts again.
    pub(super) fn distrust(&mut self) {
        self.era += 1;
        self.last_position = None;
    }

    /// The position of the next event in this transaction, never given to one before.
    pub(super) fn next_position(&mut self, connection: &Connection) -> Result<i64, StoreError> {
        let last = match self.last_position {
            Some(last) => last,
            None => last_position(connection)?,
        };
        self.last_position = Some(last + 1);
        Ok(last + 1)
    }

    /// One task by its id, or none, as it is in this transaction.
    pub(super) fn find(&mut self, connection: &Connection, task: TaskId) -> Result<Option<Arc<TaskRow>>, StoreError> {
        let known = self.rows.get_mut(&task);
        if let Some(Known { row, .. }) = known.as_ref().filter(|known| known.era == self.era) {
            return Ok(Some(Arc::clone(row)));
        }
        let same = |row: &Row<'_>| {
            let known = known.filter(|known| says(row, 0, &known.row.values))?;
            known.era = self.era;
            Some(Arc::clone(&known.row))
        };
        let found: Option<Result<Arc<TaskRow>, _>> = find_unless(connection, None, task, same)?;
        found.transpose().map_err(damage)
    }

    /// Remembers a task as it was just written. Final ones move no more.
    pub(super) fn keep(&mut self, task: TaskId, row: Arc<TaskRow>) {
        if row.stored.task.state.is_final() {
            self.rows.remove(&task);
            return;
        }
        if self.rows.len() >= TASKS {
            self.rows.clear();
        }
        let replaced = self.rows.insert(task, Known { row, era: self.era });
        self.replaced.extend(replaced.map(|known| known.row));
    }

    /// Gives memory back, once the callers have their answers.
    pub(super) fn tidy(&mut self) {
        self.replaced.clear();
    }
}
