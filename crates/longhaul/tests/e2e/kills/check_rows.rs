//! A check is running when something dies (C1 to C10 without C5, the reboot, which is in `checks.rs`): evidence is only of runs whose end was seen, and the task is verified by such a one.

use serde_json::{Value, json};

use super::trial::{Story, TASK, Trial};
use crate::env::wait_for;

/// Tells that it runs, and waits for the file `go`.
const CHECK: &str = "echo run >> runs; until test -e go; do sleep 0.02; done";

/// A task of one step whose check runs and waits.
fn checking() -> Trial {
    let trial = Trial::new().var("DEMO_STEPS", "1");
    trial.submit(&["--check", CHECK]);
    trial.env.await_lines("runs", 1);
    trial
}

/// The task is verified by exactly one passed run, its last one, and the check was executed so often.
#[track_caller]
fn verified(trial: &Trial, executed: usize) -> Story {
    let story = trial.conclude().unwrap();
    assert!(trial.env.task(TASK)["state"]["verdict"]["not_verified"].is_object());
    assert_eq!(trial.env.lines("runs"), executed);
    let passed: Vec<Value> =
        trial.env.evidence(TASK).into_iter().filter(|evidence| evidence["failure"].is_null()).collect();
    assert_eq!(passed.len(), 1, "{passed:?}");
    assert_eq!(passed[0]["session"], json!(story.sessions.last().unwrap().id));
    story
}

/// The check's first run is paused; the next one runs with the point armed, in a new worker and its keeper.
fn resumed_at(point: &str) -> Trial {
    let mut trial = checking();
    trial.env.ok(&["pause", TASK]);
    // A worker that is still there would take the task, and it has no point armed.
    trial.env.wait_until_workers_are_dead();
    trial.env.put("go", "");
    trial.arm(point);
    trial.env.ok(&["resume", TASK]);
    trial.disarm();
    wait_for(point, || trial.has_fired(point).then_some(()));
    trial
}

/// The same for a point of the worker; another one goes on.
fn worker_row(point: &str) -> Trial {
    let trial = resumed_at(point);
    trial.env.wait_until_workers_are_dead();
    trial.start_worker();
    trial
}

#[test]
fn c1_worker_while_the_check_runs() {
    let trial = checking();
    let (session, _, check) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().kill_9();
    assert!(check.is_alive(), "the check never notices");
    trial.start_worker();
    trial.env.put("go", "");
    let story = verified(&trial, 1);
    assert_eq!((story.sessions.last().unwrap().id.as_str(), story.count("claimed")), (session.as_str(), 2));
}

#[test]
fn c2_keeper_while_the_check_runs() {
    let trial = checking();
    let (_, keeper, check) = trial.env.live_session(TASK);
    keeper.kill_9();
    trial.env.await_lines("runs", 2);
    assert!(!check.is_alive(), "never two at once");
    trial.env.put("go", "");
    let story = verified(&trial, 2);
    assert_eq!(story.sessions[2].exit, "unknown");
    assert_eq!((story.count("checked"), story.count("wait_started")), (1, 0), "no evidence and no attempt burned");
}

#[test]
fn c3_the_check_itself() {
    let trial = checking();
    let (.., check) = trial.env.live_session(TASK);
    check.kill_9();
    trial.env.await_lines("runs", 2);
    trial.env.put("go", "");
    let story = verified(&trial, 2);
    assert_eq!(story.sessions[2].exit, json!({ "signal": 9 }));
    let first = &trial.env.evidence(TASK)[0];
    assert_eq!(first["failure"], "killed by signal 9", "its end was seen, and it is no pass");
    assert_eq!(trial.env.purposes(TASK)[2..], ["check", "fix", "check"]);
}

#[test]
fn c6_keeper_and_worker_while_the_check_runs() {
    let trial = checking();
    let (_, keeper, check) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().kill_9();
    keeper.kill_9();
    assert!(check.is_alive(), "the control: a check without a keeper runs on");
    trial.start_worker();
    trial.env.await_lines("runs", 2);
    assert!(!check.is_alive(), "never two at once");
    trial.env.put("go", "");
    let story = verified(&trial, 2);
    assert_eq!((&story.sessions[2].exit, story.count("checked")), (&json!("unknown"), 1));
}

#[test]
fn c7_check_committed_and_nothing_on_disk() {
    let story = verified(&worker_row("worker.session_committed"), 2);
    assert_eq!((&story.sessions[3].exit, story.count("checked")), (&json!("never_started"), 1));
}

#[test]
fn c4_end_of_the_check_seen_and_not_committed() {
    let story = verified(&worker_row("worker.end_seen"), 2);
    assert_eq!((story.sessions.len(), story.count("checked")), (4, 1));
}

#[test]
fn c8_end_of_the_last_check_committed() {
    let trial = resumed_at("worker.end_committed");
    trial.env.wait_until_workers_are_dead();
    assert_eq!(trial.env.column(TASK, "state").unwrap(), "done", "evidence and verdict are one commit");
    let story = verified(&trial, 2);
    assert_eq!((story.sessions.len(), story.count("checked")), (4, 1));
}

#[test]
fn c9_check_gone_and_its_status_only_in_memory() {
    let story = verified(&resumed_at("keeper.waited"), 3);
    assert_eq!((&story.sessions[3].exit, story.count("checked")), (&json!("unknown"), 1), "unknown is never a pass");
}

#[test]
fn c10_status_of_the_check_recorded() {
    let story = verified(&resumed_at("keeper.exited"), 2);
    let last = story.sessions.last().unwrap();
    assert_eq!((&last.exit, &last.gap), (&json!({ "code": 0 }), &json!("unknown_size")));
}
