//! The clock and the dice: the only places where this crate asks for the time or for chance, both handed to the pure core.
//! Everything else gets times and ids as arguments, and so can be tested with any.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use longhaul_core::ids::{LeaseId, SessionId, TaskId, WorkerId};
use longhaul_core::time::Time;
pub use longhaul_keeper::now;
use longhaul_keeper::random;

/// What tells the time; the wall clock unless a test has another one.
pub type Clock = fn() -> Time;

/// Time since the machine started, suspend included: it measures spans, because nobody can set it.
pub fn since_boot() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    // Counts suspend where there is no clock of that name.
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// A new task id.
pub fn mint_task() -> TaskId {
    TaskId::mint(now(), random())
}

/// A new session id.
pub fn mint_session() -> SessionId {
    SessionId::mint(now(), random())
}

/// A new id of a worker.
pub fn mint_worker() -> WorkerId {
    WorkerId::mint(now(), random())
}

/// A new id of a lease.
pub fn mint_lease() -> LeaseId {
    LeaseId::mint(now(), random())
}

/// A time of the file system.
pub fn time_of(at: SystemTime) -> Option<Time> {
    let since = at.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_micros()).ok().map(Time)
}
