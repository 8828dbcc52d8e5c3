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

fn statement_values(connection: &Connection, sql: &str) -> usize {
    connection.prepare(sql).expect("a statement").parameter_count()
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
    let tenant = Tenant::default();
    let all = Filter::default();
    let project = Filter { project: Some("/project".into()), ..Filter::default() };
    let unfinished = Filter { which: Which::Unfinished, ..Filter::default() };
    let cursor = Cursor { created: Time(1), task: "0190a0b0-c0d0-7000-8000-000000000001".parse().expect("an id") };
    for (filter, index) in [
        (all, "SEARCH tasks USING INDEX tasks_by_age (tenant=?)"),
        (
            Filter { which: Which::Unfinished, ..project.clone() },
            "INDEX tasks_unfinished_by_project (tenant=? AND project=?)",
        ),
        (Filter { which: Which::Finished, ..project.clone() }, "INDEX tasks_by_project (tenant=? AND project=?)"),
        (Filter { after: Some(cursor), ..Filter::default() }, "INDEX tasks_by_age (tenant=? AND (created,id)<(?,?))"),
        (
            Filter { after: Some(cursor), ..project.clone() },
            "INDEX tasks_by_project (tenant=? AND project=? AND (created,id)<(?,?))",
        ),
        (
            Filter { agent: Some("codex".into()), ..Filter::default() },
            "SEARCH tasks USING INDEX tasks_by_age (tenant=?)",
        ),
        (project, "SEARCH tasks USING INDEX tasks_by_project (tenant=? AND project=?)"),
        (Filter { name: Some("x".into()), ..Filter::default() }, "INDEX tasks_by_name (tenant=? AND name=?)"),
        (Filter { state: Some("held".into()), ..unfinished.clone() }, "INDEX tasks_unfinished_by_age (tenant=?)"),
        (unfinished, "SEARCH tasks USING INDEX tasks_unfinished_by_age (tenant=?)"),
        (
            Filter { status: Some(RunStatus::NeedsHelp), ..Filter::default() },
            "INDEX tasks_unfinished_by_age (tenant=?)",
        ),
        (
            Filter { status: Some(RunStatus::Failed), ..Filter::default() },
            "SEARCH tasks USING INDEX tasks_by_age (tenant=?)",
        ),
        (Filter { created_since: Some(Time(1)), ..Filter::default() }, "INDEX tasks_by_age (tenant=? AND created>?)"),
    ] {
        let (sql, values) = query(Some(&tenant), &filter);
        assert_by_index(&plan(&connection, &sql, values), index);
    }
    // Few rows are left to sort here.
    let own = Filter { family_of: Some(cursor.task), ..Filter::default() };
    let by_prefix = Filter { id_prefix: Some("0".into()), ..Filter::default() };
    for (filter, index) in [(own, "MULTI-INDEX OR"), (by_prefix, "(id>? AND id<?)")] {
        let (sql, values) = query(Some(&tenant), &filter);
        let found = plan(&connection, &sql, values);
        assert!(found.contains(index), "{found}");
    }
    // A worker looks for held tasks of all tenants among the unfinished ones.
    let (sql, values) = query(None, &Filter { which: Which::Unfinished, ..Filter::default() });
    let found = plan(&connection, &sql, values);
    assert!(found.contains("SCAN tasks USING INDEX tasks_unfinished_by"), "{found}");
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
        ("SELECT head FROM tasks WHERE id = ?1 AND (?2 IS NULL OR tenant = ?2)", "(id=?)"),
        (&super::super::feed::PAGE, "SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    ] {
        assert_by_index(&plan(&connection, sql, vec![Value::Null; statement_values(&connection, sql)]), index);
    }
}

#[test]
fn a_query_without_an_index_is_told_apart() {
    let (_home, connection) = database();
    let found = plan(&connection, "SELECT id FROM tasks WHERE host = 'x' ORDER BY updated", Vec::new());
    assert!(found.contains("SCAN tasks") && found.contains("TEMP B-TREE"), "{found}");
}
