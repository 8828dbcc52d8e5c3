//! A sweep that is killed leaves a home that works, and the next one finishes it.

use serde_json::json;

use super::{directories, finish, names, strings};
use crate::env::{TestEnv, done};

/// Kills a sweep of two finished tasks at a point; then everything reads well, and the next sweep takes the rest.
#[track_caller]
fn finished_by_the_next(point: &str) {
    let env = TestEnv::new();
    finish(&env, &["one", "two", "kept"]);
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    let mut command = env.command(&["gc", "--count", "1"]);
    let killed = command.env("LONGHAUL_FAIL_POINTS", point).env("LONGHAUL_FAIL_DIR", &fails);
    assert_eq!(done(&killed.output().unwrap()).code, -1, "killed");
    assert!(fails.join(point).exists(), "the point was reached");
    assert_ne!((names(&env).len(), directories(&env).len()), (1, 3), "there is something left to do");
    let check = env.run(&["store", "check"]);
    assert_eq!(check.code, 0, "{}{}", check.stdout, check.stderr);
    for name in names(&env) {
        for verb in ["show", "events", "logs", "why"] {
            assert_eq!(env.run(&[verb, &name]).code, 0, "{verb} {name}");
        }
    }
    let swept = env.json(&["gc", "--count", "1"]);
    assert_eq!((&swept["kept"], &swept["left"], &swept["failed"]), (&json!([]), &json!([]), &json!(0)), "{swept}");
    assert_eq!(names(&env), ["kept"]);
    assert_eq!(directories(&env).len(), 3, "all three of the kept one, and no other");
    assert!(strings(&swept["orphans"], "name").is_empty(), "nothing was forgotten: {swept}");
}

#[test]
fn between_two_files_of_a_session() {
    finished_by_the_next("keeper.discarding");
}

#[test]
fn between_two_sessions() {
    finished_by_the_next("gc.session_removed");
}

#[test]
fn between_files_and_rows() {
    finished_by_the_next("gc.files_removed");
}

#[test]
fn between_two_tasks() {
    finished_by_the_next("gc.rows_removed");
}
