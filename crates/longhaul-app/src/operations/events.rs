//! `events`: what happened to a task, in order, one page at a time.
//! Only reads the history; `verify_history` proves that it is intact.

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::Serialize;

use super::TaskPageInput;
use crate::app::Call;
use crate::error::AppError;
use crate::lookup;
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::views::{EventView, Page, PageInput};

/// The operation `events`.
pub struct Events;

/// A page of a task's history.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventPage {
    /// Id of the task.
    pub task_id: String,
    /// Oldest first.
    pub events: Vec<EventView>,
    /// Pass it as `after` to get the next page; null at the end. Later events come after the last `seq`.
    pub next: Option<u64>,
}

impl View for EventPage {
    const KIND: &'static str = "events";
}

impl Operation for Events {
    const ABOUT: About =
        About::new("events", "Read the history of a task", Action::Read, COMMAND_LINE).route("/tasks/{task}/events");
    type Input = TaskPageInput;
    type Output = EventPage;

    async fn run(call: &Call, _: Permit, input: TaskPageInput) -> Result<Answer<EventPage>, AppError> {
        let stored = lookup::find_to_read(call, input.task.as_deref()).await?;
        let found = call.store()?.events(stored.task.id, input.page.after, input.page.most()).await?;
        let mut events = found.iter().map(EventView::new).collect();
        // The store has passed over what came before.
        Page::new(PageInput { after: 0, ..input.page }).cut(&mut events);
        let last = events.last().map_or(input.page.after, |event| event.seq);
        let next = (last < stored.task.version).then_some(last);
        Ok(Answer::new(EventPage { task_id: stored.task.id.to_string(), events, next }))
    }
}
