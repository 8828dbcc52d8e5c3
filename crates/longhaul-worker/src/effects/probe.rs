//! Looking again for what a session needs and the machine lacks: disk and memory. Answers `Woke` once both are enough.
//! Called for tasks that are blocked by something the owner can see for itself.

use std::time::Duration;

use longhaul_core::task::{Actor, Observation};

use super::Job;
use longhaul_app::check_floors;

const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub(super) async fn probe(job: Job) {
    while check_floors(&job.task, &job.context.home).is_err() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    job.answer(Observation::Woke, Actor::worker()).await;
}
