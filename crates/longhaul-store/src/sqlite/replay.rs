//! The fold over stored events, with suspicion: the hash chain, the gap-free order and the epochs are checked on the way.
//!
//! Used to load a task (from its snapshot on) and to verify it (from its first event on). It reads and changes nothing.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, Task};
use rusqlite::{Connection, Row};

use super::failure::store_error;
use super::row::{read_event, text_of};
use crate::{ChainEntry, ChainHead, StoreError, StoredEvent, link};

/// How far a task's events have been followed.
pub(super) struct Replay {
    /// Whose.
    id: TaskId,
    /// The last one's sequence number.
    pub(super) seq: u64,
    /// The last one's epoch.
    pub(super) epoch: u64,
    /// The hash up to it.
    pub(super) head: ChainHead,
    /// The bytes of those that were read.
    pub(super) bytes: u64,
    /// What they made.
    pub(super) task: Option<Task>,
}

impl Replay {
    /// Begins before the first event.
    pub(super) fn of(id: TaskId) -> Replay {
        Replay { id, seq: 0, epoch: 0, head: ChainHead::empty(id), bytes: 0, task: None }
    }

    /// Begins behind what a snapshot holds.
    pub(super) fn behind(task: Task, epoch: u64, head: ChainHead) -> Replay {
        Replay { id: task.id, seq: task.version, epoch, head, bytes: 0, task: Some(task) }
    }

    /// Follows all events that come next, up to the first thing that does not fit, if any. Asked again it continues behind that: what follows
    /// a damaged event is sound if it fits the hash that is stored with it.
    pub(super) fn follow(&mut self, connection: &Connection, number: i64) -> Result<Option<String>, StoreError> {
        const SQL: &str = "SELECT task, seq, at, epoch, actor, kind, payload, hash FROM events \
             WHERE task = ?1 AND seq > ?2 ORDER BY seq";
        let mut statement = connection.prepare_cached(SQL).map_err(store_error)?;
        let mut rows = statement.query((number, self.seq)).map_err(store_error)?;
        while let Some(row) = rows.next().map_err(store_error)? {
            if let Err(what) = self.one(row) {
                self.skip(row);
                return Ok(Some(format!("event {}: {what}", text_of(row, 1))));
            }
        }
        Ok(None)
    }

    fn skip(&mut self, row: &Row<'_>) {
        self.seq = row.get(1).unwrap_or(self.seq + 1);
        self.epoch = row.get(3).unwrap_or(self.epoch);
        self.head = row.get(7).ok().and_then(|hash: String| ChainHead::parse(&hash)).unwrap_or(self.head);
        if let Some(task) = &mut self.task {
            task.version = self.seq;
        }
    }

    fn one(&mut self, row: &Row<'_>) -> Result<(), String> {
        let StoredEvent { seq, at, epoch, event, hash, .. } = read_event(row)?;
        if seq != self.seq + 1 {
            return Err(format!("expected event {}", self.seq + 1));
        }
        let expected = self.epoch + u64::from(matches!(event, Event::Claimed { .. }));
        if epoch != expected {
            return Err(format!("epoch is {epoch}, expected {expected}"));
        }
        let text =
            |column| row.get_ref(column).and_then(|value| Ok(value.as_str()?)).map_err(|error| error.to_string());
        let (actor, kind, payload) = (text(4)?, text(5)?, text(6)?);
        let head = link(&self.head, self.id, &ChainEntry { seq, at, epoch, actor, kind, payload });
        if hash != head.to_string() {
            return Err("hash does not match the stored event".into());
        }
        let task = match &self.task {
            None => Task::begin(self.id, &event, at),
            Some(task) => task.apply(&event, at),
        };
        self.task = Some(task.map_err(|error| error.to_string())?);
        self.bytes += (actor.len() + payload.len()) as u64;
        (self.seq, self.epoch, self.head) = (seq, epoch, head);
        Ok(())
    }
}
