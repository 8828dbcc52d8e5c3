//! `gc` as a person uses it: what goes, what stays, and what a kill in the middle leaves.

mod interrupted;
mod leftovers;
mod resident;
mod unrecorded;
mod worktrees;

use std::path::PathBuf;

use serde_json::Value;

use crate::env::{PASSED, TestEnv, done, wait_for};
use crate::sight::{alive, listing};

/// Finishes tasks with these names, one after the other.
fn finish(env: &TestEnv, names: &[&str]) {
    for name in names {
        let run = env.run(&["run", "Make a thing", "--name", name]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    env.wait_until_empty();
}

/// The names of all tasks, newest first.
fn names(env: &TestEnv) -> Vec<String> {
    strings(&env.json(&["list", "--all"])["tasks"], "name")
}

fn strings(rows: &Value, field: &str) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

/// The session directories that are there.
fn directories(env: &TestEnv) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(env.home().join("sessions")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// The ids of a task's sessions.
fn sessions(env: &TestEnv, task: &str) -> Vec<String> {
    env.sessions(task).iter().map(|record| record["run"]["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn retention_by_count_keeps_the_newest() {
    let mut env = TestEnv::new();
    finish(&env, &["one", "two", "three"]);
    let before = listing(&env.path().join("."));
    let dry = env.json(&["gc", "--count", "1", "--dry-run"]);
    assert_eq!(strings(&dry["removed"], "name"), ["one", "two"], "oldest first");
    let without_shm = |mut files: std::collections::BTreeMap<PathBuf, u64>| {
        files.retain(|path, _| !path.to_string_lossy().contains("longhaul.db-"));
        files
    };
    assert_eq!(without_shm(listing(&env.path().join("."))), without_shm(before), "a dry run changes nothing");
    env.set("LONGHAUL_RETENTION_COUNT", "1");
    let kept = sessions(&env, "three");
    let outside = listing(&env.workspace());
    let swept = env.json(&["gc"]);
    assert_eq!((&swept["removed"], &swept["kept"]), (&dry["removed"], &dry["kept"]), "as the dry run said");
    assert!(swept["freed_bytes"].as_u64().unwrap() > 1000, "{swept}");
    assert_eq!(names(&env), ["three"]);
    let left: Vec<PathBuf> = kept.iter().map(|id| env.home().join("sessions").join(id)).collect();
    assert_eq!(directories(&env), left);
    assert_eq!(listing(&env.workspace()), outside, "nothing outside of the home");
    for name in ["one", "two", "three"] {
        assert!(env.task_dir(name).join("task_list.md").is_file(), "the directory of {name} is the user's");
    }
    assert_eq!(env.run(&["show", "one"]).code, 7);
    assert_eq!(env.run(&["store", "check"]).code, 0);
    assert_eq!(env.json(&["gc"])["removed"], serde_json::json!([]), "nothing is left to do");
}

#[test]
fn retention_by_age_and_the_flag_before_the_configuration() {
    let mut env = TestEnv::new();
    finish(&env, &["one"]);
    assert_eq!(env.json(&["gc"])["removed"], serde_json::json!([]), "30 days by default");
    env.set("LONGHAUL_RETENTION_AGE", "0s");
    assert_eq!(env.json(&["gc", "--age", "1d"])["removed"], serde_json::json!([]), "a flag wins");
    assert_eq!(env.json(&["gc", "--age", "none"])["removed"], serde_json::json!([]));
    assert_eq!(strings(&env.json(&["gc"])["removed"], "name"), ["one"]);
    assert_eq!((names(&env), directories(&env)), (Vec::new(), Vec::new()));
    let bad = env.run(&["gc", "--age", "yesterday"]);
    assert!(bad.code == 2 && bad.stderr.contains("--age"), "{}", bad.stderr);
}

#[test]
fn retention_by_bytes_keeps_as_many_of_the_newest_as_fit() {
    let mut env = TestEnv::new();
    finish(&env, &["one", "two", "three"]);
    let all = env.json(&["gc", "--dry-run", "--count", "0"])["removed"].clone();
    let size = |index: usize| all[index]["bytes"].as_u64().unwrap();
    env.set("LONGHAUL_RETENTION_BYTES", &format!("{}B", size(1) + size(2)));
    assert_eq!(strings(&env.json(&["gc"])["removed"], "name"), ["one"], "two fit exactly");
    let swept = env.ok(&["gc", "--bytes", &format!("{}B", size(2))]);
    assert!(swept.starts_with("removed    two ") && swept.contains("take"), "{swept}");
    assert_eq!(names(&env), ["three"]);
}

#[test]
fn a_live_task_and_what_it_needs_stay() {
    let mut env = TestEnv::new();
    assert_eq!(env.run(&["run", "Be verified", "--name", "needed", "--check", "true"]).code, PASSED);
    finish(&env, &["other"]);
    env.set("DEMO_FAULT", "hang");
    let live = env.submit("Hang", &["--name", "live", "--after", "needed"]);
    let (session, _, agent) = env.live_session(&live);
    let swept = env.json(&["gc", "--count", "0", "--age", "0s", "--bytes", "0B"]);
    assert_eq!(strings(&swept["removed"], "name"), ["other"]);
    assert_eq!(swept["kept"][0]["name"], "needed");
    assert!(swept["kept"][0]["why"].as_str().unwrap().contains("`live` waits for it"), "{swept}");
    assert!(alive(agent.pid), "the agent was not disturbed");
    assert!(env.home().join("sessions").join(&session).join("spec").is_file());
    env.ok(&["cancel", "live"]);
    env.settle("live");
    env.wait_until_empty();
    let swept = env.json(&["gc", "--count", "0"]);
    assert_eq!(strings(&swept["removed"], "name"), ["needed", "live"], "the control: once it is finished both go");
}

#[test]
fn a_parent_stays_as_long_as_its_child() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang");
    let parent = env.submit("Parent", &[]);
    let (session, ..) = env.live_session(&parent);
    let run = done(&env.command(&["run", "-d", "A child"]).env("LONGHAUL_SESSION", &session).output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    // It works in the same directory, so it starts when the parent's session has ended.
    env.reach("a-child", "preparing");
    env.ok(&["cancel", &parent]);
    env.settle(&parent);
    let (_, _, agent) = env.live_session("a-child");
    let swept = env.json(&["gc", "--count", "0"]);
    assert_eq!(swept["removed"], serde_json::json!([]));
    assert!(swept["kept"][0]["why"].as_str().unwrap().contains("`a-child` is not finished"), "{swept}");
    assert!(alive(agent.pid));
    env.ok(&["cancel", "a-child"]);
    env.settle("a-child");
    env.wait_until_empty();
    assert_eq!(strings(&env.json(&["gc", "--count", "1"])["kept"], "name"), ["parent"], "its child is kept, so it is");
    let swept = env.json(&["gc", "--count", "0"]);
    assert_eq!(strings(&swept["removed"], "name"), ["a-child", "parent"], "children first");
}

#[test]
fn from_below_a_session_nothing_is_swept() {
    let env = TestEnv::new();
    finish(&env, &["one"]);
    let before = listing(&env.home());
    let unknown = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";
    for args in [&["gc", "--count", "0"][..], &["gc", "--dry-run"]] {
        let refused = done(&env.command(args).env("LONGHAUL_SESSION", unknown).output().unwrap());
        assert!(refused.code == 8 && refused.stderr.contains("an agent session may only"), "{}", refused.stderr);
    }
    assert_eq!(listing(&env.home()), before);
}

#[test]
fn without_a_home_there_is_nothing_and_nothing_is_made() {
    let env = TestEnv::new();
    let swept = env.run(&["gc", "--count", "0"]);
    assert!(swept.code == 0 && swept.stderr.contains("nothing to remove"), "{}", swept.stderr);
    assert!(!env.home().exists());
}

#[test]
fn only_one_sweeps_at_a_time() {
    let env = TestEnv::new();
    finish(&env, &["one"]);
    let held = std::fs::File::open(env.home()).unwrap();
    held.lock().unwrap();
    assert_eq!(env.run(&["gc", "--count", "0"]).code, 8);
    assert_eq!(names(&env), ["one"]);
    drop(held);
    wait_for("the lock to be free", || (env.run(&["gc", "--count", "0"]).code == 0).then_some(()));
    assert!(names(&env).is_empty());
}

/// Shown for the list of effects in `config_effects`.
pub(crate) const EFFECTS: [(&str, fn()); 4] = [
    ("retention.age", retention_by_age_and_the_flag_before_the_configuration),
    ("retention.count", retention_by_count_keeps_the_newest),
    ("retention.bytes", retention_by_bytes_keeps_as_many_of_the_newest_as_fit),
    ("retention.automatic", resident::a_resident_worker_removes_what_is_not_kept_and_says_so),
];
