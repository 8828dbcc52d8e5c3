//! Checks in a repository: the verdict names the tree they all passed on, and a check that changes the tree it judges is no judge.

use std::process::Command;

use crate::checker;
use crate::env::TestEnv;
use crate::rounds::one_step;

fn git(env: &TestEnv, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]);
    let output = command.args(args).current_dir(env.workspace()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A world whose workspace is a repository with one file.
fn repository() -> TestEnv {
    let env = one_step();
    git(&env, &["init", "-q"]);
    env.put("own.txt", "mine\n");
    git(&env, &["add", "own.txt"]);
    git(&env, &["commit", "-q", "-m", "begin"]);
    env
}

fn run(env: &TestEnv, check: &str) -> i32 {
    let done = env.run(&["run", "Do it", "--name", "t", "--check", check]);
    env.deserted();
    checker::assert_clean(env);
    assert_eq!(git(env, &["status", "--porcelain"]), "", "the person's checkout is as it was: {}", done.stderr);
    done.code
}

#[test]
fn the_verdict_names_the_tree_of_the_tasks_branch() {
    let env = repository();
    assert_eq!(run(&env, "test -f step-1.md && test -f own.txt"), 0);
    let verdict = env.task("t")["state"]["verdict"].clone();
    let tree = git(&env, &["rev-parse", "longhaul/t^{tree}"]);
    assert_eq!(verdict["verified"]["tree"], tree.as_str(), "{verdict}");
    assert!(env.ok(&["show", "t"]).contains(&format!("verified on tree {}", &tree[..12])));
    let evidence = &env.evidence("t")[0];
    assert_eq!((&evidence["tree_before"], &evidence["tree_after"]), (&tree.clone().into(), &tree.into()));
}

#[test]
fn a_fix_is_verified_on_the_tree_it_made() {
    let env = repository();
    assert_eq!(run(&env, "test -f FIXES.md"), 0);
    assert_eq!(env.purposes("t"), ["plan", "work", "check", "fix", "check"]);
    let evidence = env.evidence("t");
    assert_ne!(evidence[0]["tree_before"], evidence[1]["tree_before"]);
    assert!(git(&env, &["ls-tree", "--name-only", "longhaul/t"]).contains("FIXES.md"));
}

#[test]
fn a_check_that_changes_the_tree_once_is_run_again() {
    let env = repository();
    assert_eq!(run(&env, "grep -q more own.txt || echo more >> own.txt"), 0);
    assert_eq!(env.evidence("t").len(), 2);
    assert_eq!(env.told("t", "round_ended")[0]["outcome"], "tree_changed");
}

#[test]
fn what_a_check_builds_beside_the_tracked_files_is_no_change() {
    let env = repository();
    assert_eq!(run(&env, "echo built >> output.txt"), 0);
    assert_eq!(env.evidence("t").len(), 1);
}

#[test]
fn a_check_that_changes_the_tree_every_time_is_no_judge() {
    let env = repository();
    assert_eq!(run(&env, "echo more >> own.txt"), 3);
    let why = env.task("t")["state"]["reason"]["verification_failed"]["why"].clone();
    assert_eq!(why, "a check changes the files that it checks: `echo more >> own.txt` changed own.txt");
}
