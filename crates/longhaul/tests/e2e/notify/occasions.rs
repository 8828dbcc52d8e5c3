//! Which states of a real task are told, and which are not.

use serde_json::{Value, json};

use super::{ends, notices, occasions, settled, telling, told};
use crate::env::TestEnv;

fn delivered() -> Vec<(String, String)> {
    vec![("command".into(), "delivered".into())]
}

/// Runs a task to its rest in a world with one more variable, and returns the code of `run`.
fn run(env: &mut TestEnv, fault: &str, more: &[&str]) -> i32 {
    env.set("DEMO_FAULT", fault);
    env.run(&[&["run", "Do it", "--name", "t"], more].concat()).code
}

#[test]
fn sessions_that_keep_failing_are_told_as_failed() {
    let mut env = telling();
    assert_eq!(run(&mut env, "crash@1", &["--attempts", "1"]), 5);
    assert_eq!((ends(&env, "t"), occasions(&env)), (delivered(), vec!["failed".to_owned()]));
    let message: Value = serde_json::from_str(&told(&env, "failed", "input")).unwrap();
    assert_eq!(message["state"], "needs_help");
    assert!(message["message"].as_str().unwrap().contains("needs you: the session failed"), "{message}");
}

#[test]
fn checks_that_do_not_pass_are_told_as_failed() {
    let env = telling();
    let code = env.run(&["run", "Do it", "--name", "t", "--check", "false", "--fix-attempts", "0"]).code;
    assert_eq!(code, 3);
    assert_eq!((ends(&env, "t"), occasions(&env)), (delivered(), vec!["failed".to_owned()]));
}

#[test]
fn a_task_that_waits_for_a_person_is_told() {
    let mut env = telling();
    assert_eq!(run(&mut env, "auth@1", &[]), 5, "{}", env.ok(&["events", "t"]));
    assert_eq!((ends(&env, "t"), occasions(&env)), (delivered(), vec!["needs_person".to_owned()]));
}

#[test]
fn a_usage_limit_is_told_and_then_the_end() {
    let mut env = telling();
    assert_eq!(run(&mut env, "limit:+1500@1", &[]), 0);
    assert_eq!(ends(&env, "t"), [delivered(), delivered()].concat());
    assert_eq!(occasions(&env), ["done", "limit"]);
    assert_eq!(told(&env, "limit", "variables").lines().filter(|line| *line == "LONGHAUL_STATE=waiting").count(), 1);
}

#[test]
fn a_used_up_limit_is_told_as_stopped_and_the_end_after_a_resume() {
    let env = telling();
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--max-sessions", "1"]).code, 6);
    assert_eq!((ends(&env, "t"), occasions(&env)), (delivered(), vec!["stopped".to_owned()]));
    env.ok(&["resume", "t", "--max-sessions", "9"]);
    assert_eq!(env.settle("t"), "done");
    assert_eq!(ends(&env, "t").len(), 2);
    assert_eq!(occasions(&env), ["done", "stopped"]);
}

#[test]
fn what_a_person_did_is_not_told() {
    let mut env = telling();
    env.set("DEMO_FAULT", "hang@2");
    env.submit("Do it", &["--name", "t"]);
    env.live("t", 2);
    env.ok(&["pause", "t"]);
    assert_eq!(env.state("t"), "paused");
    env.ok(&["cancel", "t"]);
    assert_eq!(env.settle("t"), "cancelled");
    env.wait_until_empty();
    assert_eq!((notices(&env, "t"), occasions(&env)), (Vec::new(), Vec::new()));
}

#[test]
pub(super) fn only_the_wanted_occasions_are_told() {
    let mut env = telling().var("LONGHAUL_NOTIFY_ON", "done,failed");
    assert_eq!(run(&mut env, "limit:+1500@1", &[]), 0);
    let told: Vec<Value> = settled(&env, "t").iter().map(|notice| notice["occasion"].clone()).collect();
    assert_eq!((told, occasions(&env)), (vec![json!("done")], vec!["done".to_owned()]));
}
