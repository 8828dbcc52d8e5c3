//! Size: refused work leaves no trace on the disk, and the log stays bounded.

use std::collections::BTreeMap;
use std::fs;

use longhaul_store::{Change, CommitError, Store, WholeStore};

use super::SqliteHarness;
use super::conformance::sample::{by_person, lease, mark, now, submitted, task_id};

fn files(harness: &SqliteHarness) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(harness.home()).expect("a directory").map(|entry| entry.expect("an entry"));
    // The shared index is memory, not content; and reading it here would drop SQLite's locks on it.
    let kept = entries.filter(|entry| !entry.file_name().to_string_lossy().ends_with("-shm"));
    kept.map(|entry| (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).expect("a file")))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_changes_of_unknown_tasks_leave_no_trace() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let task = submitted(&store, "one").await;
    let before = files(&harness);
    for _ in 0..1_000 {
        let change = Change { task: task_id(), ..by_person(&task, vec![mark("x")]) };
        assert!(matches!(store.commit(change).await, Err(CommitError::NotFound)));
    }
    for _ in 0..100 {
        assert!(matches!(store.claim(task_id(), 0, lease(), now()).await, Err(CommitError::NotFound)));
        assert!(matches!(store.claim(task.task.id, 7, lease(), now()).await, Err(CommitError::Conflict)));
    }
    assert!(files(&harness) == before, "something was written");
    store.commit(by_person(&task, vec![mark("x")])).await.expect("a change");
    assert!(files(&harness) != before, "control: a change is seen");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_bounded() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let mut task = submitted(&store, "one").await;
    let mut longest = 0;
    for _ in 0..100 {
        let change = by_person(&task, vec![mark("x".repeat(1_000_000))]);
        task = store.commit(change).await.expect("a change").stored;
        longest = longest.max(fs::metadata(harness.home().join("longhaul.db-wal")).expect("a log").len());
    }
    assert!((1_000_000..64 * 1024 * 1024).contains(&longest), "{longest}");
}
