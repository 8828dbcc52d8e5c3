//! The feed as server-sent events. Their ids are positions, so a client that returns with `Last-Event-ID` misses nothing, or learns that it did.
//!
//! A stream lives as long as its key: a revoked or expired one ends it. A client that does not read costs one page and a buffer of memory
//! until its connection is dropped.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, RawQuery, State};
use axum::http::header::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use longhaul_app::feed::{FeedItem, FeedReader};
use longhaul_app::{AppError, Call, Caller, ErrorKind};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::Http;
use super::gate::{LOOK_AGAIN, Presented};
use super::limits::Slot;
use super::refusal::Refused;
use super::routes::BASE;

/// Proxies close a connection that is silent for longer.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Where the feed is.
pub(super) fn path() -> String {
    format!("{BASE}/events")
}

struct Stream {
    http: Arc<Http>,
    presented: Presented,
    reader: FeedReader,
    stopping: watch::Receiver<bool>,
    look: Interval,
    is_over: bool,
    _slot: Slot,
}

/// Streams what happens to the tasks of the caller's tenant.
pub(super) async fn answer(
    State(http): State<Arc<Http>>,
    Extension(caller): Extension<Caller>,
    Extension(presented): Extension<Presented>,
    Extension(slot): Extension<Slot>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let after = after(&headers, query.as_deref().unwrap_or_default())?;
    let reader = FeedReader::open(&Call::new(Arc::clone(&http.app), caller), after).await?;
    let mut look = interval(LOOK_AGAIN);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stopping = http.stopping.clone();
    let stream = Stream { http, presented, reader, stopping, look, is_over: false, _slot: slot };
    // An id without data: a client that loses its connection before the first event knows where it was.
    let start = stream::iter([Ok(Event::default().id(stream.reader.position().to_string()))]);
    let events =
        stream::unfold(stream, |mut stream| async { Some((Ok::<Event, Infallible>(stream.next().await?), stream)) });
    Ok(Sse::new(start.chain(events)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// The position that a client has seen; none means now.
fn after(headers: &HeaderMap, query: &str) -> Result<Option<u64>, AppError> {
    let header = headers.get("last-event-id").map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let asked = || form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "after");
    let Some(text) = header.or_else(|| Some(asked()?.1.into_owned())) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        AppError::new(ErrorKind::Usage, "the position is not a number")
            .hint("send the id of the last event as `Last-Event-ID`, or as `?after=ID`; 0 is the beginning")
    })
}

impl Stream {
    /// The next event; none at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        while !self.is_over {
            let item = tokio::select! {
                _ = self.stopping.wait_for(|is| *is) => return None,
                _ = self.look.tick() => Ok(None),
                item = self.reader.next() => item,
            };
            match item {
                Ok(Some(item)) => return Some(event(&item)),
                // Something else happened, perhaps to the key.
                Ok(None) => match self.presented.check(&self.http).await {
                    Ok(()) => {}
                    Err(error) => return Some(self.end(&error)),
                },
                Err(error) => return Some(self.end(&error)),
            }
        }
        None
    }

    /// The last event.
    fn end(&mut self, error: &AppError) -> Event {
        self.is_over = true;
        Event::default().event("error").data(error.document())
    }
}

fn event(item: &FeedItem) -> Event {
    let name = match item {
        FeedItem::Event(_) => "event",
        FeedItem::Gap(_) => "resync",
    };
    Event::default().event(name).id(item.position().to_string()).data(item.document())
}
