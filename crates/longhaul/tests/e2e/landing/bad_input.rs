//! What `land` cannot do: each is refused with the reason, and neither branch, files nor the task's worktree change.

use super::moved::meanwhile;
use super::{finished, repository};
use crate::env::{TestEnv, wait_for};

/// Runs `land`, which must fail with this code and reason and change nothing.
#[track_caller]
fn refused(env: &TestEnv, args: &[&str], code: i32, reason: &str) {
    let before = (env.checkout(), env.worktrees(), env.task_branches());
    let done = env.run(&[&["land"], args].concat());
    assert!(done.code == code && done.stderr.contains(reason), "{args:?}: {} {}", done.code, done.stderr);
    assert!((env.checkout(), env.worktrees(), env.task_branches()) == before, "{args:?}");
}

#[test]
fn without_git() {
    let mut env = repository();
    finished(&env, "t", &["--check", "true"]);
    env.deserted();
    let path = std::env::var("PATH").unwrap();
    env.set("PATH", &env.path().join("no-programs").display().to_string());
    let done = env.run(&["land", "t"]);
    assert!(done.code == 1 && done.stderr.contains("git"), "{} {}", done.code, done.stderr);
    env.set("PATH", &path);
    env.ok(&["land", "t"]);
}

#[test]
fn onto_a_branch_that_was_deleted() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    env.git(&["switch", "-q", "-c", "other"]);
    env.git(&["branch", "-q", "-D", "main"]);
    refused(&env, &["t"], 2, "there is no branch `main`");
    env.ok(&["land", "t", "--onto", "other"]);
}

#[test]
fn into_a_checkout_with_uncommitted_work_in_the_way() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    env.put("step-1.md", "mine\n");
    env.git(&["add", "step-1.md"]);
    refused(&env, &["t"], 8, "step-1.md");
}

#[test]
fn into_a_checkout_in_the_middle_of_a_merge() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    std::fs::write(env.workspace().join(".git/MERGE_HEAD"), env.git(&["rev-parse", "HEAD"])).unwrap();
    refused(&env, &["t"], 8, "a merge is in progress");
}

#[test]
fn while_it_is_landing_already() {
    let env = repository();
    let go = env.path().join("go");
    let check = format!("test ! -f other.txt || while ! test -f {}; do sleep 0.05; done", go.display());
    finished(&env, "t", &["--check", &check]);
    meanwhile(&env, "other.txt", "more\n");
    let mut first = env.command(&["land", "t"]).spawn().unwrap();
    wait_for("the check of the landing", || {
        env.json(&["list"])["tasks"].as_array().unwrap().iter().any(|task| task["state"] == "verifying").then_some(())
    });
    let second = env.run(&["land", "t"]);
    assert!(second.code == 8 && second.stderr.contains("landing-t"), "{} {}", second.code, second.stderr);
    std::fs::write(&go, "").unwrap();
    assert!(first.wait().unwrap().success());
}
