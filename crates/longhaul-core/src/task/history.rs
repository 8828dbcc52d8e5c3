//! The sessions of a task, read back from its events, for every face that shows them.
//! Derived each time, never stored: the events are the history.

use serde::Serialize;

use super::{Ended, Event, SessionRun, Usage};
use crate::time::Time;

/// One session as history knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRecord {
    /// As it was started.
    pub run: SessionRun,
    /// How it ended, if it did.
    pub ended: Option<Ended>,
    /// When its end was committed.
    pub ended_at: Option<Time>,
    /// Whether it brought new ticks.
    pub progress: bool,
}

/// The sessions in a task's events, in order.
pub fn sessions<'a>(events: impl IntoIterator<Item = (Time, &'a Event)>) -> Vec<SessionRecord> {
    let mut records: Vec<SessionRecord> = Vec::new();
    for (at, event) in events {
        if let Event::SessionStarted { session } = event {
            records.push(SessionRecord { run: session.clone(), ended: None, ended_at: None, progress: false });
        }
        let Some(record) = records.last_mut() else { continue };
        if let Event::SessionRead { said, .. } = event {
            record.run.conversation = record.run.conversation.take().or_else(|| said.conversation.clone());
            record.run.usage = Usage::plus(record.run.usage, said.usage);
        }
        if let Event::SessionEnded { ended, progress, .. } = event {
            record.ended = Some(ended.clone());
            record.ended_at = Some(at);
            record.progress = *progress;
        }
    }
    records
}
