//! The rows L1 to L8 of the kill table: a worker that is killed at any step of landing. The next command finishes it.

use super::{finished, repository};
use crate::checker;
use crate::env::TestEnv;

/// Kills the worker at a point; the work lands all the same, once, and the checkout is clean.
#[track_caller]
fn lands_after_a_kill_at(point: &str) -> TestEnv {
    let mut env = repository();
    finished(&env, "t", &["--check", "true"]);
    env.deserted();
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", point);
    env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    let done = env.run(&["land", "t"]);
    assert!(fails.join(point).exists(), "the point was reached: {}", done.stderr);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(env.git(&["log", "--format=%s", "main"]), "Port the parser\nbegin");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert!(!env.workspace().join(".git/index.lock").exists());
    assert!(env.workspace().join("step-1.md").exists());
    assert_eq!((env.worktrees().len(), env.task_branches().len()), (0, 0));
    env.deserted();
    checker::assert_clean(&env);
    env
}

#[test]
fn l1_before_anything_is_locked() {
    lands_after_a_kill_at("land.started");
}

#[test]
fn l2_with_the_index_locked() {
    lands_after_a_kill_at("land.locked");
}

#[test]
fn l3_with_the_branch_locked() {
    lands_after_a_kill_at("land.branch_locked");
}

#[test]
fn l4_with_the_files_written() {
    lands_after_a_kill_at("land.files_written");
}

#[test]
fn l5_with_the_index_written() {
    lands_after_a_kill_at("land.index_written");
}

#[test]
fn l6_with_the_branch_moved() {
    lands_after_a_kill_at("land.branch_moved");
}

#[test]
fn l7_before_the_worktree_is_put_away() {
    lands_after_a_kill_at("land.done");
}

#[test]
fn l8_before_the_result_is_stored() {
    lands_after_a_kill_at("land.put_away");
}
