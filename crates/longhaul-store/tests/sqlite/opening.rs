//! Opening: what is created and how, what is refused untouched, and every released schema.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Filter, Store, StoreError, WholeStore};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::SqliteHarness;
use super::conformance::sample::{by_person, mark, submitted};
use super::conformance::{history, refusals};

#[tokio::test(flavor = "multi_thread")]
async fn reading_creates_nothing() {
    let harness = SqliteHarness::new();
    assert!(SqliteStore::open_existing(harness.home()).expect("an answer").is_none());
    assert!(SqliteStore::open_existing(&harness.home().join("absent")).expect("an answer").is_none());
    assert_eq!(fs::read_dir(harness.home()).expect("a directory").count(), 0);
    let made = submitted(&harness.store(), "one").await;
    let store = SqliteStore::open_existing(harness.home()).expect("an answer").expect("a store");
    assert_eq!(store.list(Filter::default()).await.expect("a list").tasks, [made]);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_for_their_owner_only() {
    let harness = SqliteHarness::new();
    let store = harness.store();
    submitted(&store, "one").await;
    let mut names = Vec::new();
    for entry in fs::read_dir(harness.home()).expect("a directory") {
        let entry = entry.expect("an entry");
        let mode = entry.metadata().expect("facts").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
        names.push(entry.file_name().into_string().expect("a name"));
    }
    names.sort();
    assert_eq!(names, ["doorbell", "longhaul.db", "longhaul.db-shm", "longhaul.db-wal"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_in_the_homes_files_are_refused() {
    for name in ["longhaul.db", "longhaul.db-wal", "doorbell"] {
        let (harness, elsewhere) = (SqliteHarness::new(), SqliteHarness::new());
        let target = elsewhere.home().join("target");
        fs::write(&target, "").expect("a target");
        symlink(&target, harness.home().join(name)).expect("a link");
        let opened = SqliteStore::open(harness.home()).map(drop);
        assert!(matches!(opened, Err(StoreError::Unfit { .. })), "{name}: {opened:?}");
        assert_eq!(fs::read(&target).expect("the target"), b"", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_behind_a_link_is_the_same_home() {
    let (harness, elsewhere) = (SqliteHarness::new(), SqliteHarness::new());
    let link = elsewhere.home().join("link");
    symlink(harness.home(), &link).expect("a link");
    let made = submitted(&SqliteStore::open(&link).expect("a store"), "one").await;
    assert_eq!(harness.store().load(made.task.id).await.expect("a readable store"), Some(made));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_is_refused_untouched() {
    let harness = SqliteHarness::new();
    submitted(&harness.store(), "one").await;
    let database = harness.home().join("longhaul.db");
    let connection = Connection::open(&database).expect("a database");
    connection.pragma_update(None, "user_version", 99).expect("a newer version");
    drop(connection);
    let before = fs::read(&database).expect("a file");
    let opened = SqliteStore::open(harness.home()).map(drop);
    assert!(matches!(opened, Err(StoreError::NewerSchema { found: 99, known: 4 })), "{opened:?}");
    assert_eq!(fs::read(&database).expect("a file"), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_opens_as_a_home_of_its_own() {
    let (harness, elsewhere) = (SqliteHarness::new(), SqliteHarness::new());
    let store = harness.store();
    history::the_state_is_what_its_events_make(&harness).await;
    store.backup(&elsewhere.home().join("longhaul.db")).await.expect("a copy");
    let copy = elsewhere.store();
    assert_eq!(refusals::everything(&copy).await, refusals::everything(&store).await);
    let mode = fs::metadata(elsewhere.home().join("longhaul.db")).expect("a copy").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    submitted(&copy, "two").await;
    assert_eq!(copy.check().await.expect("a check"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_gives_no_backup() {
    let (harness, elsewhere) = (SqliteHarness::new(), SqliteHarness::new());
    let store = harness.store();
    submitted(&store, "one").await;
    let connection = Connection::open(harness.home().join("longhaul.db")).expect("a database");
    connection.execute("UPDATE tasks SET version = 9", []).expect("a breakage");
    let copied = store.backup(&elsewhere.home().join("copy")).await;
    assert!(matches!(copied, Err(StoreError::Damaged { .. })), "{copied:?}");
    assert_eq!(fs::read_dir(elsewhere.home()).expect("a directory").count(), 0);
}

/// Every file of a home with its bytes.
fn contents(home: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(home).expect("a directory").map(|entry| entry.expect("an entry"));
    entries.map(|entry| (entry.file_name(), fs::read(entry.path()).expect("a file"))).collect()
}

fn refused_untouched(home: &Path, found: u32) {
    let before = contents(home);
    for opened in [SqliteStore::open(home).map(drop), SqliteStore::open_existing(home).map(drop)] {
        let error = opened.expect_err("a refusal");
        assert!(matches!(error, StoreError::UnreleasedSchema { found: schema } if schema == found), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("made by an unreleased version of longhaul") && text.contains("move it away"), "{text}");
    }
    // SQLite's shared index is memory in a file: it is made again for each opening.
    let mut after = contents(home);
    after.retain(|name, _| name != "longhaul.db-shm" || before.contains_key(name));
    if let Some(index) = before.get(OsStr::new("longhaul.db-shm")) {
        after.insert("longhaul.db-shm".into(), index.clone());
    }
    assert!(after == before, "{:?} was {:?}", after.keys(), before.keys());
}

/// Homes from before the first release: their schemas had lower numbers, or the same number and less in it.
#[tokio::test(flavor = "multi_thread")]
async fn an_unreleased_schema_is_refused_untouched() {
    for schema in [1, 2, 3, 4] {
        let harness = SqliteHarness::new();
        submitted(&harness.store(), "one").await;
        let connection = Connection::open(harness.home().join("longhaul.db")).expect("a database");
        connection.pragma_update(None, "user_version", schema).expect("an older version");
        connection.execute_batch("DROP TABLE api_keys").expect("an older form");
        drop(connection);
        refused_untouched(harness.home(), schema);
    }
}

/// The same with a log that a killed process left behind: opening must not write it back.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_an_unreleased_schema_is_left_alone() {
    let harness = SqliteHarness::new();
    submitted(&harness.store(), "one").await;
    let connection = Connection::open(harness.home().join("longhaul.db")).expect("a database");
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("no checkpoint");
    connection.pragma_update(None, "user_version", 3).expect("an older version");
    drop(connection);
    assert!(fs::metadata(harness.home().join("longhaul.db-wal")).expect("a log").len() > 0, "control");
    refused_untouched(harness.home(), 3);
}

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Every `schema-<n>.db` ever released opens, verifies and can be changed.
#[tokio::test(flavor = "multi_thread")]
async fn every_kept_schema_opens() {
    let mut opened = 0;
    for entry in fs::read_dir(fixtures()).expect("fixtures") {
        let harness = SqliteHarness::new();
        fs::copy(entry.expect("an entry").path(), harness.home().join("longhaul.db")).expect("a copy");
        let store = harness.store();
        let listed = store.list(Filter::default()).await.expect("a list");
        assert_eq!((listed.tasks.len(), listed.damaged.len()), (2, 0), "{:?}", listed.damaged);
        assert_eq!(store.check().await.expect("a check"), []);
        for task in &listed.tasks {
            store.commit(by_person(task, vec![mark("x")])).await.expect("a change");
        }
        opened += 1;
    }
    assert!(opened >= 1);
}

/// Makes the fixture of the newest schema anew when asked to; an old schema's file is never made again.
#[tokio::test(flavor = "multi_thread")]
async fn make_the_newest_fixture() {
    if std::env::var_os("LONGHAUL_STORE_MAKE_FIXTURE").is_none() {
        return;
    }
    let harness = SqliteHarness::new();
    history::the_state_is_what_its_events_make(&harness).await;
    submitted(&harness.store(), "waiting").await;
    fs::copy(harness.home().join("longhaul.db"), fixtures().join("schema-4.db")).expect("a fixture");
}
