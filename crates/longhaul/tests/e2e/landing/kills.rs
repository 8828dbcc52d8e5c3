//! The rows L1 to L13 of the kill table: a worker that is killed at any step of landing. The next command finishes it.

use super::moved::meanwhile;
use super::{finished, repository};
use crate::checker;
use crate::env::TestEnv;

/// Kills the worker at a point; the work lands all the same, once, and the checkout is clean.
#[track_caller]
fn lands_after_a_kill_at(point: &str) -> TestEnv {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    killed_and_landed(env, point, "Port the parser\nbegin")
}

/// The same on a branch that has moved, with a file in the worktree that was never committed.
#[track_caller]
fn merges_after_a_kill_at(point: &str) {
    let env = repository();
    finished(&env, "t", &["--check", "test ! -f notes.txt"]);
    std::fs::write(env.root_of("t").join("notes.txt"), "mine\n").unwrap();
    let id = env.json(&["show", "t"])["task"]["id"].as_str().unwrap().to_owned();
    meanwhile(&env, "own.txt", "changed\n");
    let env = killed_and_landed(env, point, "Port the parser\nmeanwhile\nbegin");
    assert_eq!(env.git(&["show", "--format=", "--name-only", "main"]), "step-1.md");
    assert_eq!(env.git(&["show", &format!("refs/longhaul/{id}/final:notes.txt")]), "mine");
}

#[track_caller]
fn killed_and_landed(mut env: TestEnv, point: &str, log: &str) -> TestEnv {
    env.deserted();
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", point);
    env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    let done = env.run(&["land", "t"]);
    assert!(fails.join(point).exists(), "the point was reached: {}", done.stderr);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(env.git(&["log", "--format=%s", "main"]), log);
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

#[test]
fn l9_with_the_merge_stored() {
    merges_after_a_kill_at("land.merged");
}

#[test]
fn l10_with_the_branch_of_the_landing_made() {
    merges_after_a_kill_at("land.lent");
}

#[test]
fn l11_with_the_merged_files_written() {
    merges_after_a_kill_at("land.merge_written");
}

#[test]
fn l12_with_the_worktree_on_the_branch_of_the_landing() {
    merges_after_a_kill_at("land.placed");
}

#[test]
fn l13_with_the_files_put_back() {
    merges_after_a_kill_at("land.put_back");
}
