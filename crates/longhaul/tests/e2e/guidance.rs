//! What a person tells a task reaches the next executed session, whatever is killed in between, and no other one.

use crate::checker;
use crate::env::{PASSED, TestEnv};
use crate::processes::Process;
use crate::sight::kill_9;

const HEADING: &str = "Guidance from a person for this session:";

/// Which sessions of a task were told a text.
fn heard(env: &TestEnv, text: &str) -> Vec<usize> {
    let count = env.sessions("t").len();
    (1..=count).filter(|number| env.prompt("t", *number).contains(text)).collect()
}

/// A task whose first agent stands still.
fn standing(more: &[&str]) -> (TestEnv, Process) {
    let env = TestEnv::new().var("DEMO_FAULT", "stop@1");
    env.submit("Do it", &[&["--name", "t"], more].concat());
    let agent = Process::now(env.live("t", 1).agent).unwrap();
    (env, agent)
}

#[test]
fn the_next_session_is_told_and_only_that_one() {
    let (env, agent) = standing(&[]);
    let told = env.run(&["tell", "t", "mind the gap"]);
    assert_eq!(told.code, 0);
    assert!(told.stderr.contains("the next session will get the message"), "{}", told.stderr);
    assert_eq!(env.feed(&["tell", "t", "-"], b"and the\nstep\n").code, 0);
    assert_eq!(env.state("t"), "planning", "the running one is not disturbed");
    agent.release();
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    assert_eq!((heard(&env, "mind the gap"), heard(&env, "and the\nstep")), (vec![2], vec![2]));
    let prompt = env.prompt("t", 2);
    assert!(prompt.find("mind the gap") < prompt.find("and the\nstep"), "in their order: {prompt}");
    assert_eq!(heard(&env, HEADING), [2]);
}

#[test]
fn a_paused_task_is_told_when_it_goes_on() {
    let (env, agent) = standing(&[]);
    env.ok(&["pause", "t", "--now"]);
    assert!(!agent.is_alive());
    env.ok(&["tell", "t", "mind the gap"]);
    assert_eq!(env.state("t"), "paused", "to tell is not to resume");
    env.ok(&["resume", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    assert_eq!(heard(&env, "mind the gap"), [2]);
}

#[test]
fn guidance_survives_the_worker() {
    let (env, agent) = standing(&[]);
    env.ok(&["tell", "t", "mind the gap"]);
    kill_9(env.worker_pid("t"));
    env.ok(&["worker", "--only", "--detach"]);
    agent.release();
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    assert_eq!(heard(&env, "mind the gap"), [2]);
    env.deserted();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(&env);
}

#[test]
fn a_session_that_never_started_has_heard_nothing() {
    let (mut env, _) = standing(&[]);
    env.ok(&["pause", "t", "--now"]);
    env.ok(&["tell", "t", "mind the gap"]);
    env.wait_until_workers_are_dead();
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", "worker.session_written");
    env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    env.ok(&["resume", "t"]);
    env.wait_until_workers_are_dead();
    assert!(fails.join("worker.session_written").exists());
    env.unset("LONGHAUL_FAIL_POINTS");
    env.unset("LONGHAUL_FAIL_DIR");
    env.ok(&["worker", "--only", "--detach"]);
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    assert_eq!(env.sessions("t")[1]["ended"]["exit"], "never_started");
    assert_eq!(heard(&env, "mind the gap"), [3], "not one that never started, but the next");
}

#[test]
fn a_check_hears_nothing_and_takes_nothing_away() {
    let env = crate::rounds::one_step();
    let check = "echo run >> runs; until test -e go; do sleep 0.02; done; test -e FIXES.md";
    env.submit("Do it", &["--name", "t", "--check", check]);
    env.await_lines("runs", 1);
    env.ok(&["tell", "t", "mind the gap"]);
    env.put("go", "");
    assert_eq!(env.run(&["wait", "t"]).code, PASSED);
    assert_eq!(env.purposes("t"), ["plan", "work", "check", "fix", "check"]);
    assert_eq!(heard(&env, "mind the gap"), [4]);
}

#[test]
fn nonsense_is_refused_and_secrets_are_masked() {
    let (env, _) = standing(&[]);
    let long = "x".repeat(64 * 1024 + 1);
    for bad in ["", " \n", &long] {
        let done = env.feed(&["tell", "t", "-"], bad.as_bytes());
        assert_eq!(done.code, 2, "{}", done.stderr);
    }
    assert_eq!(env.run(&["tell", "nobody", "hello"]).code, 7);
    let env = env.var("MY_API_KEY", "0123456789abcdef0123");
    let told = env.run(&["tell", "t", "use 0123456789abcdef0123 there"]);
    assert!(told.stderr.contains("1 secret value"), "{}", told.stderr);
    assert_eq!(env.told("t", "told").len(), 1);
    assert!(!env.ok(&["events", "t", "--json"]).contains("0123456789abcdef0123"));
    env.ok(&["cancel", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, 4);
    assert_eq!(env.run(&["tell", "t", "too late"]).code, 8);
}
