//! What the writer remembers of tasks it wrote, so that a commit neither parses nor replays them again.
//!
//! Used only inside a transaction: an entry counts only while the row in the database is still exactly the one it was made with,
//! chain head included, so another process's commit, a rollback or damage is never overlooked.

use std::collections::HashMap;
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use rusqlite::Connection;

use super::load::{damage, find_unless};
use super::row::{TaskRow, says};
use crate::StoreError;

/// As many tasks as are remembered.
const TASKS: usize = 1_024;

/// Tasks as the writer last saw them.
#[derive(Debug, Default)]
pub(super) struct Cache {
    rows: HashMap<TaskId, Arc<TaskRow>>,
    /// Rows that were replaced, whose memory is given back when nobody waits.
    replaced: Vec<Arc<TaskRow>>,
}

impl Cache {
    /// One task by its id, or none, as it is in this transaction.
    pub(super) fn find(&mut self, connection: &Connection, task: TaskId) -> Result<Option<Arc<TaskRow>>, StoreError> {
        let known = self.rows.get(&task);
        let found: Option<Result<Arc<TaskRow>, _>> =
            find_unless(connection, task, |row| known.filter(|known| says(row, 0, &known.values)).cloned())?;
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
        self.replaced.extend(self.rows.insert(task, row));
    }

    /// Gives memory back, once the callers have their answers.
    pub(super) fn tidy(&mut self) {
        self.replaced.clear();
    }
}
