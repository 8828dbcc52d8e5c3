//! Waiting for another task to be verified. Answers once, when that one is final or gone.
//! It only reads the other task; what its end means is decided by the core.

use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Observation, State};
use longhaul_store::Changes;

use super::Job;

/// How long to wait between two looks, however often the store's bell rings.
const PAUSE: Duration = Duration::from_secs(1);
/// How long to wait when it does not ring.
const SAFETY_NET: Duration = Duration::from_secs(30);

pub(super) async fn await_end(job: Job, other: TaskId) {
    // Without a bell the looks are only rarer.
    let mut changes = job.context.store.changes().ok();
    loop {
        // The hub meets the same store error and reports it.
        if let Ok(stored) = job.context.store.load(other).await
            && let Some((verified, how)) = end(stored.as_ref().map(|stored| &stored.task.state))
        {
            return job.answer(Observation::OtherEnded { task: other, verified, how }, Actor::worker()).await;
        }
        tokio::time::sleep(PAUSE).await;
        tokio::select! {
            () = rung(&mut changes) => {}
            () = tokio::time::sleep(SAFETY_NET) => {}
        }
    }
}

async fn rung(changes: &mut Option<Changes>) {
    match changes {
        Some(changes) => changes.rung().await,
        None => std::future::pending().await,
    }
}

/// Whether the other task was verified, and how it ended; none while it has not.
fn end(state: Option<&State>) -> Option<(bool, String)> {
    match state {
        None => Some((false, "gone".into())),
        Some(State::Done { verdict }) => Some((verdict.satisfies_after(), format!("done, {verdict}"))),
        Some(State::Cancelled { .. }) => Some((false, "cancelled".into())),
        Some(
            State::Queued
            | State::Preparing
            | State::Planning { .. }
            | State::Working { .. }
            | State::Verifying { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Paused
            | State::Held { .. }
            | State::Stopped { .. }
            | State::Blocked { .. },
        ) => None,
    }
}
