//! The limits of a task as a user meets them: each stops it with its own name and code, holds over kills, and can be raised.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::checker;
use crate::env::{PASSED, TestEnv, wait_for};
use crate::processes::Process;
use crate::sight::kill_9;

/// The limit that stopped a task, what was used of it and what was allowed.
fn stopped_by(env: &TestEnv, task: &str) -> (String, u64, u64) {
    let state = env.task(task)["state"].clone();
    assert_eq!(state["state"], "stopped", "{state}");
    let reached = &state["reached"];
    let number = |name: &str| reached[name].as_u64().unwrap();
    (reached["limit"].as_str().unwrap().to_owned(), number("used"), number("cap"))
}

/// The tokens that were read from the agent so far.
fn reported(env: &TestEnv) -> u64 {
    env.told("t", "session_read").iter().filter_map(|event| event["said"]["usage"]["input"].as_u64()).sum()
}

/// A stopped task: `wait` has its code, `resume` wants more of the named limit, and with more it goes on to the end.
#[track_caller]
fn goes_on_only_when_raised(env: &TestEnv, flag: &str, same: &str, more: &str) {
    assert_eq!(env.run(&["wait", "t"]).code, 6);
    for refused in [&["resume", "t"][..], &["resume", "t", flag, same]] {
        let done = env.run(refused);
        assert_eq!(done.code, 8, "{refused:?}: {}", done.stderr);
        assert!(done.stderr.contains(flag), "the flag is named: {}", done.stderr);
        assert_eq!(env.state("t"), "stopped");
    }
    let show = env.ok(&["show", "t"]);
    assert!(show.contains(&format!("resume t {flag}")), "{show}");
    env.ok(&["resume", "t", flag, more]);
    let has_checks = env.task("t")["submission"]["checks"].as_array().is_some_and(|checks| !checks.is_empty());
    let done = if has_checks { PASSED } else { 0 };
    assert_eq!(env.run(&["wait", "t"]).code, done, "{}", env.ok(&["events", "t"]));
    env.deserted();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(env);
}

#[test]
fn sessions() {
    let env = TestEnv::new();
    let done = env.run(&["run", "Do it", "--name", "t", "--max-sessions", "2", "--check", "true"]);
    assert_eq!(done.code, 6, "{}", done.stderr);
    assert_eq!(stopped_by(&env, "t"), ("sessions".into(), 2, 2));
    assert_eq!(env.purposes("t"), ["plan", "work"]);
    goes_on_only_when_raised(&env, "--max-sessions", "2", "9");
}

#[test]
fn checks_are_no_sessions_of_the_limit() {
    let env = crate::rounds::one_step();
    let done = env.run(&["run", "Do it", "--name", "t", "--max-sessions", "2", "--check", "true", "--check", "echo"]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    assert_eq!(env.purposes("t"), ["plan", "work", "check", "check"]);
}

#[test]
fn a_session_is_stopped_at_what_is_left_of_the_time() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let done = env.run(&["run", "Do it", "--name", "t", "--max-time", "3s"]);
    assert_eq!(done.code, 6, "{}", done.stderr);
    let (limit, used, cap) = stopped_by(&env, "t");
    assert_eq!((limit.as_str(), cap), ("time", 3000));
    assert!((3000..20_000).contains(&used), "{used}");
    assert_eq!(env.sessions("t")[1]["ended"]["stopped_by"], "wall");
    goes_on_only_when_raised(&env, "--max-time", "3s", "1h");
}

