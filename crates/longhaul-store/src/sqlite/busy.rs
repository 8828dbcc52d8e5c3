//! Waiting for a lock that another process holds: 1 to 5 ms with jitter, ten seconds in all, then `Busy`.
//!
//! SQLite's own waiting backs off to 100 ms and starves some callers; ours keeps them even. Used for every connection.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::failure::is_busy;

/// How long a caller waits in all.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Gives a connection our way of waiting.
pub(super) fn wait_with_jitter(connection: &mut Connection) -> rusqlite::Result<()> {
    let mut began = Instant::now();
    connection.busy_handler(Some(move |earlier_calls: i32| {
        if earlier_calls == 0 {
            began = Instant::now();
        }
        pause_until(began + PATIENCE)
    }))
}

/// Tries again while others are in the way. Changing the journal mode and recovering a log report busy without asking the
/// connection's handler.
pub(super) fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && pause_until(deadline) => {}
            answer => return answer,
        }
    }
}

/// Sleeps 1 to 5 ms; false, and no sleep, once the deadline has passed.
fn pause_until(deadline: Instant) -> bool {
    if Instant::now() >= deadline {
        return false;
    }
    // Every new state carries other keys, which is all the randomness that jitter needs.
    let random = RandomState::new().build_hasher().finish();
    thread::sleep(Duration::from_micros(1_000 + random % 4_000));
    true
}
