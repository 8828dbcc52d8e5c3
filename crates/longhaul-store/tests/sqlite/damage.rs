//! Damage: it is named, never taken for absence, hides nothing else, and is never overwritten.

use std::fs;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::task::Poll;

use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{CommitError, Filter, Store, StoreError, Stored, WholeStore};
use rusqlite::Connection;

use super::SqliteHarness;
use super::conformance::families::family_of;
use super::conformance::notices::told;
use super::conformance::sample::{by_owner, by_person, mark, started, submitted};

fn database(harness: &SqliteHarness) -> PathBuf {
    harness.home().join("longhaul.db")
}

/// Breaks the middle one of three tasks.
async fn three_with_one_broken(harness: &SqliteHarness, breakage: &str) -> [Stored; 3] {
    let store = harness.store();
    let tasks = [submitted(&store, "a").await, with_snapshot(&store, "b").await, submitted(&store, "c").await];
    assert_eq!(store.check().await.expect("a check"), [], "control");
    let connection = Connection::open(database(harness)).expect("a database");
    connection.execute(breakage, [tasks[1].task.id.to_string()]).expect("a breakage");
    tasks
}

/// A task with a snapshot and events behind it.
async fn with_snapshot(store: &SqliteStore, name: &str) -> Stored {
    let task = submitted(store, name).await;
    let task = store.commit(by_person(&task, (0..70).map(|number| mark(number.to_string())).collect())).await;
    let task = store.commit(by_person(&task.expect("a change").stored, vec![mark("x")])).await;
    task.expect("a change").stored
}

/// Everything stored of a task, as bytes.
fn rows(harness: &SqliteHarness, of: &Stored) -> Vec<Vec<u8>> {
    let connection = Connection::open(database(harness)).expect("a database");
    let columns = [
        "SELECT CAST(group_concat(head || state || version || name) AS BLOB) FROM tasks WHERE id = ?1",
        "SELECT CAST(body AS BLOB) FROM snapshots JOIN tasks ON number = task WHERE id = ?1",
        "SELECT CAST(group_concat(payload || hash) AS BLOB) FROM events JOIN tasks ON number = task WHERE id = ?1",
    ];
    let read = |sql| connection.query_row(sql, [of.task.id.to_string()], |row| row.get(0)).expect("a row");
    columns.map(read).to_vec()
}

const OF: &str = "(SELECT number FROM tasks WHERE id = ?1)";

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_row_is_named_and_hides_no_other() {
    let breakages = [
        "UPDATE snapshots SET body = substr(body, 1, 100) WHERE task = OF",
        "UPDATE snapshots SET body = '' WHERE task = OF",
        "UPDATE snapshots SET body = replace(body, 'reach b', 'reach c'), version = version - 1 WHERE task = OF",
        // A hash need not have any one digit, so its first is exchanged for another.
        "UPDATE snapshots SET head = iif(head LIKE 'a%', 'b', 'a') || substr(head, 2) WHERE task = OF",
        "UPDATE snapshots SET body = CAST(x'ff00fe' AS TEXT) WHERE task = OF",
        "UPDATE tasks SET steps = 3, steps_done = 1 WHERE id = ?1",
        "UPDATE tasks SET priority = 7 WHERE id = ?1",
        "UPDATE tasks SET remarks = 2 WHERE id = ?1",
        "UPDATE tasks SET goal = 'another' WHERE id = ?1",
        "UPDATE tasks SET step = 'another' WHERE id = ?1",
        "UPDATE tasks SET since = since + 1 WHERE id = ?1",
        "UPDATE tasks SET wait = 'no state' WHERE id = ?1",
        "UPDATE tasks SET wait = '{\"state\":\"held\",\"person\":\"ann\",\"back_to\":{\"phase\":\"plan\"}}' WHERE id = ?1",
        "UPDATE tasks SET state = 'paused' WHERE id = ?1",
        "UPDATE tasks SET version = 9 WHERE id = ?1",
        "UPDATE tasks SET name = CAST(x'62ff' AS TEXT) WHERE id = ?1",
        "UPDATE tasks SET head = 'no hash' WHERE id = ?1",
    ];
    for breakage in breakages {
        let harness = SqliteHarness::new();
        let tasks = three_with_one_broken(&harness, &breakage.replace("OF", OF)).await;
        let broken_row = format!("tasks/{}", tasks[1].task.id);
        let before = rows(&harness, &tasks[1]);
        let store = harness.store();
        let load = store.load(tasks[1].task.id).await;
        assert!(matches!(&load, Err(StoreError::Damaged { what }) if what.contains(&broken_row)), "{load:?}");
        let commit = store.commit(by_person(&tasks[1], vec![mark("x")])).await;
        assert!(matches!(commit, Err(CommitError::Store(StoreError::Damaged { .. }))), "{commit:?}");
        let listed = store.list(Filter { limit: Some(2), ..Filter::default() }).await.expect("a list");
        assert_eq!(listed.tasks, [tasks[2].clone(), tasks[0].clone()], "{breakage}");
        assert_eq!(listed.damaged.iter().map(|damaged| &damaged.row).collect::<Vec<_>>(), [&broken_row], "{breakage}");
        let checked = store.check().await.expect("a check");
        assert!(checked.iter().all(|damaged| damaged.row == broken_row) && !checked.is_empty(), "{checked:?}");
        store.commit(by_person(&tasks[0], vec![mark("x")])).await.expect("other tasks go on");
        assert!(store.candidates().await.expect("candidates").len() >= 2);
        assert_eq!(rows(&harness, &tasks[1]), before, "nothing is overwritten");
    }
}

