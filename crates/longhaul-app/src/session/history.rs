//! The part of a task's history that front ends show: everything that moved it lately, and what its newest sessions reported.
//! Bounded, however long the task has run: `events` pages through the rest. Used by `show`, `why`, `plan` and the report.

use std::collections::HashSet;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, SessionRecord};
use longhaul_store::StoredEvent;

use crate::app::Call;
use crate::error::AppError;

/// The most events of the story: several hundred sessions.
const STORY: u32 = 2_000;
/// The most reports of what sessions printed.
const READINGS: u32 = 5_000;

/// The newest events of a task, in order, and its submission.
pub async fn recent(call: &Call, task: TaskId) -> Result<Vec<StoredEvent>, AppError> {
    let store = call.store()?;
    let mut events = store.newest_events(task, Event::STORY, STORY).await?;
    if events.first().is_some_and(|first| first.seq > 1) {
        events.splice(0..0, store.events(task, 0, 1).await?);
    }
    let mut readings = store.newest_events(task, &["session_read"], READINGS).await?;
    if readings.len() >= READINGS as usize {
        let whole = started_after(&events, readings.first().map_or(0, |first| first.seq));
        readings
            .retain(|reading| matches!(&reading.event, Event::SessionRead { session, .. } if whole.contains(session)));
    }
    events.extend(readings);
    events.sort_by_key(|event| event.seq);
    Ok(events)
}

/// The sessions whose reports are all there. A sum that lacks some is no sum: what the others used is unknown.
fn started_after(events: &[StoredEvent], seq: u64) -> HashSet<longhaul_core::ids::SessionId> {
    let later = events.iter().filter(|event| event.seq > seq);
    later.filter_map(|event| Some(event.event.started_session()?.id)).collect()
}

/// The sessions that events report.
pub fn sessions_of(events: &[StoredEvent]) -> Vec<SessionRecord> {
    longhaul_core::task::sessions(events.iter().map(|event| (event.at, &event.event)))
}
