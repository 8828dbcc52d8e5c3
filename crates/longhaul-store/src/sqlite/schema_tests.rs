//! Migrations with made-up steps: the copy before, all or nothing, again after a failure, and two at once.
//! The steps that ship are only checked for their numbers here; that they open every kept fixture is tested from outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

const ONE: Migration = Migration { version: 1, sql: "CREATE TABLE one (text TEXT) STRICT;" };
const TWO: Migration =
    Migration { version: 2, sql: "CREATE TABLE two (text TEXT) STRICT; INSERT INTO two VALUES ('x');" };
const BROKEN_TWO: Migration =
    Migration { version: 2, sql: "CREATE TABLE two (text TEXT) STRICT; INSERT INTO three VALUES (1);" };

fn place() -> (TempDir, Place) {
    let home = tempfile::tempdir().expect("a home");
    let place = Place::new(home.path()).expect("a fit place");
    place.create().expect("a file");
    (home, place)
}

fn open(place: &Place) -> Connection {
    let connection = Connection::open(place.database()).expect("a connection");
    connection.pragma_update(None, "journal_mode", "wal").expect("a log");
    connection
}

fn tables(connection: &Connection) -> Vec<String> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema ORDER BY name").expect("a statement");
    statement.query_map([], |row| row.get(0)).expect("rows").map(|row| row.expect("a name")).collect()
}

#[test]
fn an_existing_database_is_copied_before_it_is_migrated() {
    let (_home, place) = place();
    let mut connection = open(&place);
    migrate(&mut connection, &place, &[ONE], |_| {}).expect("schema 1");
    assert!(!place.backup(0).exists() && !place.backup(1).exists(), "an empty database needs no copy");
    connection.execute("INSERT INTO one VALUES ('kept')", []).expect("a row");
    migrate(&mut connection, &place, &[ONE, TWO], |_| {}).expect("schema 2");
    assert_eq!(version(&connection).expect("a version"), 2);
    assert_eq!(tables(&connection), ["one", "two"]);
    let mode = fs::metadata(place.backup(1)).expect("a copy").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let copy = Connection::open(place.backup(1)).expect("the copy");
    assert_eq!((version(&copy).expect("a version"), tables(&copy)), (1, vec!["one".to_owned()]));
    let kept: String = copy.query_row("SELECT text FROM one", [], |row| row.get(0)).expect("the row");
    assert_eq!(kept, "kept");
}

#[test]
fn a_failed_migration_changes_nothing_and_runs_again() {
    let (home, place) = place();
    let mut connection = open(&place);
    migrate(&mut connection, &place, &[ONE], |_| {}).expect("schema 1");
    assert!(migrate(&mut connection, &place, &[ONE, BROKEN_TWO], |_| {}).is_err());
    assert_eq!((version(&connection).expect("a version"), tables(&connection)), (1, vec!["one".to_owned()]));
    let copy = fs::read(place.backup(1)).expect("a copy");
    migrate(&mut connection, &place, &[ONE, TWO], |_| {}).expect("schema 2");
    migrate(&mut connection, &place, &[ONE, TWO], |_| {}).expect("nothing to do");
    assert_eq!(fs::read(place.backup(1)).expect("a copy"), copy, "the first copy stays");
    let rows: i64 = connection.query_row("SELECT count(*) FROM two", [], |row| row.get(0)).expect("rows");
    assert_eq!(rows, 1);
    let names = fs::read_dir(home.path()).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().contains(".bak.")).count(), 0, "no draft is left");
}

#[test]
fn two_may_migrate_at_once() {
    let (_home, place) = place();
    migrate(&mut open(&place), &place, &[ONE], |_| {}).expect("schema 1");
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut connection = open(&place);
                start.wait();
                migrate(&mut connection, &place, &[ONE, TWO], |_| {}).expect("schema 2");
            });
        }
    });
    let rows: i64 = open(&place).query_row("SELECT count(*) FROM two", [], |row| row.get(0)).expect("rows");
    assert_eq!(rows, 1);
}

#[test]
fn a_newer_schema_an_unreleased_one_and_a_stranger_are_refused() {
    let (_home, place) = place();
    let mut connection = open(&place);
    refuse_strange(&connection, 0, &[ONE]).expect("an empty file is nobody's");
    migrate(&mut connection, &place, &[ONE, TWO], |_| {}).expect("schema 2");
    refuse_strange(&connection, 2, &[ONE, TWO]).expect("ours");
    let newer = refuse_strange(&connection, 2, &[ONE]);
    assert!(matches!(newer, Err(StoreError::NewerSchema { found: 2, known: 1 })), "{newer:?}");
    let old = refuse_strange(&connection, 1, &[TWO]);
    assert!(matches!(old, Err(StoreError::UnreleasedSchema { found: 1 })), "{old:?}");
    connection.pragma_update(None, "application_id", 7).expect("another mark");
    let strange = refuse_strange(&connection, 2, &[ONE, TWO]);
    assert!(matches!(strange, Err(StoreError::Damaged { .. })), "{strange:?}");
}

#[test]
fn the_released_migrations_are_numbered_without_gaps() {
    assert!(MIGRATIONS.iter().zip(4..).all(|(migration, number)| migration.version == number));
}
