//! Waking at a time: durable waits end by the wall clock, which may be set or stand still while the machine sleeps.
//! Sends `Woke` and nothing else; whether the time has really come is decided again by the core.

use std::time::Duration;

use longhaul_core::task::{Actor, Observation, State, Wait};
use longhaul_core::time::Time;

use super::Job;
use crate::clock::now;

/// How long a jump of the wall clock may go unnoticed.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

pub(super) async fn wake_at(job: Job, time: Time) {
    match job.task.state {
        // A span of our own choosing: the monotonic clock measures it, whatever happens to the other.
        State::Waiting { why: Wait::Backoff | Wait::Delay, .. } => tokio::time::sleep(time.since(now())).await,
        _ => wall_clock(time).await,
    }
    job.answer(Observation::Woke, Actor::worker()).await;
}

/// A point in time that somebody else named.
async fn wall_clock(time: Time) {
    loop {
        let left = time.since(now());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(LOOK_AGAIN)).await;
    }
}
