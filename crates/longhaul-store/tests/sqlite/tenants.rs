//! Tenants: names and idempotency keys are unique within one, and every row says whose it is and who made it.
//! There is one tenant until a server has several, so the other one's rows are made by hand.

use longhaul_core::task::Actor;
use longhaul_store::{Change, Key, Store};
use rusqlite::Connection;

use super::SqliteHarness;
use super::conformance::sample::{submission, submit, submitted, task_id};

#[tokio::test(flavor = "multi_thread")]
async fn rows_say_whose_they_are_and_who_made_them() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    submitted(&store, "one").await;
    let change = Change { actor: Actor::person("ben"), ..submit(task_id(), submission("two")) };
    store.commit(Change { key: Some(Key::new("k1", "submit", "two")), ..change }).await.expect("a task");
    let connection = Connection::open(harness.home().join("longhaul.db")).expect("a database");
    let whose = |sql: &str| {
        let mut statement = connection.prepare(sql).expect("a statement");
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
        rows.map(|row| row.expect("a row")).collect::<Vec<_>>()
    };
    assert_eq!(whose("SELECT tenant || '/' || principal FROM tasks ORDER BY name"), ["default/ann", "default/ben"]);
    assert_eq!(whose("SELECT tenant || '/' || principal || '/' || operation FROM keys"), ["default/ben/submit"]);
}
