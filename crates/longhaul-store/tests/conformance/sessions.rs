//! Promises about who may have a session: the cap is counted in the transaction that starts one, free slots go to the first in line, and
//! a runner carries its own tasks out.

use std::sync::Arc;

use longhaul_core::ids::WorkerId;
use longhaul_core::task::{Driver, Event, Setting, Wait};
use longhaul_core::time::Time;
use longhaul_store::{Carrier, Change, CommitError, Store, Stored, Turns};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::Harness;
use super::sample::{advance, by_owner, claimed, ended, mark, started, submitted};

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

/// The names of those whose turn it is.
async fn next(store: &dyn Store, cap: u32, passed_over: &[WorkerId]) -> Vec<String> {
    let turns = store.turns(cap, passed_over).await.expect("turns");
    let mut names = Vec::new();
    for turn in turns.next {
        let stored = store.load(turn.task).await.expect("sound").expect("there");
        assert_eq!(stored.owner.as_ref().map(|owner| owner.worker), Some(turn.owner));
        names.push(stored.task.submission.name.to_string());
    }
    names
}

pub(crate) async fn a_free_slot_is_the_first_in_lines(harness: &dyn Harness) {
    let store = harness.open().await;
    let (old, _young, high) =
        (claimed(&*store, "old").await, claimed(&*store, "young").await, claimed(&*store, "high").await);
    advance(&*store, &high, Event::Edited { settings: vec![Setting::Priority(5)], by: None }).await;
    assert_eq!(next(&*store, 1, &[]).await, ["high"]);
    assert_eq!(next(&*store, 2, &[]).await, ["high", "old"]);
    // Whoever starts first has the slot: the line is asked before, and only the cap is enforced.
    store.commit(start_within(&old, 1)).await.expect("a session");
    assert_eq!(store.turns(1, &[]).await.expect("turns"), Turns { in_use: 1, next: Vec::new() });
    assert_eq!(next(&*store, 3, &[]).await, ["high", "young"]);
}

pub(crate) async fn a_worker_can_be_passed_over(harness: &dyn Harness) {
    let store = harness.open().await;
    let stopped = claimed(&*store, "stopped").await.owner.expect("an owner").worker;
    claimed(&*store, "other").await;
    assert_eq!(next(&*store, 1, &[stopped]).await, ["other"]);
    assert_eq!(next(&*store, 2, &[stopped]).await, ["other"]);
}

pub(crate) async fn only_who_is_about_to_start_is_in_line(harness: &dyn Harness) {
    let store = harness.open().await;
    submitted(&*store, "queued").await;
    let waiting = claimed(&*store, "waiting").await;
    let wait = Event::WaitStarted { why: Wait::Hours, until: Some(Time(1)), span_ms: None };
    advance(&*store, &waiting, wait).await;
    let runner = claimed(&*store, "runner").await;
    let edit = Event::Edited { settings: vec![Setting::Driver(Driver::Runner)], by: None };
    let runner = advance(&*store, &runner, edit).await;
    claimed(&*store, "preparing").await;
    assert_eq!(next(&*store, 9, &[]).await, ["preparing"]);
    advance(&*store, &runner, started()).await;
    assert_eq!(store.turns(1, &[]).await.expect("turns").in_use, 1, "a runner's session takes a slot too");
}

/// Workers leave a runner's task alone, until its session is told to stop or a person makes it supervised.
pub(crate) async fn the_carrier_follows_the_driver(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = claimed(&*store, "t").await;
    let carrier = async || store.candidates().await.expect("candidates")[0].carrier;
    assert_eq!(carrier().await, Carrier::Worker);
    let drive = |driver| Event::Edited { settings: vec![Setting::Driver(driver)], by: None };
    let task = advance(&*store, &task, drive(Driver::Runner)).await;
    assert_eq!(carrier().await, Carrier::Runner);
    let reopened = harness.open().await;
    let loaded = reopened.load(task.task.id).await.expect("sound").expect("there");
    assert_eq!(loaded.task.submission.driver, Driver::Runner);
    advance(&*store, &task, drive(Driver::Supervised)).await;
    assert_eq!(carrier().await, Carrier::Worker);
}
