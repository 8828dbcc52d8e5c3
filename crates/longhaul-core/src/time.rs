//! Points in time as the store keeps them: integer microseconds since the Unix epoch.
//!
//! Used by every crate for stored times; durations that must not jump with the wall clock are measured elsewhere, on the
//! monotonic clock. Nothing here asks what time it is.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time, in microseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// Milliseconds since the epoch; a time before it counts as the epoch.
    pub fn millis(self) -> u64 {
        u64::try_from(self.0 / 1000).unwrap_or(0)
    }

    /// This time moved later, saturating.
    pub fn after(self, span: Duration) -> Time {
        Time(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// This time moved earlier, saturating.
    pub fn before(self, span: Duration) -> Time {
        Time(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// How long it is from `earlier` until this time; zero when the clock went backwards.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// RFC 3339 in UTC with seconds, for people and JSON.
    pub fn rfc3339(self) -> String {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(stamp) => format!("{stamp:.0}"),
            Err(_) => format!("{}us", self.0),
        }
    }
}
