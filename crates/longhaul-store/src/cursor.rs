//! A place in a list of tasks: where a page ended, so that the next one begins behind it, whatever was added or removed meanwhile.
//!
//! Made from a summary, handed to callers as text, and given back in a filter.

use std::fmt;
use std::str::FromStr;

use longhaul_core::ids::TaskId;
use longhaul_core::time::Time;

use crate::TaskSummary;

/// A place in a list that is ordered by age and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// When the last task before it was submitted.
    pub created: Time,
    /// That task.
    pub task: TaskId,
}

/// A text that is no cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid list position")]
pub struct BadCursor(String);

impl TaskSummary {
    /// The place right behind this task.
    pub fn cursor(&self) -> Cursor {
        Cursor { created: self.created, task: self.task }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.created.0, self.task)
    }
}

impl FromStr for Cursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Cursor, BadCursor> {
        let parts = text.split_once('.').and_then(|(created, task)| created.parse().ok().zip(task.parse().ok()));
        parts.map(|(created, task)| Cursor { created: Time(created), task }).ok_or_else(|| BadCursor(text.to_owned()))
    }
}
