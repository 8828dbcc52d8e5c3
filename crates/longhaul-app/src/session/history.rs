//! The part of a task's history that front ends show: everything that moved it lately, and what its newest sessions reported.
//! Bounded, however long the task has run: `events` pages through the rest. Used by `show`, `why`, `plan` and the report.

use std::collections::HashSet;

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Event, SessionRecord};
use longhaul_store::StoredEvent;

use crate::app::Call;
use crate::error::AppError;

/// The most events of the story: several hundred sessions.
const STORY: u32 = 2_000;
/// The most reports of what sessions printed.
const READINGS: u32 = 5_000;

/// The newest events of a task, in order, and its submission.
pub(crate) async fn recent(call: &Call, task: TaskId) -> Result<Vec<StoredEvent>, AppError> {
    let mut events = call.newest_events(task, Event::STORY, STORY).await?;
    if events.first().is_some_and(|first| first.seq > 1) {
        events.splice(0..0, call.newest_events(task, &["submitted"], 1).await?);
    }
    let readings = call.newest_events(task, &["session_read"], READINGS).await?;
    let is_cut = readings.len() >= READINGS as usize;
    Ok(joined(events, readings, is_cut))
}

/// Both in order. If readings are missing, only sessions keep theirs that started later: a sum that lacks some is no sum.
fn joined(story: Vec<StoredEvent>, mut readings: Vec<StoredEvent>, is_cut: bool) -> Vec<StoredEvent> {
    if let Some(first) = readings.first().filter(|_| is_cut).map(|first| first.seq) {
        let later = story.iter().filter(|event| event.seq > first);
        let whole: HashSet<SessionId> = later.filter_map(|event| Some(event.event.started_session()?.id)).collect();
        readings.retain(|read| matches!(&read.event, Event::SessionRead { session, .. } if whole.contains(session)));
    }
    let mut events = [story, readings].concat();
    events.sort_by_key(|event| event.seq);
    events
}

/// The sessions that events report.
pub fn sessions_of(events: &[StoredEvent]) -> Vec<SessionRecord> {
    longhaul_core::task::sessions(events.iter().map(|event| (event.at, &event.event)))
}

#[cfg(test)]
mod tests {
    use longhaul_core::task::{Actor, Offset, Purpose, ReadTo, Said, SessionRun, Usage};
    use longhaul_core::time::Time;

    use super::*;
    use crate::mint_session;

    fn stored(seq: u64, event: Event) -> StoredEvent {
        StoredEvent { seq, at: Time(0), epoch: 1, actor: Actor::worker(), event, hash: String::new() }
    }

    fn started(session: SessionId, number: u32) -> Event {
        Event::SessionStarted { session: SessionRun::new(session, number, Purpose::Work, Time(0)) }
    }

    fn reading(session: SessionId) -> Event {
        let read = ReadTo { offset: Offset::default(), errors: Offset::default(), reader: serde_json::Value::Null };
        let usage = Usage { input: Some(1), output: Some(0), cost_micros: None };
        Event::SessionRead { session, read, said: Said { conversation: None, usage } }
    }

    #[test]
    fn a_session_whose_readings_are_cut_has_used_an_unknown_amount() {
        let (old, new) = (mint_session(), mint_session());
        let story = vec![stored(1, started(old, 1)), stored(4, started(new, 2))];
        let readings = vec![stored(3, reading(old)), stored(5, reading(new)), stored(6, reading(new))];
        let used = |is_cut| {
            let events = joined(story.clone(), readings.clone(), is_cut);
            assert!(events.is_sorted_by_key(|event| event.seq));
            sessions_of(&events).iter().map(|record| record.run.usage.total()).collect::<Vec<_>>()
        };
        assert_eq!(used(true), [None, Some(2)]);
        assert_eq!(used(false), [Some(1), Some(2)], "the control");
    }
}
