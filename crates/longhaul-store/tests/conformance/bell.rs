//! The promise that a listener is woken by commits, its own process's and others'.

use std::time::Duration;

use longhaul_store::Changes;

use super::Harness;
use super::sample::{by_person, lease, mark, now, submitted};

/// Far beyond what any store needs, and short enough for the control that must run into it.
const DEADLINE: Duration = Duration::from_secs(5);

async fn must_ring(changes: &mut Changes, what: &str) {
    tokio::time::timeout(DEADLINE, changes.rung()).await.unwrap_or_else(|_| panic!("no ring after {what}"));
}

pub(crate) async fn the_bell_rings_for_another_handles_commits(harness: &dyn Harness) {
    let (listening, writing) = (harness.open().await, harness.open().await);
    let mut changes = listening.changes().expect("a bell");
    let task = submitted(&*writing, "one").await;
    must_ring(&mut changes, "a submission").await;
    for _ in 0..3 {
        // A ring may come late and twice, so what counts is that looking again ends by seeing the commit.
        let moved = super::moving::insist(&*writing, &task, "x").await;
        while super::sample::reload(&*listening, &task).await != moved {
            must_ring(&mut changes, "a change").await;
        }
    }
}

pub(crate) async fn the_bell_rings_for_every_listener_of_a_handle(harness: &dyn Harness) {
    let store = harness.open().await;
    let (mut one, mut two) = (store.changes().expect("a bell"), store.changes().expect("a bell"));
    let task = submitted(&*store, "one").await;
    must_ring(&mut one, "a submission").await;
    must_ring(&mut two, "a submission").await;
    let moved = store.commit(by_person(&task, vec![mark("x")])).await.expect("a change").stored;
    must_ring(&mut one, "a change").await;
    store.claim(moved.task.id, 0, lease(), now()).await.expect("a claim");
    must_ring(&mut one, "a claim").await;
}

pub(crate) async fn the_bell_rings_when_it_is_rung(harness: &dyn Harness) {
    let (listening, ringing) = (harness.open().await, harness.open().await);
    let mut changes = listening.changes().expect("a bell");
    ringing.ring().expect("a ring");
    must_ring(&mut changes, "a ring").await;
}
