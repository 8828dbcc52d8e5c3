//! Kill -9 of committing processes, with an external record of what they acknowledged: nothing acknowledged is ever lost.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

use longhaul_store::{Store, Stored, WholeStore};

use super::SqliteHarness;
use super::child::{Player, keyed_change};
use super::conformance::moving::marks;
use super::conformance::sample::submitted;

/// A reader of the feed that remembers only its position.
#[derive(Default)]
struct Reader {
    position: u64,
    seqs: Vec<u64>,
}

impl Reader {
    /// Reads on; what it has read so far is the history, each event once, whatever was killed in between.
    async fn follow(&mut self, store: &dyn Store, task: &Stored) {
        let feed = store.feed(self.position, u32::MAX, u64::MAX).await.expect("a feed");
        assert!(!feed.has_gap && !feed.more);
        self.position = feed.position;
        self.seqs.extend(feed.events.iter().map(|event| event.event.seq));
        let version = store.load(task.task.id).await.expect("a task").expect("a task").task.version;
        assert!(self.seqs.iter().copied().eq(1..=version), "{:?}", self.seqs);
    }
}

/// What was acknowledged and is not stored. The chain and everything else must hold besides.
async fn lost(harness: &SqliteHarness, task: &Stored, acknowledged: &[String]) -> Vec<String> {
    let store = harness.store();
    let stored = marks(&store, task).await;
    assert_eq!(store.check().await.expect("a check"), []);
    acknowledged.iter().filter(|text| !stored.contains(text)).cloned().collect()
}

fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}

/// Lets up to three milliseconds go by without sleeping, so that the kill falls anywhere within a commit.
fn spin() {
    let until = Instant::now() + Duration::from_micros(random(3_000));
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_lose_no_acknowledged_change() {
    let harness = SqliteHarness::new();
    let task = submitted(&harness.store(), "one").await;
    let mut acknowledged = Vec::new();
    let mut reader = Reader::default();
    for round in 0..50 {
        let mut player = Player::start("commits_forever", harness.home(), Some(&task), &round.to_string());
        player.go();
        for _ in 0..=random(6) {
            acknowledged.push(player.next_ack().expect("a living child acknowledges"));
        }
        spin();
        acknowledged.extend(player.kill());
        assert_eq!(lost(&harness, &task, &acknowledged).await, Vec::<String>::new(), "round {round}");
        reader.follow(&harness.store(), &task).await;
    }
    assert!(acknowledged.len() >= 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledging_before_the_commit_is_caught() {
    let harness = SqliteHarness::new();
    let task = submitted(&harness.store(), "one").await;
    let mut player = Player::start("acknowledges_early", harness.home(), Some(&task), "early");
    player.go();
    let (well, acknowledged) = player.end();
    assert!(!well);
    assert_eq!(acknowledged.len(), 3);
    assert_eq!(lost(&harness, &task, &acknowledged).await, ["early-2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_around_the_commit_leaves_all_or_nothing() {
    for (role, committed) in [("dies_before_commit", false), ("dies_after_commit", true)] {
        let harness = SqliteHarness::new();
        let task = submitted(&harness.store(), "one").await;
        let mut player = Player::start(role, harness.home(), Some(&task), "");
        player.go();
        let (well, acknowledged) = player.end();
        assert_eq!((well, acknowledged.len()), (false, 0), "{role}");
        let store = harness.store();
        assert_eq!(marks(&store, &task).await.len(), usize::from(committed), "{role}");
        // The caller never heard, so it asks again under its key: exactly one change either way.
        let repeat = store.commit(keyed_change(&task)).await.expect("a repeat");
        assert_eq!((repeat.repeated, repeat.stored.task.version), (committed, 2), "{role}");
        assert_eq!(marks(&store, &task).await, ["keyed"], "{role}");
        assert_eq!(store.check().await.expect("a check"), [], "{role}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_a_migration_is_made_good_by_the_next_opening() {
    let harness = SqliteHarness::new();
    let mut player = Player::start("dies_in_migration", harness.home(), None, "");
    player.go();
    assert!(!player.end().0);
    let store = harness.store();
    submitted(&store, "one").await;
    assert_eq!(store.check().await.expect("a check"), []);
}
