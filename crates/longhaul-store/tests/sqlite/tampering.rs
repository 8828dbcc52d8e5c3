//! Tampering: any changed byte of any event row is found, and so are missing, added and swapped rows.

use longhaul_core::task::Event;
use longhaul_store::{Store, Stored, WholeStore};
use rusqlite::{Connection, params};

use super::SqliteHarness;
use super::conformance::sample::{advance, cancelled, claimed};

/// A second way into the file, without our triggers, keys and syncs.
fn burglar(harness: &SqliteHarness) -> Connection {
    let connection = Connection::open(harness.home().join("longhaul.db")).expect("a database");
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; \
             DROP TRIGGER events_are_not_changed; DROP TRIGGER events_are_not_deleted; \
             CREATE TEMP TABLE good_tasks AS SELECT * FROM tasks; CREATE TEMP TABLE good_events AS SELECT * FROM events; \
             CREATE TEMP TABLE good_snapshots AS SELECT * FROM snapshots;",
        )
        .expect("a way in");
    connection
}

async fn task_with_history(harness: &SqliteHarness) -> Stored {
    let store = harness.store();
    let task = claimed(&store, "one").await;
    advance(&store, &task, Event::Paused { why: None }).await
}

/// The same, but its last event has left a snapshot.
async fn task_with_snapshot(harness: &SqliteHarness) -> Stored {
    let store = harness.store();
    let task = claimed(&store, "one").await;
    advance(&store, &task, cancelled()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_changed_byte_of_every_text_is_found() {
    let harness = SqliteHarness::new();
    let task = task_with_history(&harness).await;
    let store = harness.store();
    let burglar = burglar(&harness);
    let mut changed = 0;
    for seq in 1..=3 {
        for column in ["actor", "kind", "payload", "hash"] {
            let read = format!("SELECT CAST({column} AS BLOB) FROM events WHERE seq = {seq}");
            let write = format!("UPDATE events SET {column} = CAST(?1 AS TEXT) WHERE seq = {seq}");
            let original: Vec<u8> = burglar.query_row(&read, [], |row| row.get(0)).expect("a text");
            for place in 0..original.len() {
                let mut bytes = original.clone();
                bytes[place] ^= 1;
                burglar.execute(&write, [&bytes]).expect("a burglary");
                let report = store.verify(task.task.id).await.expect("a report");
                assert!(report.broken.is_some(), "byte {place} of {column} of event {seq}");
                changed += 1;
            }
            burglar.execute(&write, [&original]).expect("put back");
            assert_eq!(store.verify(task.task.id).await.expect("a report").broken, None, "control");
        }
    }
    assert!(changed > 700, "{changed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_changed_number_and_row_is_found() {
    for snapshot in [false, true] {
        let harness = SqliteHarness::new();
        let task = if snapshot { task_with_snapshot(&harness).await } else { task_with_history(&harness).await };
        burgle(&harness, &task).await;
    }
}

async fn burgle(harness: &SqliteHarness, task: &Stored) {
    let store = harness.store();
    let burglar = burglar(harness);
    let mut burglaries = Vec::new();
    for bit in 0..63 {
        burglaries.push(format!("UPDATE events SET at = at + (1 << {bit}) WHERE seq = 2"));
        burglaries.push(format!("UPDATE events SET epoch = epoch + (1 << {bit}) WHERE seq = 2"));
        burglaries.push(format!("UPDATE events SET seq = seq + (1 << {bit}) WHERE seq = 3"));
    }
    burglaries.extend(
        [
            "DELETE FROM events WHERE seq = 3",
            "DELETE FROM events WHERE seq = 1",
            "DELETE FROM events",
            "UPDATE events SET task = task + 1 WHERE seq = 2",
            "INSERT INTO events (task, seq, at, epoch, actor, kind, payload, hash) \
             SELECT task, 4, at, epoch, actor, kind, payload, hash FROM events WHERE seq = 3",
            "UPDATE events SET payload = payload || ' ' WHERE seq = 2",
            "UPDATE tasks SET head = (SELECT hash FROM events WHERE seq = 1)",
            "UPDATE tasks SET epoch = epoch + 1",
            "UPDATE tasks SET history_bytes = history_bytes + 1",
            "UPDATE tasks SET sessions = sessions + 1",
            "UPDATE tasks SET number = number + 1",
        ]
        .map(str::to_owned),
    );
    if task.task.state.is_final() {
        burglaries.push("UPDATE snapshots SET body = replace(body, 'reach one', 'reach two')".to_owned());
        burglaries.push("UPDATE snapshots SET epoch = epoch + 1".to_owned());
        burglaries.push("UPDATE snapshots SET version = version - 1".to_owned());
    }
    for burglary in burglaries {
        burglar.execute(&burglary, params![]).expect("a burglary");
        let report = store.verify(task.task.id).await.expect("a report");
        assert!(report.broken.is_some(), "{burglary}");
        assert!(!store.check().await.expect("a check").is_empty(), "{burglary}");
        restore(&burglar);
        assert_eq!(store.verify(task.task.id).await.expect("a report").broken, None, "control after {burglary}");
    }
}

/// Puts the rows back as the burglar found them.
fn restore(burglar: &Connection) {
    burglar
        .execute_batch(
            "BEGIN; DELETE FROM events; DELETE FROM tasks; DELETE FROM snapshots; \
             INSERT INTO tasks SELECT * FROM temp.good_tasks; INSERT INTO events SELECT * FROM temp.good_events; \
             INSERT INTO snapshots SELECT * FROM temp.good_snapshots; COMMIT;",
        )
        .expect("put back");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_cannot_be_changed_by_mistake() {
    let harness = SqliteHarness::new();
    task_with_history(&harness).await;
    let connection = Connection::open(harness.home().join("longhaul.db")).expect("a database");
    for mistake in ["UPDATE events SET at = 0", "DELETE FROM events"] {
        let answer = connection.execute(mistake, params![]);
        assert!(answer.is_err_and(|error| error.to_string().contains("append-only")), "{mistake}");
    }
}
