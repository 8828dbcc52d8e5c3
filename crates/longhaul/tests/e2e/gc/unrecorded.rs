//! What a task left in a repository without having stored it: a worktree made just before a kill, one of a forgotten task, snapshots.

use std::path::PathBuf;
use std::process::Command;

use longhaul_app::Home;
use longhaul_git::Git;
use longhaul_keeper::Environment;
use serde_json::json;

use super::leftovers::age;
use super::strings;
use super::worktrees::{branches, git};
use crate::env::{TestEnv, wait_for};

const FORGOTTEN: &str = "0190c5a4-7d4e-7c3a-8f00-000000000011";
const YOUNG: &str = "0190c5a4-7d4e-7c3a-8f00-000000000012";
const BUSY: &str = "0190c5a4-7d4e-7c3a-8f00-000000000013";
const FOREIGN: &str = "0190c5a4-7d4e-7c3a-8f00-000000000014";

/// A world whose workspace is a repository with one commit.
fn world() -> TestEnv {
    let env = TestEnv::new();
    let project = env.workspace();
    git(&project, &["init", "--quiet", "-b", "main"]);
    std::fs::write(project.join("a.txt"), "one\n").unwrap();
    git(&project, &["add", "a.txt"]);
    git(&project, &["commit", "--quiet", "-m", "first"]);
    env
}

fn worktrees(env: &TestEnv) -> Vec<String> {
    let entries = std::fs::read_dir(env.home().join("worktrees")).unwrap();
    let mut found: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    found
}

/// A task that was cancelled after its worktree was made and before that was stored.
fn cancelled_before_placed() -> (TestEnv, PathBuf) {
    let mut env = world();
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", "worker.placed");
    env.set("LONGHAUL_FAIL_DIR", fails.to_str().unwrap());
    env.submit("Never placed", &["--name", "unplaced"]);
    wait_for("the worker to die", || fails.join("worker.placed").exists().then_some(()));
    env.wait_until_workers_are_dead();
    env.unset("LONGHAUL_FAIL_POINTS");
    env.unset("LONGHAUL_FAIL_DIR");
    env.ok(&["cancel", "unplaced"]);
    assert_eq!(env.settle("unplaced"), "cancelled");
    env.wait_until_empty();
    assert_eq!(env.task("unplaced")["workspace"], json!(null), "the place was never stored");
    let id = env.task("unplaced")["id"].as_str().unwrap().to_owned();
    assert_eq!(worktrees(&env), std::slice::from_ref(&id), "it was made");
    assert!(branches(&env).contains("longhaul/unplaced"));
    let path = env.home().join("worktrees").join(id);
    (env, path)
}

#[test]
fn a_worktree_that_was_never_stored_goes_with_its_task() {
    let (env, _) = cancelled_before_placed();
    let swept = env.json(&["gc", "--age", "0s"]);
    assert_eq!(strings(&swept["removed"], "name"), ["unplaced"], "{swept}");
    assert!(worktrees(&env).is_empty() && !branches(&env).contains("longhaul/"), "{}", branches(&env));
}

#[test]
fn work_in_a_worktree_that_was_never_stored_keeps_it() {
    let (env, path) = cancelled_before_placed();
    std::fs::write(path.join("new.txt"), "work").unwrap();
    for args in [&["gc", "--age", "0s", "--dry-run"][..], &["gc", "--age", "0s"]] {
        let swept = env.json(args);
        assert_eq!((&swept["removed"], &swept["failed"]), (&json!([]), &json!(0)), "{swept}");
        assert!(swept["kept"][0]["why"].as_str().unwrap().contains("uncommitted files, such as `new.txt`"), "{swept}");
    }
    assert!(path.join("new.txt").exists());
    std::fs::remove_file(path.join("new.txt")).unwrap();
    assert_eq!(strings(&env.json(&["gc", "--age", "0s"])["removed"], "name"), ["unplaced"]);
    assert!(worktrees(&env).is_empty());
}

#[test]
fn worktrees_of_forgotten_tasks_go_when_old_and_clean() {
    let env = world();
    super::finish(&env, &["one"]);
    let home = Home::at(&env.home());
    let repository = Git::open(&home.git()).unwrap().find(&env.workspace()).unwrap().unwrap();
    let base = repository.head_commit().unwrap().unwrap();
    let before = worktrees(&env);
    let make = |id: &str| {
        let path = env.home().join("worktrees").join(id);
        repository.create_worktree(&path, &format!("longhaul/{id}"), &base, &Environment::of_process()).unwrap();
        path
    };
    let (forgotten, young, busy) = (make(FORGOTTEN), make(YOUNG), make(BUSY));
    std::fs::write(busy.join("a.txt"), "two\n").unwrap();
    git(&busy, &["commit", "--quiet", "-am", "second"]);
    let foreign = env.home().join("worktrees").join(FOREIGN);
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("mine"), "mine").unwrap();
    for path in [&forgotten, &busy, &foreign] {
        age(path);
    }
    let foretold = env.json(&["gc", "--dry-run"]);
    assert!(forgotten.exists(), "a dry run removes nothing");
    let swept = env.json(&["gc"]);
    assert_eq!(strings(&swept["orphans"], "name"), [format!("worktrees/{FORGOTTEN}")], "{swept}");
    assert_eq!((&foretold["orphans"], &foretold["left"]), (&swept["orphans"], &swept["left"]));
    let left = swept["left"].to_string();
    assert!(left.contains(BUSY) && left.contains("in no other branch"), "{left}");
    assert!(left.contains(FOREIGN) && left.contains("not a worktree"), "{left}");
    assert_eq!(swept["failed"], 0);
    let mut stay = [before, vec![YOUNG.into(), BUSY.into(), FOREIGN.into()]].concat();
    stay.sort();
    assert_eq!(worktrees(&env), stay);
    assert!(young.join("a.txt").exists() && foreign.join("mine").exists());
    assert!(!branches(&env).contains(FORGOTTEN) && branches(&env).contains(BUSY));
}

fn snapshots(env: &TestEnv) -> String {
    let asked = ["for-each-ref", "--format=%(refname)", "refs/longhaul/"];
    let output = Command::new("git").args(asked).current_dir(env.workspace()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_snapshots_of_a_task_in_place_go_with_it_and_no_others() {
    let env = world();
    for name in ["one", "two"] {
        let run = env.run(&["run", "Make a thing", "--name", name, "--in-place"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    env.wait_until_empty();
    let id = |name: &str| env.task(name)["id"].as_str().unwrap().to_owned();
    let (one, two) = (id("one"), id("two"));
    // The second one changed no file, so it has none of its own.
    git(&env.workspace(), &["update-ref", &format!("refs/longhaul/{two}/1"), "HEAD"]);
    assert!(snapshots(&env).contains(&one) && snapshots(&env).contains(&two), "{}", snapshots(&env));
    let files = crate::sight::listing(&env.task_dir("one"));
    let swept = env.json(&["gc", "--count", "1"]);
    assert_eq!(strings(&swept["removed"], "name"), ["one"], "{swept}");
    assert!(!snapshots(&env).contains(&one) && snapshots(&env).contains(&two), "{}", snapshots(&env));
    assert_eq!(crate::sight::listing(&env.task_dir("one")), files, "the user's files stay");
}
