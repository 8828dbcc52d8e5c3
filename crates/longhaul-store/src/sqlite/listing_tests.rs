//! Looks at SQLite's own plans: every query of the hot paths finds its rows by an index and sorts nothing.
//! They guard the speed of `list` and of claims with many thousands of tasks; what the queries answer is tested by the conformance suite.

use rusqlite::params_from_iter;

use super::super::open::open_writer;
use super::super::place::Place;
use super::*;

fn plan(connection: &Connection, sql: &str, values: Vec<Value>) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("a statement");
    let rows = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).expect("a plan");
    rows.map(|row| row.expect("a line")).collect::<Vec<_>>().join("; ")
}

fn assert_by_index(found: &str, index: &str) {
    assert!(found.contains(index) && !found.contains("TEMP B-TREE"), "{found}");
}

fn database() -> (tempfile::TempDir, Connection) {
    let home = tempfile::tempdir().expect("a home");
    let place = Place::new(home.path()).expect("a fit place");
    let connection = open_writer(&place, |_| {}).expect("a database");
    (home, connection)
}

#[test]
fn every_filter_has_an_index_that_sorts() {
    let (_home, connection) = database();
    let all = Filter::default();
    let project = Filter { project: Some("/project".into()), ..Filter::default() };
    let unfinished = Filter { which: Which::Unfinished, ..Filter::default() };
    let cursor = Cursor { created: Time(1), task: "0190a0b0-c0d0-7000-8000-000000000001".parse().expect("an id") };
    for (filter, index) in [
        (all, "SCAN tasks USING INDEX tasks_by_age"),
        (Filter { which: Which::Unfinished, ..project.clone() }, "INDEX tasks_unfinished_by_project (project=?)"),
        (Filter { which: Which::Finished, ..project.clone() }, "INDEX tasks_by_project (project=?)"),
        (Filter { after: Some(cursor), ..Filter::default() }, "INDEX tasks_by_age ((created,id)<(?,?))"),
        (
            Filter { after: Some(cursor), ..project.clone() },
            "INDEX tasks_by_project (project=? AND (created,id)<(?,?))",
        ),
        (Filter { agent: Some("codex".into()), ..Filter::default() }, "SCAN tasks USING INDEX tasks_by_age"),
        (project, "SEARCH tasks USING INDEX tasks_by_project (project=?)"),
        (Filter { name: Some("x".into()), ..Filter::default() }, "SEARCH tasks USING INDEX tasks_by_name (name=?)"),
        (Filter { state: Some("held".into()), ..unfinished.clone() }, "SCAN tasks USING INDEX tasks_unfinished_by_age"),
        (unfinished, "SCAN tasks USING INDEX tasks_unfinished_by_age"),
        (Filter { status: Some(RunStatus::NeedsHelp), ..Filter::default() }, "INDEX tasks_unfinished_by_age"),
        (Filter { status: Some(RunStatus::Failed), ..Filter::default() }, "SCAN tasks USING INDEX tasks_by_age"),
        (Filter { created_since: Some(Time(1)), ..Filter::default() }, "INDEX tasks_by_age (created>?)"),
    ] {
        let (sql, values) = query(&filter);
        assert_by_index(&plan(&connection, &sql, values), index);
    }
    // Few rows are left to sort here.
    let (sql, values) = query(&Filter { id_prefix: Some("0".into()), ..Filter::default() });
    assert!(plan(&connection, &sql, values).contains("(id>? AND id<?)"));
}

#[test]
fn the_hot_statements_have_their_indexes() {
    let (_home, connection) = database();
    for (sql, index) in [
        ("SELECT id FROM tasks WHERE wants_owner = 1 ORDER BY priority DESC, created, id", "tasks_wanting_owner"),
        ("SELECT id, version FROM tasks WHERE owner = ?1 ORDER BY created, id", "tasks_owned (owner=?)"),
        ("SELECT count(*) FROM tasks WHERE live_session IS NOT NULL AND id <> ?1", "tasks_live"),
        ("SELECT 1 FROM tasks WHERE parent = ?1", "tasks_by_parent (parent=?)"),
        ("SELECT head FROM tasks WHERE id = ?1", "(id=?)"),
        ("SELECT payload FROM events WHERE task = ?1 AND seq > ?2 ORDER BY seq", "(task=? AND seq>?)"),
        ("SELECT key FROM keys WHERE task = ?1", "keys_by_task (task=?)"),
    ] {
        assert_by_index(&plan(&connection, sql, vec![Value::Null; sql.matches('?').count()]), index);
    }
}

#[test]
fn a_query_without_an_index_is_told_apart() {
    let (_home, connection) = database();
    let found = plan(&connection, "SELECT id FROM tasks WHERE host = 'x' ORDER BY updated", Vec::new());
    assert!(found.contains("SCAN tasks") && found.contains("TEMP B-TREE"), "{found}");
}
