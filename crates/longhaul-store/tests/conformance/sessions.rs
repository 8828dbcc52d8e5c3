//! Promises about who may have a session: the cap is counted in the transaction that starts one, and a runner carries its own tasks out.

use std::sync::Arc;

use longhaul_core::task::{Driver, Event, Setting};
use longhaul_store::{Carrier, Change, CommitError, Stored};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::Harness;
use super::sample::{advance, by_owner, claimed, ended, mark, started};

fn start_within(seen: &Stored, cap: u32) -> Change {
    Change { session_cap: Some(cap), ..by_owner(seen, vec![started()]) }
}

pub(crate) async fn the_session_cap_holds_under_concurrency(harness: &dyn Harness) {
    let handles = [harness.open().await, harness.open().await];
    let together = Arc::new(Barrier::new(12));
    let mut starts = JoinSet::new();
    for number in 0..12 {
        let task = claimed(&*handles[0], &format!("task-{number}")).await;
        let (store, together) = (Arc::clone(&handles[number % 2]), Arc::clone(&together));
        starts.spawn(async move {
            together.wait().await;
            store.commit(start_within(&task, 3)).await
        });
    }
    let (live, refused): (Vec<_>, Vec<_>) = starts.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((live.len(), refused.len()), (3, 9));
    assert!(refused.iter().all(|answer| matches!(answer, Err(CommitError::SessionCap { cap: 3 }))), "{refused:?}");
    let candidates = handles[1].candidates().await.expect("candidates");
    assert_eq!(candidates.iter().filter(|candidate| candidate.live).count(), 3);
}

pub(crate) async fn an_ended_session_makes_room(harness: &dyn Harness) {
    let store = harness.open().await;
    let (one, two) = (claimed(&*store, "one").await, claimed(&*store, "two").await);
    let live = store.commit(start_within(&one, 1)).await.expect("a first session").stored;
    let refused = store.commit(start_within(&two, 1)).await;
    assert!(matches!(refused, Err(CommitError::SessionCap { cap: 1 })), "{refused:?}");
    // The cap speaks of starts only, and a task does not count against itself.
    let marked = Change { session_cap: Some(0), ..by_owner(&two, vec![mark("x")]) };
    let two = store.commit(marked).await.expect("no session is started").stored;
    let session = live.task.state.session().expect("a session").id;
    let restarted = Change { events: vec![ended(session), started()], ..start_within(&live, 1) };
    let live = store.commit(restarted).await.expect("the next session of the same task").stored;
    let session = live.task.state.session().expect("a session").id;
    advance(&*store, &live, ended(session)).await;
    store.commit(start_within(&two, 1)).await.expect("there is room");
}

pub(crate) async fn the_higher_priority_goes_first(harness: &dyn Harness) {
    let store = harness.open().await;
    let (low, high) = (claimed(&*store, "low").await, claimed(&*store, "high").await);
    let raise = Event::Edited { settings: vec![Setting::Priority(5)] };
    let high = advance(&*store, &high, raise).await;
    let refused = store.commit(start_within(&low, 1)).await;
    assert!(matches!(refused, Err(CommitError::SessionCap { cap: 1 })), "{refused:?}");
    store.commit(start_within(&low, 2)).await.expect("there is room for both");
    store.commit(start_within(&high, 2)).await.expect("the higher one");
}

/// Workers leave a runner's task alone, until its session is told to stop or a person makes it supervised.
pub(crate) async fn the_carrier_follows_the_driver(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = claimed(&*store, "t").await;
    let carrier = async || store.candidates().await.expect("candidates")[0].carrier;
    assert_eq!(carrier().await, Carrier::Worker);
    let drive = |driver| Event::Edited { settings: vec![Setting::Driver(driver)] };
    let task = advance(&*store, &task, drive(Driver::Runner)).await;
    assert_eq!(carrier().await, Carrier::Runner);
    let reopened = harness.open().await;
    let loaded = reopened.load(task.task.id).await.expect("sound").expect("there");
    assert_eq!(loaded.task.submission.driver, Driver::Runner);
    advance(&*store, &task, drive(Driver::Supervised)).await;
    assert_eq!(carrier().await, Carrier::Worker);
}
