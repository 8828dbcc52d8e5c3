//! The feed: what happens to all tasks that a caller may see, event by event in the order of commits, from any position in the history.
//!
//! Servers stream it. The reader holds one page at most, however slow its client is. Dropping [`FeedReader::next`] half-way loses nothing.

use std::collections::VecDeque;
use std::time::Duration;

use longhaul_store::{Changes, FeedEvent};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{Operation, View};
use crate::operations::Events;
use crate::text::document;
use crate::views::EventView;

/// The most that one read may bring into memory.
const EVENTS: u32 = 200;
const BYTES: u64 = 1 << 20;
/// How long to wait after a read before the next one, so that many small commits cost one read.
const BREATH: Duration = Duration::from_millis(50);

/// An event of a task, and its place in the feed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FeedEventView {
    /// Continue after it with `after`, or `Last-Event-ID`.
    pub position: u64,
    /// Id of the task.
    pub task_id: String,
    /// The event.
    #[serde(flatten)]
    pub event: EventView,
}

/// Something that is missing in the feed: whoever keeps a state built from events has to build it again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FeedGapView {
    /// The feed continues after it.
    pub position: u64,
    /// Whether events were removed with their tasks before they were read.
    pub removed: bool,
    /// Events that are damaged and left out.
    pub damaged: usize,
    /// What to do.
    pub next_step: String,
}

impl View for FeedEventView {
    const KIND: &'static str = "feed_event";
}

impl View for FeedGapView {
    const KIND: &'static str = "feed_gap";
}

/// One piece of the feed.
#[derive(Debug)]
pub enum FeedItem {
    /// Something happened to a task.
    Event(Box<FeedEventView>),
    /// Something is missing.
    Gap(FeedGapView),
}

impl FeedItem {
    /// Where to continue after it.
    pub fn position(&self) -> u64 {
        match self {
            FeedItem::Event(event) => event.position,
            FeedItem::Gap(gap) => gap.position,
        }
    }

    /// The item as one JSON document.
    pub fn document(&self) -> String {
        match self {
            FeedItem::Event(event) => document(FeedEventView::KIND, event),
            FeedItem::Gap(gap) => document(FeedGapView::KIND, gap),
        }
    }
}

/// Reads the feed for one caller.
pub struct FeedReader {
    call: Call,
    changes: Changes,
    /// Everything up to here was read.
    position: u64,
    items: VecDeque<FeedItem>,
    more: bool,
}

impl FeedReader {
    /// The feed after a position, by default after what has happened so far.
    pub async fn open(call: &Call, after: Option<u64>) -> Result<FeedReader, AppError> {
        Events::ABOUT.permit(&call.caller)?;
        if call.caller.actor.session.is_some() {
            let what = "the feed has the tasks of others too";
            return Err(AppError::new(ErrorKind::Forbidden, what).hint("read the events of the task instead"));
        }
        let changes = call.store()?.changes()?;
        let position = match after {
            Some(after) => after,
            None => call.store()?.feed(u64::MAX, 1, 0).await?.position,
        };
        Ok(FeedReader { call: call.clone(), changes, position, items: VecDeque::new(), more: true })
    }

    /// Everything up to this position was handed out.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next item; none if somebody changed something that this caller does not see.
    pub async fn next(&mut self) -> Result<Option<FeedItem>, AppError> {
        if self.items.is_empty() {
            if !self.more {
                self.changes.rung().await;
                tokio::time::sleep(BREATH).await;
            }
            self.read().await?;
        }
        Ok(self.items.pop_front())
    }

    async fn read(&mut self) -> Result<(), AppError> {
        let page = self.call.store()?.feed(self.position, EVENTS, BYTES).await?;
        if page.has_gap || !page.damaged.is_empty() {
            // Before the events of the page, so that whoever continues from here misses none.
            let position = page.events.first().map_or(page.position, |first| first.position - 1);
            self.items.push_back(FeedItem::Gap(gap(position, page.has_gap, page.damaged.len())));
        }
        self.items.extend(page.events.iter().map(|event| FeedItem::Event(Box::new(view(event)))));
        (self.position, self.more) = (page.position, page.more);
        Ok(())
    }
}

fn view(event: &FeedEvent) -> FeedEventView {
    FeedEventView { position: event.position, task_id: event.task.to_string(), event: EventView::new(&event.event) }
}

fn gap(position: u64, removed: bool, damaged: usize) -> FeedGapView {
    let next_step = "read the tasks again, with `list` and `show`: some events are missing".to_owned();
    FeedGapView { position, removed, damaged, next_step }
}
