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
        match event {
            Event::SessionStarted { session } => {
                records.push(SessionRecord { run: session.clone(), ended: None, ended_at: None, progress: false });
            }
            Event::SessionRead { said, .. } => {
                if let Some(record) = records.last_mut() {
                    record.run.conversation = record.run.conversation.take().or_else(|| said.conversation.clone());
                    record.run.usage = Usage::plus(record.run.usage, said.usage);
                }
            }
            Event::SessionEnded { ended, progress, .. } => {
                if let Some(record) = records.last_mut() {
                    record.ended = Some(ended.clone());
                    record.ended_at = Some(at);
                    record.progress = *progress;
                }
            }
            Event::Submitted { .. }
            | Event::Claimed { .. }
            | Event::PlanRevised { .. }
            | Event::PlanRefused { .. }
            | Event::PlanRestored
            | Event::StopAsked { .. }
            | Event::WaitStarted { .. }
            | Event::WaitEnded
            | Event::Paused { .. }
            | Event::Held { .. }
            | Event::Released { .. }
            | Event::Driven { .. }
            | Event::Resumed { .. }
            | Event::HelpNeeded { .. }
            | Event::Stopped { .. }
            | Event::Blocked { .. }
            | Event::Unblocked
            | Event::Placed { .. }
            | Event::Edited { .. }
            | Event::Told { .. }
            | Event::PlanAccepted { .. }
            | Event::RoundStarted { .. }
            | Event::Checked { .. }
            | Event::RoundEnded { .. }
            | Event::AgentLimited { .. }
            | Event::AfterMet
            | Event::Reported { .. }
            | Event::Checkpointed { .. }
            | Event::HelpAsked { .. }
            | Event::HelpAnswered { .. }
            | Event::Failed { .. }
            | Event::Finished { .. }
            | Event::Cancelled { .. }
            | Event::Forced { .. }
            | Event::Noted { .. } => {}
        }
    }
    records
}