#[test]
fn waits_are_no_working_time() {
    let env = TestEnv::new();
    let done = env.run(&["run", "Do it", "--name", "t", "--max-time", "5s", "--delay", "3s"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(env.told("t", "wait_started").len(), 2, "six seconds were waited");
    assert!(env.task("t")["tally"]["worked_ms"].as_u64() < Some(5000));
}

#[test]
fn the_time_of_checks_is_no_working_time() {
    let env = crate::rounds::one_step();
    let check = "sleep 5.5; test -e FIXES.md";
    let done = env.run(&["run", "Do it", "--name", "t", "--max-time", "5s", "--check", check]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    assert_eq!(env.purposes("t"), ["plan", "work", "check", "fix", "check"]);
}

#[test]
fn tokens_stop_a_session_in_the_middle() {
    let env = TestEnv::new().var("DEMO_FAULT", "tokens:50000@2,hang@2");
    let done = env.run(&["run", "Do it", "--name", "t", "--max-tokens", "40000"]);
    assert_eq!(done.code, 6, "{}", done.stderr);
    let (limit, used, cap) = stopped_by(&env, "t");
    assert_eq!((limit.as_str(), cap), ("tokens", 40_000));
    assert!((50_000..60_000).contains(&used), "{used}");
    assert_eq!(env.sessions("t")[1]["ended"]["stopped_by"], "task");
    goes_on_only_when_raised(&env, "--max-tokens", "40000", "none");
}

#[test]
fn money_stops_a_session_in_the_middle() {
    let env = TestEnv::new().var("DEMO_FAULT", "cost:1500000@2,hang@2");
    let done = env.run(&["run", "Do it", "--name", "t", "--max-cost", "1.25"]);
    assert_eq!(done.code, 6, "{}", done.stderr);
    assert!([done.stdout, done.stderr].concat().contains("$1.50 of $1.25"));
    assert_eq!(stopped_by(&env, "t"), ("cost".into(), 1_500_000, 1_250_000));
    goes_on_only_when_raised(&env, "--max-cost", "1.5", "20");
}

#[test]
fn an_unknown_price_is_not_free_and_not_a_reason_to_stop() {
    let env = crate::rounds::one_step();
    let done = env.run(&["run", "Do it", "--name", "t", "--max-cost", "0.01"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(env.task("t")["tally"]["usage"]["cost_micros"], Value::Null);
}

#[test]
fn what_is_used_is_known_after_the_workers_death_and_counted_once() {
    let env = TestEnv::new().var("DEMO_FAULT", "tokens:30000,stop@2").var("DEMO_STEPS", "8");
    env.submit("Do it", &["--name", "t", "--max-tokens", "80000"]);
    let live = env.live("t", 2);
    wait_for("the second report to be committed", || (reported(&env) >= 60_000).then_some(()));
    kill_9(env.worker_pid("t"));
    env.ok(&["worker", "--only", "--detach"]);
    Process::now(live.agent).unwrap().release();
    assert_eq!(env.run(&["wait", "t"]).code, 6);
    let (limit, used, _) = stopped_by(&env, "t");
    assert_eq!(limit, "tokens");
    assert!((90_000..110_000).contains(&used), "three reports, each once: {used}");
    assert_eq!(env.sessions("t").len(), 3);
    goes_on_only_when_raised(&env, "--max-tokens", "80000", "none");
}

#[test]
fn sessions_are_counted_over_the_workers_death() {
    let env = TestEnv::new().var("DEMO_FAULT", "stop@2").var("DEMO_STEPS", "8");
    env.submit("Do it", &["--name", "t", "--max-sessions", "2"]);
    let live = env.live("t", 2);
    kill_9(env.worker_pid("t"));
    env.ok(&["worker", "--only", "--detach"]);
    Process::now(live.agent).unwrap().release();
    assert_eq!(env.run(&["wait", "t"]).code, 6);
    assert_eq!(stopped_by(&env, "t"), ("sessions".into(), 2, 2));
    goes_on_only_when_raised(&env, "--max-sessions", "1", "99");
}

#[test]
fn w22_worker_killed_when_a_limit_is_reached_and_the_stop_not_sent() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "tokens:50000@1,hang@1");
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", "worker.stop_due");
    env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    env.submit("Do it", &["--name", "t", "--max-tokens", "40000"]);
    wait_for("the stop to be due", || fails.join("worker.stop_due").exists().then_some(()));
    env.wait_until_workers_are_dead();
    env.unset("LONGHAUL_FAIL_POINTS");
    env.unset("LONGHAUL_FAIL_DIR");
    assert_eq!(env.state("t"), "stopping");
    env.ok(&["worker", "--only", "--detach"]);
    assert_eq!(env.run(&["wait", "t"]).code, 6);
    assert_eq!(stopped_by(&env, "t").0, "tokens");
    goes_on_only_when_raised(&env, "--max-tokens", "40000", "none");
}

#[test]
fn a_limit_lowered_below_what_is_used_stops_the_session() {
    let env = TestEnv::new().var("DEMO_FAULT", "tokens:50000@1,hang@1");
    env.submit("Do it", &["--name", "t"]);
    wait_for("the report to be committed", || (reported(&env) >= 50_000).then_some(()));
    env.ok(&["edit", "t", "--max-tokens", "60000", "--max-sessions", "7"]);
    assert_eq!(env.state("t"), "planning", "what is not used up disturbs nobody");
    env.ok(&["edit", "t", "--max-tokens", "40000"]);
    assert_eq!(env.run(&["wait", "t"]).code, 6);
    assert_eq!(stopped_by(&env, "t").0, "tokens");
    assert_eq!(env.sessions("t")[0]["ended"]["stopped_by"], "task");
    goes_on_only_when_raised(&env, "--max-tokens", "40000", "none");
}

#[test]
fn edits_are_told_and_refused_where_they_make_no_sense() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@1");
    env.submit("Do it", &["--name", "t"]);
    env.live("t", 1);
    let done = env.run(&["edit", "t", "--max-cost", "3", "--wall", "2h", "--attempts", "7", "--priority", "4"]);
    assert_eq!(done.code, 0);
    assert!(done.stderr.contains("max-cost $3.00") && done.stderr.contains("priority 4"), "{}", done.stderr);
    let submission = env.task("t")["submission"].clone();
    assert_eq!((&submission["policy"]["attempts"], &submission["priority"]), (&json!(7), &json!(4)));
    let before = env.kinds("t").len();
    env.ok(&["edit", "t", "--attempts", "7"]);
    assert_eq!(env.kinds("t").len(), before, "what changes nothing writes nothing");
    for bad in [&["edit", "t"][..], &["edit", "t", "--max-time", "soon"], &["edit", "t", "--agent", "nobody"]] {
        assert_eq!(env.run(bad).code, 2, "{bad:?}");
    }
    assert_eq!(env.run(&["edit", "nothing", "--attempts", "1"]).code, 7);
    env.ok(&["cancel", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, 4);
    assert_eq!(env.run(&["edit", "t", "--attempts", "1"]).code, 8, "a finished task does not change");
}

#[test]
fn a_wall_lowered_below_what_a_session_has_run_ends_it_and_the_task_goes_on() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@1");
    env.submit("Do it", &["--name", "t", "--backoff", "50ms"]);
    env.live("t", 1);
    let live = Instant::now();
    wait_for("the session to be over its new wall", || (live.elapsed() > Duration::from_millis(50)).then_some(()));
    env.ok(&["edit", "t", "--wall", "40ms"]);
    assert!(!env.told("t", "stop_asked").is_empty());
    // On a busy machine the next sessions may have finished the task within the low wall already.
    let raised = env.run(&["edit", "t", "--wall", "1h"]);
    assert!(raised.code == 0 || env.state("t") == "done", "{}", raised.stderr);
    assert_eq!(env.run(&["wait", "t"]).code, 0, "{}", env.ok(&["events", "t"]));
    assert_eq!(env.sessions("t")[0]["ended"]["stopped_by"], "task");
}

#[test]
fn once_is_one_session_and_a_resume_goes_on_to_the_end() {
    let env = TestEnv::new().var("DEMO_STEPS", "6");
    let done = env.run(&["run", "Do it", "--name", "t", "--once", "--check", "true"]);
    assert_eq!((done.code, env.state("t").as_str()), (5, "paused"), "{}", done.stderr);
    assert_eq!(env.purposes("t"), ["plan"]);
    env.ok(&["resume", "t", "--once"]);
    assert_eq!(env.run(&["wait", "t"]).code, 5);
    assert_eq!(env.purposes("t"), ["plan", "work"]);
    env.ok(&["resume", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, PASSED);
    assert_eq!(env.purposes("t"), ["plan", "work", "work", "work", "check"]);
}
