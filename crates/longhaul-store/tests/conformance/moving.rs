//! Promises about many at once: compare-and-set lets exactly one win, and nothing acknowledged is lost.

use std::collections::BTreeSet;
use std::sync::Arc;

use longhaul_core::task::Event;
use longhaul_store::{CommitError, Guard, Store, Stored};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::Harness;
use super::sample::{by_person, mark, submitted};

/// Loads, commits, and begins again on a conflict, as every front end does.
pub(crate) async fn insist(store: &dyn Store, first_seen: &Stored, text: &str) -> Stored {
    let mut seen = first_seen.clone();
    loop {
        match store.commit(by_person(&seen, vec![mark(text)])).await {
            Ok(committed) => return committed.stored,
            Err(CommitError::Conflict) => seen = super::sample::reload(store, &seen).await,
            Err(other) => panic!("unexpected: {other}"),
        }
    }
}

/// The texts of all marks of a task, in order.
pub(crate) async fn marks(store: &dyn Store, seen: &Stored) -> Vec<String> {
    let events = store.events(seen.task.id, 0, u32::MAX).await.expect("events");
    let texts = events.into_iter().filter_map(|stored| match stored.event {
        Event::Forced { target } => Some(target),
        _ => None,
    });
    texts.collect()
}

pub(crate) async fn concurrent_changes_of_one_task_are_all_kept(harness: &dyn Harness) {
    let task = submitted(&*harness.open().await, "one").await;
    let store = harness.open().await;
    let second_handle = harness.open().await;
    let together = Arc::new(Barrier::new(25));
    let mut changes = JoinSet::new();
    for number in 0..25 {
        let store = if number % 2 == 0 { Arc::clone(&store) } else { Arc::clone(&second_handle) };
        let (task, together) = (task.clone(), Arc::clone(&together));
        changes.spawn(async move {
            together.wait().await;
            insist(&*store, &task, &number.to_string()).await;
        });
    }
    changes.join_all().await;
    let kept = marks(&*store, &task).await;
    assert_eq!(kept.len(), 25);
    assert_eq!(kept.into_iter().collect::<BTreeSet<_>>(), (0..25).map(|number| number.to_string()).collect());
    assert_eq!(store.verify(task.task.id).await.expect("a report").broken, None);
}

pub(crate) async fn compare_and_set_lets_one_win(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = submitted(&*store, "one").await;
    let together = Arc::new(Barrier::new(16));
    let mut changes = JoinSet::new();
    for number in 0..16 {
        let (store, task, together) = (Arc::clone(&store), task.clone(), Arc::clone(&together));
        changes.spawn(async move {
            together.wait().await;
            store.commit(by_person(&task, vec![mark(number.to_string())])).await.map(|_| number.to_string())
        });
    }
    let (won, lost): (Vec<_>, Vec<_>) = changes.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 15));
    assert!(lost.iter().all(|answer| matches!(answer, Err(CommitError::Conflict))), "{lost:?}");
    let winner = won.into_iter().map(|answer| answer.expect("a winner")).collect::<Vec<_>>();
    assert_eq!(marks(&*store, &task).await, winner);
}

pub(crate) async fn a_refused_change_does_not_fail_its_neighbours(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut tasks = Vec::new();
    for number in 0..64 {
        tasks.push(submitted(&*store, &format!("task-{number}")).await);
    }
    let together = Arc::new(Barrier::new(64));
    let mut changes = JoinSet::new();
    for (number, task) in tasks.iter().cloned().enumerate() {
        let (store, together) = (Arc::clone(&store), Arc::clone(&together));
        changes.spawn(async move {
            let mut change = by_person(&task, vec![mark("x"), mark("y")]);
            match number % 4 {
                0 => change.events.push(Event::WaitEnded),
                1 => change.guard = Guard::Version(7),
                _ => {}
            }
            together.wait().await;
            (task, number % 4 > 1, store.commit(change).await)
        });
    }
    for (task, welcome, answer) in changes.join_all().await {
        assert_eq!(answer.is_ok(), welcome, "{answer:?}");
        let expected = if welcome { 2 } else { 0 };
        assert_eq!(marks(&*store, &task).await.len(), expected);
    }
}

pub(crate) async fn acknowledged_order_is_stored_order(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut task = submitted(&*store, "one").await;
    let mut acknowledged = Vec::new();
    for number in 0..30 {
        task = insist(&*store, &task, &number.to_string()).await;
        acknowledged.push(number.to_string());
    }
    drop(store);
    assert_eq!(marks(&*harness.open().await, &task).await, acknowledged);
}
