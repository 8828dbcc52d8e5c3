//! Landing on a branch that has moved: merged, checked again, fixed if need be, and never with a conflict marker.

use serde_json::json;

use super::{finished, repository};
use crate::checker;
use crate::env::{TestEnv, wait_for};
use crate::repository::git_in;

/// A commit of the user's on `main`, made after the tasks began.
pub(super) fn meanwhile(env: &TestEnv, name: &str, content: &str) {
    env.put(name, content);
    env.git(&["add", name]);
    env.git(&["commit", "-q", "-m", "meanwhile"]);
}

fn subjects(env: &TestEnv) -> String {
    env.git(&["log", "--format=%s", "main"])
}

/// The id of the landing of a task.
fn landing_of(env: &TestEnv, task: &str) -> String {
    env.json(&["show", &format!("landing-{task}")])["task"]["id"].as_str().unwrap().to_owned()
}

/// The worktree is back on its own branch, with nothing of the landing in it.
fn is_given_back(env: &TestEnv, task: &str) {
    let root = env.root_of(task);
    let git = |args: &[&str]| git_in(&root, args);
    assert_eq!(git(&["branch", "--show-current"]), format!("longhaul/{task}"));
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(env.task_branches(), [format!("longhaul/{task}")]);
}

#[test]
fn a_branch_that_moved_is_merged_and_the_checks_run_on_the_result() {
    let env = repository();
    finished(&env, "t", &["--check", "test -f step-1.md"]);
    meanwhile(&env, "other.txt", "more\n");
    let target = env.git(&["rev-parse", "main"]);
    let seen = env.run(&["land", "t", "--dry-run"]);
    assert!(seen.code == 0 && seen.stderr.contains("its checks run again"), "{}", seen.stderr);
    let landed = env.run(&["land", "t"]);
    assert_eq!(landed.code, 0, "{}", landed.stderr);
    assert_eq!(subjects(&env), "Port the parser\nmeanwhile\nbegin");
    assert_eq!(env.git(&["show", "-s", "--format=%P", "main"]), target, "one commit of the user's, no merge");
    assert_eq!(env.git(&["show", "--format=", "--name-only", "main"]), "step-1.md");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    let rounds = env.told(&landing_of(&env, "t"), "round_ended");
    let tree = env.git(&["rev-parse", "main^{tree}"]);
    assert_eq!(rounds.len(), 1);
    assert_eq!(rounds[0]["outcome"], json!({ "passed": { "tree": tree } }), "exactly what landed was checked");
    assert_eq!((env.worktrees().len(), env.task_branches().len()), (0, 0));
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn two_tasks_that_change_the_same_lines_both_land() {
    let env = repository();
    let check = "! grep -q '<<<<' step-1.md";
    finished(&env, "t", &["--check", check]);
    let second = env.run(&["run", "Port the lexer", "--name", "u", "--check", check]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    env.ok(&["land", "t"]);
    let waits = env.run(&["land", "u"]);
    assert_eq!(waits.code, 5, "a person reads what a fixing session changed: {}", waits.stderr);
    assert_eq!(subjects(&env), "Port the parser\nbegin");
    let follow_up = landing_of(&env, "u");
    assert_eq!(env.purposes(&follow_up), ["fix", "check"]);
    let prompt = env.prompt(&follow_up, 1);
    assert!(prompt.contains("conflicts with `main`") && prompt.contains("`step-1.md`"), "{prompt}");
    assert!(prompt.contains("Port the lexer"), "{prompt}");
    let patch = env.ok(&["diff", &follow_up]);
    assert!(patch.contains("step-1.md") && !patch.contains("<<<<"), "{patch}");
    let why = env.ok(&["why", &follow_up]);
    assert!(why.contains("a fixing session changed it") && why.contains("longhaul resume"), "{why}");
    env.ok(&["resume", &follow_up, "--reason", "read it"]);
    env.ok(&["wait", &follow_up]);
    assert_eq!(subjects(&env), "Port the lexer\nPort the parser\nbegin");
    let landed = env.git(&["show", "main:step-1.md"]);
    assert!(!landed.contains("<<<<<<<") && landed.contains("Port the"), "{landed}");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn with_yes_nobody_is_asked_and_without_fixing_a_person_is() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    meanwhile(&env, "step-1.md", "mine\n");
    let refused = env.run(&["land", "t", "--no-fix"]);
    assert!(
        refused.code == 3 && refused.stderr.contains("conflicts with `main`"),
        "{} {}",
        refused.code,
        refused.stderr
    );
    let follow_up = landing_of(&env, "t");
    assert!(env.purposes(&follow_up).is_empty(), "neither a fixing session nor a check");
    env.ok(&["cancel", &follow_up]);
    env.ok(&["land", "t", "--yes"]);
    assert_eq!(subjects(&env), "Port the parser\nmeanwhile\nbegin");
    assert!(env.git(&["show", "main:step-1.md"]).contains("mine"));
    assert_eq!(env.task_branches().len(), 0, "the branch of the first attempt too");
}

#[test]
fn a_tree_with_a_marker_never_lands() {
    let mut env = repository();
    finished(&env, "t", &["--check", "true"]);
    meanwhile(&env, "step-1.md", "mine\n");
    env.deserted();
    env.set("DEMO_FAULT", "no-fix");
    let refused = env.run(&["land", "t", "--yes"]);
    assert!(refused.code == 3 && refused.stderr.contains("after 2 fixing sessions"), "{}", refused.stderr);
    let follow_up = landing_of(&env, "t");
    assert_eq!(env.purposes(&follow_up), ["fix", "fix"], "no check runs on markers, and no third session");
    assert_eq!(subjects(&env), "meanwhile\nbegin");
    env.unset("DEMO_FAULT");
    env.ok(&["cancel", &follow_up]);
    env.ok(&["land", "t", "--yes"]);
    assert!(!env.git(&["show", "main:step-1.md"]).contains("<<<<<<<"));
}

#[test]
fn what_fails_on_the_branch_too_is_for_a_person() {
    let env = repository();
    finished(&env, "t", &["--check", "test ! -f broken"]);
    meanwhile(&env, "broken", "");
    let asked = env.run(&["land", "t"]);
    assert!(asked.code == 5 && asked.stderr.contains("fails on `main` too"), "{} {}", asked.code, asked.stderr);
    let follow_up = landing_of(&env, "t");
    assert_eq!(env.purposes(&follow_up), ["check", "check"], "no fixing session");
    env.git(&["rm", "-q", "broken"]);
    env.git(&["commit", "-q", "-m", "repaired"]);
    env.ok(&["cancel", &follow_up]);
    env.ok(&["land", "t"]);
    assert_eq!(subjects(&env), "Port the parser\nrepaired\nmeanwhile\nbegin");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn what_fails_only_with_the_work_is_fixed() {
    let env = repository();
    // The work has one file of that name, and the branch another one.
    let check = "test -f FIXES.md || ! test -f other.txt || ! test -f step-1.md";
    finished(&env, "t", &["--check", check]);
    meanwhile(&env, "other.txt", "more\n");
    env.ok(&["land", "t", "--yes"]);
    assert_eq!(env.purposes(&landing_of(&env, "t")), ["check", "check", "fix", "check"]);
    assert_eq!(env.git(&["show", "--format=", "--name-only", "main"]), "FIXES.md\nstep-1.md");
}

#[test]
fn a_check_that_cannot_run_starts_no_fixing_session() {
    let env = repository();
    finished(&env, "t", &["--check", "test ! -f other.txt || no-such-program"]);
    meanwhile(&env, "other.txt", "more\n");
    let asked = env.run(&["land", "t"]);
    assert!(asked.code == 5 && asked.stderr.contains("the command may be missing"), "{}", asked.stderr);
    assert_eq!(env.purposes(&landing_of(&env, "t")), ["check"]);
}

#[test]
fn a_landing_that_is_given_up_leaves_the_work_as_it_was() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    let root = env.root_of("t");
    std::fs::write(root.join("notes.txt"), "never committed\n").unwrap();
    meanwhile(&env, "step-1.md", "mine\n");
    let refused = env.run(&["land", "t", "--no-fix"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(!root.join("notes.txt").exists(), "what was not committed is not merged");
    let follow_up = landing_of(&env, "t");
    env.ok(&["cancel", &follow_up]);
    // The next one finds the worktree as the task left it, and can do no better.
    env.put("step-1.md", "mine, changed\n");
    let refused = env.run(&["land", "t", "--yes"]);
    assert!(refused.code == 8 && refused.stderr.contains("uncommitted changes"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(root.join("notes.txt")).unwrap(), "never committed\n");
    std::fs::remove_file(root.join("notes.txt")).unwrap();
    is_given_back(&env, "t");
}

#[test]
fn uncommitted_files_of_the_worktree_do_not_land_and_are_kept() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    std::fs::write(env.root_of("t").join("notes.txt"), "never committed\n").unwrap();
    let id = env.json(&["show", "t"])["task"]["id"].as_str().unwrap().to_owned();
    meanwhile(&env, "other.txt", "more\n");
    env.ok(&["land", "t"]);
    assert_eq!(env.git(&["show", "--format=", "--name-only", "main"]), "step-1.md");
    assert_eq!(env.git(&["show", &format!("refs/longhaul/{id}/final:notes.txt")]), "never committed");
}

#[test]
fn work_that_is_not_verified_is_merged_without_checks() {
    let env = repository();
    finished(&env, "t", &[]);
    meanwhile(&env, "other.txt", "more\n");
    env.ok(&["land", "t", "--unverified"]);
    assert_eq!(subjects(&env), "Port the parser\nmeanwhile\nbegin");
    assert!(env.purposes(&landing_of(&env, "t")).is_empty());
}

#[test]
fn landings_on_one_branch_wait_for_each_other() {
    let env = repository();
    let slow = env.path().join("go");
    let check = format!("test ! -f other.txt || while ! test -f {}; do sleep 0.05; done", slow.display());
    finished(&env, "t", &["--check", &check]);
    finished(&env, "u", &["--check", "true"]);
    meanwhile(&env, "other.txt", "more\n");
    let mut first = env.command(&["land", "t"]).spawn().unwrap();
    wait_for("the first landing's check", || {
        env.json(&["list"])["tasks"].as_array().unwrap().iter().any(|task| task["state"] == "verifying").then_some(())
    });
    let mut second = env.command(&["land", "u", "--yes"]).spawn().unwrap();
    let waiting = wait_for("the second landing to wait", || {
        let listed = env.json(&["list"]);
        let found = listed["tasks"].as_array().unwrap().iter().find(|task| task["state"] == "waiting").cloned();
        found.map(|task| task["id"].as_str().unwrap().to_owned())
    });
    let why = env.ok(&["why", &waiting]);
    assert!(why.contains("lands on the same branch first"), "{why}");
    std::fs::write(&slow, "").unwrap();
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    assert_eq!(subjects(&env).lines().count(), 4, "{}", subjects(&env));
}
