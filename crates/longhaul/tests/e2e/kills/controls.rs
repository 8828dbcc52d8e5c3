//! The negative controls of the rows: a point that is not reached, an end that is not the same, an adopter that never comes,
//! and an agent that runs twice must all make a row fail.

use std::io::Write;
use std::process::Stdio;

use super::trial::{TASK, Trial};
use crate::env::DEMO_AGENT;

#[test]
fn a_point_that_is_never_reached_fails_the_row() {
    let failure = Trial::new().worker_row("worker.nowhere").map(|_| ()).unwrap_err();
    assert!(failure.contains("never reached worker.nowhere"), "{failure}");
}

#[test]
fn another_end_fails_the_row() {
    let mut trial = Trial::new().var("DEMO_FAULT", "hang@1");
    // Without patience a single lost keeper needs a person.
    trial.kill_keeper_at("keeper.output", &["--attempts", "1"]).unwrap();
    let failure = trial.conclude().map(|_| ()).unwrap_err();
    assert_eq!(failure, "the task is needs_help, not done");
}

#[test]
fn without_an_adopter_the_task_stays_where_it_was() {
    let mut trial = Trial::new();
    trial.kill_worker_at("worker.session_written").unwrap();
    let done = trial.env.run(&["events", TASK, "--verify"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    trial.env.wait_until_empty();
    assert_eq!(trial.env.state(TASK), "planning");
    let found = crate::checker::violations(&trial.env);
    assert!(found.iter().any(|what| what.starts_with("I8: left behind")), "a dead worker's lock: {found:?}");
}

#[test]
fn an_agent_that_is_executed_again_fails_the_row() {
    let mut trial = Trial::new();
    trial.kill_worker_at("worker.end_committed").unwrap();
    let session = trial.story().sessions[0].id.clone();
    let mut command = trial.env.command_of(DEMO_AGENT.as_ref(), &["demo-agent"]);
    let again = command.env("LONGHAUL_SESSION", session).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut again = again.unwrap();
    again.stdin.take().unwrap().write_all(b"hello").unwrap();
    again.wait().unwrap();
    trial.start_worker();
    let failure = trial.conclude().map(|_| ()).unwrap_err();
    assert!(failure.starts_with("I6: session") && failure.ends_with("was executed 2 times"), "{failure}");
}
