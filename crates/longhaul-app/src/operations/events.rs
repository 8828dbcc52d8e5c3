//! `events`: what happened to a task, in order, one page at a time.
//! Only reads the history; `verify_history` proves that it is intact.

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::AppError;
use crate::lookup;
use crate::operation::{About, Answer, NO_TOOL, Operation, Permit, View};
use crate::views::EventView;

/// The most events of one answer, and how many an answer has unless asked otherwise.
const MOST: u32 = 500;
/// An answer ends with the event that brings its data to so many bytes.
const BYTES: usize = 1 << 20;

pub struct Events;

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EventsInput {
    /// Name or id of the task; by default the only unfinished task of this project, else its newest.
    pub task: Option<String>,
    /// Only events after this sequence number: the `next` of the last answer.
    pub after: u64,
    /// At most this many events; never more than 500.
    pub limit: Option<u32>,
}

/// A page of a task's history.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventPage {
    /// Id of the task.
    pub task: String,
    /// Oldest first.
    pub events: Vec<EventView>,
    /// Pass it as `after` to get the next page; null at the end.
    pub next: Option<u64>,
}

impl View for EventPage {
    const KIND: &'static str = "events";
}

impl Operation for Events {
    const ABOUT: About = About::new("events", "Read the history of a task", Action::Read, NO_TOOL);
    type Input = EventsInput;
    type Output = EventPage;

    async fn run(call: &Call, _: Permit, input: EventsInput) -> Result<Answer<EventPage>, AppError> {
        let stored = lookup::find_to_read(call, input.task.as_deref()).await?;
        let limit = input.limit.unwrap_or(MOST).clamp(1, MOST);
        let mut events = Vec::new();
        let mut bytes = 0;
        for event in call.store()?.events(stored.task.id, input.after, limit).await? {
            let view = EventView::new(&event);
            bytes += view.text.len() + view.data.to_string().len();
            events.push(view);
            if bytes >= BYTES {
                break;
            }
        }
        let last = events.last().map_or(input.after, |event| event.seq);
        let next = (last < stored.task.version).then_some(last);
        Ok(Answer::new(EventPage { task: stored.task.id.to_string(), events, next }))
    }
}
