//! Hooks that hang, fail or are missing, and workers that die between outcome and delivery: the outcome stays, and somebody tells.

use std::path::Path;

use super::{age, ends, notices, occasions, settled, telling, told_in};
use crate::checker;
use crate::env::{PASSED, TestEnv, wait_for};

/// Runs a task that is done, with a hook that is a shell's script.
fn with_hook(script: &str) -> TestEnv {
    let mut env = telling();
    env.set("LONGHAUL_NOTIFY_COMMAND", &format!("sh\n-c\n{script}"));
    env.set("LONGHAUL_NOTIFY_TIMEOUT", "1s");
    env
}

/// The task is done and verified as if nobody had to be told; returns the error of its only notice.
#[track_caller]
fn error_beside_a_good_end(env: &TestEnv) -> String {
    let done = env.run(&["run", "Do it", "--name", "t", "--check", "true"]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    let notice = settled(env, "t")[0].clone();
    assert_eq!((&notice["state"], &notice["tries"]), (&"failed".into(), &1.into()));
    assert_eq!(env.state("t"), "done");
    let error = notice["error"].as_str().unwrap().to_owned();
    assert!(env.ok(&["show", "t"]).contains("1 of 1 not delivered"), "{error}");
    assert!(env.ok(&["report", "t"]).contains("done by command: failed (1 tries), last error: "), "{error}");
    env.wait_until_empty();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(env);
    error
}

#[test]
pub(super) fn a_hook_that_hangs_is_killed_with_what_it_started() {
    let env = with_hook("sleep 600 & wait");
    let error = error_beside_a_good_end(&env);
    assert_eq!(error, "`sh` did not finish within 1s and was killed");
}

#[test]
fn a_hook_that_fails_is_told_with_its_last_words() {
    let env = with_hook("echo the desk is closed >&2; exit 3");
    assert_eq!(error_beside_a_good_end(&env), "`sh` ended with exit status: 3: the desk is closed");
}

#[test]
fn a_hook_that_is_missing_is_told_and_doctor_finds_it() {
    let mut env = telling();
    let missing = env.path().join("no-such-hook").display().to_string();
    let found = |env: &TestEnv| {
        let text = env.run(&["doctor", "--json"]).stdout;
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let findings = document["data"]["findings"].as_array().unwrap().clone();
        let of_notices = findings.into_iter().filter(|finding| finding["subject"] == "notices");
        of_notices.map(|finding| finding["verdict"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&env), ["ok"], "the control: the stand-in is there");
    env.set("LONGHAUL_NOTIFY_COMMAND", &missing);
    assert_eq!(found(&env), ["problem"]);
    assert_eq!(error_beside_a_good_end(&env), format!("program `{missing}` was not found"));
}

#[test]
fn a_file_in_no_directory_is_told() {
    let mut env = telling();
    env.unset("LONGHAUL_NOTIFY_COMMAND");
    let path = env.path().join("absent/marker").display().to_string();
    env.set("LONGHAUL_NOTIFY_FILE", &path);
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
    assert_eq!(ends(&env, "t"), [("file".into(), "failed".into())]);
    let error = notices(&env, "t")[0]["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with(&format!("failed to write `{path}`: ")), "{error}");
}

/// Kills the worker of a task at a point after its end was committed; nobody lives then.
pub(super) fn killed_at(point: &str) -> TestEnv {
    killed_in(telling(), point)
}

/// The same in another world.
pub(super) fn killed_in(env: TestEnv, point: &str) -> TestEnv {
    let fails = tempfile::tempdir().unwrap();
    let mut env = env.var("LONGHAUL_NOTIFY_TIMEOUT", "1s");
    env.set("LONGHAUL_FAIL_POINTS", point);
    env.set("LONGHAUL_FAIL_DIR", fails.path().to_str().unwrap());
    env.submit("Do it", &["--name", "t", "--check", "true"]);
    wait_for(point, || Path::new(&fails.path().join(point)).exists().then_some(()));
    env.wait_until_workers_are_dead();
    env.unset("LONGHAUL_FAIL_POINTS");
    env.unset("LONGHAUL_FAIL_DIR");
    assert_eq!(env.state("t"), "done", "the outcome is durable before anybody is told");
    assert_eq!(notices(&env, "t")[0]["state"], "pending");
    env
}

/// The next worker, whoever starts it, delivers and leaves.
fn delivered_by_the_next(env: &TestEnv, tries: u64) {
    env.ok(&["worker", "--only", "--detach"]);
    let notice = settled(env, "t")[0].clone();
    assert_eq!((notice["state"].as_str(), notice["tries"].as_u64()), (Some("delivered"), Some(tries)));
    env.wait_until_empty();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(env);
}

#[test]
fn n1_a_notice_that_nobody_set_out_to_deliver_is_delivered_by_the_next_worker() {
    let env = killed_at("worker.notice_due");
    assert_eq!(occasions(&env), Vec::<String>::new());
    let doctor = env.run(&["doctor"]).stdout;
    assert!(doctor.contains("1 waiting for delivery"), "{doctor}");
    delivered_by_the_next(&env, 1);
    assert_eq!(occasions(&env), ["done"]);
    let told =
        std::fs::read_dir(told_in(&env)).unwrap().next().unwrap().unwrap().metadata().unwrap().modified().unwrap();
    let told = told.duration_since(std::time::UNIX_EPOCH).unwrap();
    let sql = "SELECT created FROM outbox";
    let made: u64 = env.database().unwrap().query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(told.as_micros() >= u128::from(made) + 10_000_000, "whoever carried the task was not waited for");
}

#[test]
fn n2_a_claimed_notice_is_due_again_when_its_claimer_died() {
    let env = killed_at("worker.notice_claimed");
    assert_eq!(occasions(&env), Vec::<String>::new());
    age(&env, 10);
    delivered_by_the_next(&env, 2);
    assert_eq!(occasions(&env), ["done"]);
}

#[test]
fn n3_a_notice_that_was_sent_and_not_settled_is_sent_again() {
    let env = killed_at("worker.notice_sent");
    assert_eq!(occasions(&env), ["done"]);
    age(&env, 10);
    delivered_by_the_next(&env, 2);
    assert_eq!(occasions(&env), ["done", "done"], "at least once");
}
