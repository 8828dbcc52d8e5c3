//! The feed: events of all tasks in the order of their commits, as front ends stream them.
//!
//! Plain data; the databases fill it. A position is a place in the history of the home. It grows in the order of commits and is never used
//! again, whatever is removed or crashes, so it is all that a reader has to remember.

use longhaul_core::ids::TaskId;

use crate::{Damaged, StoredEvent};

/// Events after a position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feed {
    /// In the order of their commits.
    pub events: Vec<FeedEvent>,
    /// Events that could not be read. They are skipped, and hide none of the others.
    pub damaged: Vec<Damaged>,
    /// Where to continue: nothing up to here is left to read.
    pub position: u64,
    /// There may be more behind that.
    pub more: bool,
    /// Events after the asked position were removed with their tasks, or the history ends before it, as in a restored copy. Whoever keeps
    /// a state of its own has to build it again.
    pub has_gap: bool,
}

/// An event and its place in the history of the home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// Its position.
    pub position: u64,
    /// Its task.
    pub task: TaskId,
    /// The event.
    pub event: StoredEvent,
}
