//! Several processes on one home: nothing is lost between them, locks of the dead are no obstacle, and waiting has an end.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use longhaul_store::{CommitError, StoreError, WholeStore};

use super::SqliteHarness;
use super::child::Player;
use super::conformance::moving::marks;
use super::conformance::sample::{by_person, mark, reload, submitted};
use longhaul_store::Store;

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_keep_all_their_changes() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let task = submitted(&store, "one").await;
    let mut players = ["left", "right"].map(|label| Player::start("marks", harness.home(), Some(&task), label));
    players.iter_mut().for_each(Player::go);
    for player in &mut players {
        let (well, acks) = player.end();
        assert_eq!((well, acks.len()), (true, 25));
    }
    let kept = marks(&store, &task).await;
    assert_eq!(kept.len(), 50);
    let expected: BTreeSet<String> =
        ["left", "right"].iter().flat_map(|side| (0..25).map(move |number| format!("{side}-{number}"))).collect();
    assert_eq!(kept.into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(store.verify(task.task.id).await.expect("a report").broken, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bell_rings_for_another_process() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let task = submitted(&store, "one").await;
    let mut changes = store.changes().expect("a bell");
    let mut player = Player::start("marks", harness.home(), Some(&task), "other");
    player.go();
    while reload(&store, &task).await.task.version < 26 {
        let rung = tokio::time::timeout(Duration::from_secs(30), changes.rung()).await;
        rung.expect("a ring while the other process commits");
    }
    assert!(player.end().0);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_may_make_the_database_at_once() {
    let harness = SqliteHarness::new();
    let mut players: Vec<Player> = (0..6).map(|_| Player::start("opens", harness.home(), None, "")).collect();
    players.iter_mut().for_each(Player::go);
    assert!(players.iter_mut().all(|player| player.end().0));
    assert_eq!(harness.store().check().await.expect("a check"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_dies_with_its_process() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let task = submitted(&store, "one").await;
    let mut holder = Player::start("holds_the_lock", harness.home(), None, "");
    holder.go();
    holder.wait_for("holding");
    let change = by_person(&task, vec![mark("x")]);
    let waiting = tokio::spawn(async move { store.commit(change).await });
    assert!(!waiting.is_finished());
    holder.kill();
    waiting.await.expect("no panic").expect("the lock is free");
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_lock_ends_in_busy() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let task = submitted(&store, "one").await;
    let lock = rusqlite::Connection::open(harness.home().join("longhaul.db")).expect("a database");
    lock.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let began = Instant::now();
    let answer = store.commit(by_person(&task, vec![mark("x")])).await;
    assert!(matches!(answer, Err(CommitError::Store(StoreError::Busy))), "{answer:?}");
    let waited = began.elapsed();
    assert!((Duration::from_secs(10)..Duration::from_secs(20)).contains(&waited), "{waited:?}");
    assert_eq!(reload(&store, &task).await, task, "readers are not held up, and nothing was written");
    lock.execute_batch("ROLLBACK").expect("the lock is free");
    store.commit(by_person(&task, vec![mark("x")])).await.expect("a change");
}