/// A writer that has the task in memory sees the damage as well as one that has to read it.
#[tokio::test(flavor = "multi_thread")]
async fn damage_is_not_overwritten_by_a_writer_that_knows_better() {
    let breakages = [
        "UPDATE tasks SET state = 'paused' WHERE id = ?1",
        "UPDATE tasks SET version = 9 WHERE id = ?1",
        "UPDATE tasks SET head = 'no hash' WHERE id = ?1",
        "UPDATE tasks SET epoch = epoch + 1 WHERE id = ?1",
        "UPDATE tasks SET history_bytes = history_bytes + 1 WHERE id = ?1",
    ];
    for breakage in breakages {
        let harness = SqliteHarness::new();
        let store = harness.store();
        let task = with_snapshot(&store, "b").await;
        let connection = Connection::open(database(&harness)).expect("a database");
        connection.execute(breakage, [task.task.id.to_string()]).expect("a breakage");
        let before = rows(&harness, &task);
        let commit = store.commit(by_person(&task, vec![mark("x")])).await;
        if breakage.contains("history_bytes") {
            // The one column that only a whole replay can judge.
            assert!(store.verify(task.task.id).await.expect("a report").broken.is_some());
            continue;
        }
        assert!(matches!(commit, Err(CommitError::Store(StoreError::Damaged { .. }))), "{breakage}: {commit:?}");
        assert_eq!(rows(&harness, &task), before, "{breakage}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_snapshot_is_not_replaced() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let task = with_snapshot(&store, "b").await;
    let connection = Connection::open(database(&harness)).expect("a database");
    connection.execute("UPDATE snapshots SET body = '{}'", []).expect("a breakage");
    let many = || (0..70).map(|number| mark(number.to_string())).collect();
    let commit = store.commit(by_person(&task, many())).await;
    assert!(matches!(commit, Err(CommitError::Store(StoreError::Damaged { .. }))), "{commit:?}");
    let body: String = connection.query_row("SELECT body FROM snapshots", [], |row| row.get(0)).expect("a body");
    assert_eq!(body, "{}");
}

/// Changes that queue up share a transaction. One that is refused after it has written leaves nothing in it and fails no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_fails_halfway_leaves_no_trace_in_its_group() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let mut tasks = Vec::new();
    for number in 0..9 {
        tasks.push(with_snapshot(&store, &format!("task-{number}")).await);
    }
    let connection = Connection::open(database(&harness)).expect("a database");
    let broken = &tasks[4];
    let sql = format!("UPDATE snapshots SET body = '{{}}' WHERE task = {OF}");
    connection.execute(&sql, [broken.task.id.to_string()]).expect("a breakage");
    let before = rows(&harness, broken);
    connection.execute_batch("BEGIN IMMEDIATE").expect("a lock that makes the others queue up");
    // The snapshot is due, and written last.
    let many = || (0..70).map(|number| mark(number.to_string())).collect();
    let mut commits: Vec<_> = tasks.iter().map(|task| store.commit(by_person(task, many()))).collect();
    let all_queued = poll_fn(|context| {
        let pending = commits.iter_mut().all(|commit| commit.as_mut().poll(context).is_pending());
        Poll::Ready(pending)
    });
    assert!(all_queued.await);
    connection.execute_batch("COMMIT").expect("a release");
    for (task, commit) in tasks.iter().zip(commits) {
        let commit = commit.await;
        if task == broken {
            assert!(matches!(commit, Err(CommitError::Store(StoreError::Damaged { .. }))), "{commit:?}");
        } else {
            assert_eq!(commit.expect("a change").stored.task.version, task.task.version + 70);
            assert_eq!(store.verify(task.task.id).await.expect("a report").broken, None);
        }
    }
    assert_eq!(rows(&harness, broken), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_event_is_named() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let task = submitted(&store, "a").await;
    let connection = Connection::open(database(&harness)).expect("a database");
    connection
        .execute_batch("DROP TRIGGER events_are_not_changed; UPDATE events SET payload = '{}'")
        .expect("a breakage");
    let events = store.events(task.task.id, 0, 10).await;
    let row = format!("events/{}/1", task.task.id);
    assert!(matches!(&events, Err(StoreError::Damaged { what }) if what.contains(&row)), "{events:?}");
}

/// Both ways of opening say damage and leave the bytes alone.
fn assert_refused_untouched(home: &Path) {
    let database = home.join("longhaul.db");
    let before = fs::read(&database).ok();
    let opened = SqliteStore::open(home).map(drop);
    assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{opened:?}");
    let opened = SqliteStore::open_existing(home).map(drop);
    assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{opened:?}");
    assert_eq!(fs::read(&database).ok(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_database_is_damage() {
    for content in ["this is not a database, and it is longer than any header could be ".repeat(99), "x".into()] {
        let harness = SqliteHarness::new();
        fs::write(database(&harness), content).expect("a file");
        assert_refused_untouched(harness.home());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_programs_database_is_refused() {
    let harness = SqliteHarness::new();
    let connection = Connection::open(database(&harness)).expect("a database");
    connection.execute_batch("CREATE TABLE notes (text TEXT)").expect("a table");
    drop(connection);
    assert_refused_untouched(harness.home());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_database_is_damage() {
    for keep in [0.0, 0.3, 0.8] {
        let harness = SqliteHarness::new();
        {
            let store = harness.store();
            for number in 0..40 {
                submitted(&store, &format!("task-{number}")).await;
            }
        }
        let file = fs::OpenOptions::new().write(true).open(database(&harness)).expect("a file");
        let length = file.metadata().expect("facts").len();
        assert!(length > 40_000, "the log was written back at the close");
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cut"
        )]
        file.set_len((length as f64 * keep) as u64).expect("a cut");
        drop(file);
        assert_refused_untouched(harness.home());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_database_is_damage_where_there_was_one() {
    let harness = SqliteHarness::new();
    submitted(&harness.store(), "one").await;
    fs::remove_file(database(&harness)).expect("removed");
    assert_refused_untouched(harness.home());
    assert!(!database(&harness).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_notice_is_found_by_a_check_and_keeps_no_other_from_being_told() {
    for breakage in ["occasion = 'x'", "next_at = -1, seq = 99", "occasion = CAST(x'ff' AS TEXT)"] {
        let harness = SqliteHarness::new();
        let store = harness.store();
        let (_, notices) = told(&store, "told").await;
        assert_eq!(store.check().await.expect("a check"), [], "control");
        let connection = Connection::open(database(&harness)).expect("a database");
        let statement = format!("PRAGMA ignore_check_constraints = ON; UPDATE outbox SET {breakage} WHERE id = 1");
        connection.execute_batch(&statement).expect("a breakage");
        let checked = store.check().await.expect("a check");
        let rows: Vec<&str> = checked.iter().map(|damaged| damaged.row.as_str()).collect();
        assert_eq!(rows, ["outbox/1"], "{breakage}: {checked:?}");
        assert!(store.pending_notices().await.expect("notices").contains(&notices[1]), "{breakage}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_task_does_not_stop_its_family() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let (top, children) = family_of(&store, 2, 2).await;
    let connection = Connection::open(database(&harness)).expect("a database");
    connection
        .execute("UPDATE tasks SET head = 'no hash' WHERE id = ?1", [children[0].task.id.to_string()])
        .expect("a breakage");
    store.commit(by_owner(&children[1], vec![started()])).await.expect("a session");
    store.commit(by_owner(&top, vec![started()])).await.expect("a second one");
    let members: Vec<_> = store.family(top.task.id).await.expect("a family").iter().map(|task| task.id).collect();
    assert_eq!(members.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_garbage_is_found_by_a_check() {
    use std::os::unix::fs::FileExt;
    let harness = SqliteHarness::new();
    {
        let store = harness.store();
        for number in 0..40 {
            submitted(&store, &format!("task-{number}")).await;
        }
        assert_eq!(store.check().await.expect("a check"), [], "control");
    }
    let file = fs::OpenOptions::new().write(true).open(database(&harness)).expect("a file");
    let pages = file.metadata().expect("facts").len() / 4096;
    // Not among the first ones, which every opening reads for the schema.
    file.write_all_at(&[0xa5; 4096], (pages - 1) * 4096).expect("garbage");
    drop(file);
    let answer = harness.store().check().await;
    assert!(matches!(&answer, Ok(found) if !found.is_empty()) || matches!(answer, Err(StoreError::Damaged { .. })));
}

/// Every other event is read, and no reader stops at a broken one.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_event_is_skipped_in_the_feed_and_named() {
    for breakage in ["payload = '{'", "kind = 'paused'", "actor = ''", "payload = CAST(x'ff' AS TEXT)"] {
        let harness = SqliteHarness::new();
        let store = harness.store();
        let task = submitted(&store, "one").await;
        store.commit(by_person(&task, vec![mark("x"), mark("y"), mark("z")])).await.expect("a change");
        let sound = store.feed(0, 100, u64::MAX).await.expect("a feed");
        let connection = Connection::open(database(&harness)).expect("a database");
        connection.execute_batch("DROP TRIGGER events_are_not_changed").expect("a burglary");
        connection.execute(&format!("UPDATE events SET {breakage} WHERE seq = 3"), []).expect("a breakage");
        let feed = store.feed(0, 100, u64::MAX).await.expect("a feed");
        let id = task.task.id;
        assert_eq!(feed.damaged.iter().map(|row| row.row.clone()).collect::<Vec<_>>(), [format!("events/{id}/3")]);
        let rest = [0, 1, 3].map(|index| sound.events[index].clone());
        assert_eq!((feed.events.as_slice(), feed.position), (&rest[..], sound.position), "{breakage}");
        let broken = store.feed(sound.events[1].position, 1, u64::MAX).await.expect("a page of the broken one alone");
        assert_eq!((broken.events.len(), broken.damaged.len(), broken.more), (0, 1, true));
        assert_eq!(broken.position, sound.events[2].position, "a reader gets past it");
    }
}

/// The task is read from its snapshot, and only the history says that it is damaged.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_answered_although_an_old_event_is_damaged() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    let task = with_snapshot(&store, "one").await;
    let connection = Connection::open(database(&harness)).expect("a database");
    connection.execute_batch("DROP TRIGGER events_are_not_changed").expect("a burglary");
    connection.execute("UPDATE events SET payload = '{' WHERE seq = 2", []).expect("a breakage");
    assert_eq!(store.load(task.task.id).await.expect("an answer"), Some(task.clone()));
    assert_eq!(store.feed(0, 1_000, u64::MAX).await.expect("a feed").damaged.len(), 1);
    assert!(store.verify(task.task.id).await.expect("a report").broken.is_some());
}

/// What outside programs and people read must not vanish because of one bad event; owners must not act on what is left.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_with_damaged_events_is_shown_without_them_and_never_changed() {
    for (breakage, damaged) in [
        // Behind the snapshot.
        ("UPDATE events SET payload = '{}' WHERE seq = 72 AND task = OF", 1),
        ("UPDATE events SET payload = replace(payload, 'x', 'y') WHERE seq = 72 AND task = OF", 1),
        ("UPDATE events SET hash = iif(hash LIKE 'a%', 'b', 'a') || substr(hash, 2) WHERE seq = 72 AND task = OF", 2),
        // The snapshot itself: all events are sound.
        ("UPDATE snapshots SET body = '' WHERE task = OF", 1),
    ] {
        let harness = SqliteHarness::new();
        let store = harness.store();
        let task = with_snapshot(&store, "b").await;
        let task = store.commit(by_person(&task, vec![mark("after")])).await.expect("a change").stored;
        assert_eq!(store.salvage(task.task.id).await.expect("sound").expect("a task").damaged, [], "the control");
        let connection = Connection::open(database(&harness)).expect("a database");
        connection.execute_batch("DROP TRIGGER events_are_not_changed").expect("no guard");
        connection.execute(&breakage.replace("OF", OF), [task.task.id.to_string()]).expect("a breakage");
        assert!(matches!(store.load(task.task.id).await, Err(StoreError::Damaged { .. })), "{breakage}");
        let found = store.salvage(task.task.id).await.expect("a record").expect("a task");
        assert_eq!(found.damaged.len(), damaged, "{breakage}: {:?}", found.damaged);
        assert_eq!((found.stored.task.version, &found.stored.task.state), (73, &task.task.state));
        // A writer that has the task in memory knows better; the next one does not.
        let commit = harness.store().commit(by_person(&task, vec![mark("x")])).await;
        assert!(matches!(commit, Err(CommitError::Store(StoreError::Damaged { .. }))), "{breakage}: {commit:?}");
        let newest = store.newest_events(task.task.id, &[], 100).await.expect("events");
        let unreadable = usize::from(breakage.contains("'{}'"));
        assert_eq!((newest.events.len(), newest.damaged.len()), (73 - unreadable, unreadable), "{breakage}");
    }
}

/// Where only the columns lie, nothing says which side is right.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_contradicts_its_events_is_not_shown() {
    let harness = SqliteHarness::new();
    let tasks = three_with_one_broken(&harness, "UPDATE tasks SET state = 'paused' WHERE id = ?1").await;
    let found = harness.store().salvage(tasks[1].task.id).await;
    assert!(matches!(found, Err(StoreError::Damaged { .. })), "{found:?}");
}
