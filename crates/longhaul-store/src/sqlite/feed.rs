//! The feed: events of all tasks, or of one tenant's, after a position and in the order of commits.
//!
//! Used by the handle on a reader's connection. One read is bounded by events and bytes, and by the positions it looks at: those of other
//! tenants cost time too. Page and gap are of one moment.

use std::sync::LazyLock;

use rusqlite::{Connection, Row};

use super::failure::store_error;
use super::read::LAST_POSITION;
use super::row::{EVENT_COLUMNS, damaged_event, parse_id, read_event, text_of};
use crate::{Feed, FeedEvent, StoreError, Tenant};

/// One read looks at so many positions.
const SPAN: i64 = 50_000;

/// Where to look.
struct Range {
    after: i64,
    to: i64,
    end: i64,
    has_gap: bool,
}

/// Events after a position; see the trait.
pub(super) fn feed(
    connection: &Connection,
    tenant: Option<&Tenant>,
    after: u64,
    events: u32,
    bytes: u64,
) -> Result<Feed, StoreError> {
    let moment = connection.unchecked_transaction().map_err(store_error)?;
    let range = range(&moment, tenant, i64::try_from(after).unwrap_or(i64::MAX))?;
    let mut feed = Feed { has_gap: range.has_gap, position: range.to.unsigned_abs(), ..Feed::default() };
    if let Some(stopped_at) = page(&moment, tenant, &range, Most { events: events.max(1), bytes }, &mut feed)? {
        feed.position = stopped_at.unsigned_abs();
    }
    feed.more = feed.position < range.end.unsigned_abs();
    Ok(feed)
}

fn range(connection: &Connection, tenant: Option<&Tenant>, after: i64) -> Result<Range, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT ({LAST_POSITION}), coalesce((SELECT min(position) FROM events), 1), \
             coalesce((SELECT max(position) FROM removed_history WHERE ?1 IS NULL OR tenant = ?1), 0)"
        )
    });
    let found = connection.prepare_cached(&SQL).and_then(|mut statement| {
        statement.query_row([tenant.map(Tenant::name)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    });
    let (end, oldest, removed): (i64, i64, i64) = found.map_err(store_error)?;
    let has_gap = after < removed || after > end;
    // What was removed at the beginning needs no look.
    let after = after.max(oldest - 1).min(end);
    Ok(Range { after, to: after.saturating_add(SPAN).min(end), end, has_gap })
}

/// Reads events in the order of commits. The join keeps SQLite from beginning with the tasks of a tenant.
pub(super) static PAGE: LazyLock<String> = LazyLock::new(|| {
    let columns = EVENT_COLUMNS.split(", ").map(|column| format!("events.{column}")).collect::<Vec<_>>().join(", ");
    format!(
        "SELECT {columns}, position, tasks.id FROM events LEFT JOIN tasks ON number = task \
         WHERE position > ?1 AND position <= ?2 AND (?3 IS NULL OR tenant = ?3) ORDER BY position"
    )
});

/// How much a page may hold.
struct Most {
    events: u32,
    bytes: u64,
}

/// Fills the page. Answers with the last position on it if it was full before the end of the range.
fn page(
    connection: &Connection,
    tenant: Option<&Tenant>,
    range: &Range,
    most: Most,
    feed: &mut Feed,
) -> Result<Option<i64>, StoreError> {
    let mut statement = connection.prepare_cached(&PAGE).map_err(store_error)?;
    let mut rows = statement.query((range.after, range.to, tenant.map(Tenant::name))).map_err(store_error)?;
    let (mut last, mut left) = (range.after, most);
    while let Some(row) = rows.next().map_err(store_error)? {
        let size = size(row);
        if left.events == 0 || size > left.bytes && last > range.after {
            return Ok(Some(last));
        }
        left = Most { events: left.events - 1, bytes: left.bytes.saturating_sub(size) };
        last = row.get(8).map_err(store_error)?;
        match read(row) {
            Ok(event) => feed.events.push(event),
            Err(what) => feed.damaged.push(damaged_event(text_of(row, 9), row, what)),
        }
    }
    Ok(None)
}

/// The bytes of its actor and payload, which `history_bytes` counts too.
fn size(row: &Row<'_>) -> u64 {
    let bytes = |column| row.get_ref(column).ok().and_then(|value| value.as_bytes().ok()).map_or(0, <[u8]>::len);
    (bytes(4) + bytes(6)) as u64
}

fn read(row: &Row<'_>) -> Result<FeedEvent, String> {
    let task = row.get_ref(9).and_then(|id| Ok(id.as_str()?)).map_err(|_| "its task is missing")?;
    let position = row.get(8).map_err(|error| error.to_string())?;
    Ok(FeedEvent { position, task: parse_id("id", task)?, event: read_event(row)? })
}
