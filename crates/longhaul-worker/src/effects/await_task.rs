//! Waiting for another task to be verified. Answers once, when that one is final or gone.
//! It only reads the other task; what its end means is decided by the core.

use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Observation, State, Verdict};

use super::Job;

const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub(super) async fn await_end(job: Job, other: TaskId) {
    loop {
        match job.context.store.load(other).await {
            Ok(None) => break answer(&job, other, false, "gone".into()).await,
            Ok(Some(stored)) => match stored.task.state {
                State::Done { verdict } => {
                    let verified = matches!(verdict, Verdict::Verified { .. });
                    break answer(&job, other, verified, verdict.to_string()).await;
                }
                State::Cancelled { .. } => break answer(&job, other, false, "cancelled".into()).await,
                _ => {}
            },
            // The hub meets the same store and says so.
            Err(_) => {}
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn answer(job: &Job, task: TaskId, verified: bool, how: String) {
    job.answer(Observation::OtherEnded { task, verified, how }, Actor::worker()).await;
}
