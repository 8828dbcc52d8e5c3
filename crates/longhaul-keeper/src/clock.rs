//! The wall clock, asked in one place for the times written into records.
//!
//! Called by whoever writes a record or an event. Limits never use it: they run on the monotonic clock.

use std::time::SystemTime;

use longhaul_core::time::Time;

/// The wall clock, for stored times; one that is set before the epoch counts as the epoch.
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
