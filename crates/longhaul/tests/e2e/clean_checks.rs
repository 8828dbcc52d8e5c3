//! Checks in a clean checkout: what the tree does not hold is not there, setup comes first, and nothing is left of it afterwards.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::checker;
use crate::env::{TestEnv, wait_for};
use crate::rigged_checks;
use crate::rounds::one_step;

/// A repository whose tasks have one step, with checks in a clean checkout.
fn clean() -> TestEnv {
    let env = one_step().var("LONGHAUL_VERIFY_WHERE", "clean");
    env.make_repository();
    env
}

/// A setup that does this in clean checkouts only, and nothing in the task's worktree.
pub(crate) fn in_checkouts(command: &str) -> String {
    format!("case $PWD in */checkouts/*) {command};; esac")
}

/// The checkouts that are there now.
pub(crate) fn checkouts(env: &TestEnv) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(env.home().join("checkouts")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn run(env: &TestEnv, more: &[&str]) -> i32 {
    let done = env.run(&[&["run", "Do it", "--name", "t", "--fix-attempts", "0"], more].concat());
    env.deserted();
    checker::assert_clean(env);
    let left = checkouts(env);
    assert!(left.is_empty(), "{left:?}\n{}", done.stderr);
    assert_eq!(env.worktrees(), [env.root_of("t")], "git knows of no other worktree");
    done.code
}

#[test]
pub(crate) fn what_git_ignores_is_not_there() {
    for (place, code) in [("clean", 0), ("workspace", 3)] {
        let env = rigged_checks::world("echo cache > .gitignore; echo 42 > cache").var("LONGHAUL_VERIFY_WHERE", place);
        assert_eq!(run(&env, &["--check", "test ! -e cache"]), code, "{place}");
    }
}

#[test]
fn the_checkout_is_of_the_tree_that_is_named_and_detached() {
    let env = clean();
    let check = "git rev-parse --abbrev-ref HEAD; git rev-parse 'HEAD^{tree}'; git status --porcelain; pwd";
    assert_eq!(run(&env, &["--check", check]), 0);
    let tree = env.git(&["rev-parse", "longhaul/t^{tree}"]);
    let tail = env.evidence("t")[0]["output"]["tail"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = tail.lines().collect();
    assert_eq!(lines[..2], ["HEAD", &tree], "{tail}");
    assert!(lines.len() == 3 && lines[2].contains("/checkouts/"), "{tail}");
    assert_eq!(env.task("t")["state"]["verdict"]["verified"]["tree"], tree);
}

#[test]
pub(crate) fn setup_comes_first_and_makes_auto_clean() {
    let setup = in_checkouts("echo 1 > dependency");
    let env = clean().var("LONGHAUL_VERIFY_WHERE", "auto").var("LONGHAUL_WORKSPACE_SETUP", &setup);
    assert_eq!(run(&env, &["--check", "test -f dependency"]), 0);
    let roles: Vec<Value> = env.evidence("t").iter().map(|evidence| evidence["role"].clone()).collect();
    assert_eq!(roles, [json!("setup"), json!("setup"), json!("check")], "in the worktree, and in the checkout");
    assert!(!env.root_of("t").join("dependency").exists(), "the workspace is as the agent left it");
    assert!(env.ok(&["report", "t"]).contains(&format!("setup: {setup}")));
}

#[test]
fn a_setup_that_fails_is_a_failed_check_and_no_check_runs() {
    let setup = in_checkouts("echo no network; exit 7");
    let env = clean().var("LONGHAUL_WORKSPACE_SETUP", &setup);
    assert_eq!(run(&env, &["--check", "true"]), 3);
    let why = env.task("t")["state"]["reason"]["verification_failed"]["why"].clone();
    assert_eq!((why, env.evidence("t").len()), (json!(format!("setup `{setup}`: exit code 7")), 2));
}

#[test]
fn a_setup_has_the_deadline_of_checks() {
    let setup = in_checkouts("sleep 600");
    let env = clean().var("LONGHAUL_WORKSPACE_SETUP", &setup).var("LONGHAUL_VERIFY_DEADLINE", "500ms");
    assert_eq!(run(&env, &["--check", "true"]), 3);
    assert_eq!(env.evidence("t")[1]["failure"], "timed out");
}

#[test]
fn a_fix_is_checked_in_another_checkout() {
    let env = clean();
    let done = env.run(&["run", "Do it", "--name", "t", "--check", "test ! -e mark && touch mark && test -f FIXES.md"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(env.purposes("t")[2..], ["check", "fix", "check"]);
    env.deserted();
    assert!(checkouts(&env).is_empty());
}

#[test]
fn expected_files_are_looked_for_where_the_checks_ran() {
    let env = clean();
    assert_eq!(run(&env, &["--check", "echo built > out.bin", "--expect", "out.bin"]), 0);
    assert!(!env.root_of("t").join("out.bin").exists());
    let env = clean();
    assert_eq!(run(&env, &["--check", "true", "--expect", "out.bin"]), 3, "the control");
}

#[test]
fn a_check_that_changes_a_tracked_file_of_its_checkout_is_no_judge() {
    let env = clean();
    assert_eq!(run(&env, &["--check", "echo more >> own.txt"]), 3);
    assert_eq!(env.told("t", "round_ended").len(), 2, "run once more, then a person is asked");
}

#[test]
fn checks_start_in_the_subdirectory_of_the_task() {
    let env = clean();
    std::fs::create_dir(env.workspace().join("sub")).unwrap();
    env.put("sub/file", "x\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "sub"]);
    let mut command =
        env.command(&["run", "Do it", "--name", "t", "--check", "test -f file && pwd | grep -q checkouts"]);
    let done = crate::env::done(&command.current_dir(env.workspace().join("sub")).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn a_check_that_cuts_its_checkout_off_from_git_neither_hides_a_change_nor_keeps_the_checkout() {
    let env = clean();
    assert_eq!(run(&env, &["--check", "rm .git; mkdir -p a/b; touch a/b/c"]), 0);
    let env = clean();
    assert_eq!(run(&env, &["--check", "rm .git; echo more >> own.txt"]), 3, "a file of the tree is another one");
}

#[test]
fn a_pause_ends_the_round_and_its_checkout() {
    let env = clean();
    let check = format!("echo run >> {0}/runs; until test -e {0}/go; do sleep 0.02; done", env.path().display());
    env.submit("Do it", &["--name", "t", "--check", &check]);
    let (runs, go) = (env.path().join("runs"), env.path().join("go"));
    wait_for("the check", || runs.exists().then_some(()));
    let first = checkouts(&env);
    env.ok(&["pause", "t"]);
    wait_for("its checkout to go", || checkouts(&env).is_empty().then_some(()));
    std::fs::write(go, "").unwrap();
    env.ok(&["resume", "t"]);
    assert_eq!(env.settle("t"), "done");
    assert_eq!(env.task("t")["round"]["number"], 2);
    wait_for("the second checkout to go", || checkouts(&env).is_empty().then_some(()));
    assert_eq!(first.len(), 1);
}

#[test]
fn in_place_the_snapshot_is_checked_out() {
    let env = clean();
    let done =
        env.run(&["run", "Do it", "--name", "t", "--in-place", "--check", "test -f step-1.md && pwd | grep checkouts"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    env.deserted();
    assert!(checkouts(&env).is_empty() && env.worktrees().is_empty());
}

#[test]
fn without_git_the_checks_run_in_the_directory_itself() {
    let env = one_step().var("LONGHAUL_VERIFY_WHERE", "clean").var("LONGHAUL_WORKSPACE_SETUP", "exit 1");
    env.run(&["run", "Do it", "--name", "t", "--check", "test -f step-1.md"]);
    assert_eq!((env.state("t").as_str(), env.evidence("t").len()), ("done", 1));
}
