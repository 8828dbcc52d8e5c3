//! A worker is killed anywhere between its lock and the end of its last session (W1 to W11 and W14 to W16).

use serde_json::json;

use super::trial::{GOAL, TASK, Trial};
use crate::checker;
use crate::env::wait_for;

/// Killed before anything was committed: `run` fails, and nothing was made.
#[track_caller]
fn nothing_is_made(point: &str) {
    let mut trial = Trial::new();
    trial.arm(point);
    let done = trial.env.run(&["run", "-d", GOAL]);
    trial.disarm();
    assert!(trial.has_fired(point));
    assert_eq!(done.code, 1, "{}\n{}", done.stdout, done.stderr);
    assert_eq!((done.stdout.as_str(), done.stderr.contains("nothing was submitted")), ("", true), "{}", done.stderr);
    assert_eq!(trial.env.json(&["list", "--all"])["tasks"], json!([]));
    assert!(!trial.env.task_dir(TASK).exists());
    trial.env.wait_until_empty();
    trial.env.ok(&["worker", "--only"]);
    checker::assert_clean(&trial.env);
    // The name is free and the home as good as new.
    trial.submit(&[]);
    trial.conclude().unwrap().assert_sessions_after(0);
}

#[test]
fn w1_worker_has_its_lock_and_nothing_is_committed() {
    nothing_is_made("worker.locked");
}

#[test]
fn w2_before_the_commit_of_the_submission() {
    nothing_is_made("store.before_commit");
}

#[test]
fn w3_submission_committed_and_not_answered() {
    let mut trial = Trial::new();
    trial.arm("store.committed");
    let done = trial.env.run(&["run", GOAL]);
    trial.disarm();
    assert!(trial.has_fired("store.committed"));
    // The viewer finds the task, sees its owner dead, starts another worker and follows it to the end.
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("its worker is dead"), "{}", done.stderr);
    let story = trial.conclude().unwrap();
    assert_eq!((story.count("submitted"), story.count("claimed")), (1, 2));
    story.assert_sessions_after(0);
}

#[test]
fn w4_task_directory_written_and_session_not_committed() {
    let mut trial = Trial::new();
    trial.kill_worker_at("worker.prepared").unwrap();
    assert_eq!(trial.env.state(TASK), "preparing");
    assert!(trial.env.task_dir(TASK).is_dir());
    trial.start_worker();
    trial.conclude().unwrap().assert_sessions_after(0);
}

#[test]
fn w5_session_committed_and_nothing_on_disk() {
    let mut trial = Trial::new();
    let story = trial.worker_row("worker.session_committed").unwrap();
    story.assert_never_started_and_no_attempt_burned();
    assert!(!trial.env.home().join("sessions").join(&story.sessions[0].id).exists());
}

#[test]
fn w6_session_directory_written_and_keeper_not_spawned() {
    let mut trial = Trial::new();
    let story = trial.worker_row("worker.session_written").unwrap();
    story.assert_never_started_and_no_attempt_burned();
    assert!(trial.env.home().join("sessions").join(&story.sessions[0].id).join("revoked").exists());
}

#[test]
fn w7_keeper_spawned() {
    let mut trial = Trial::new();
    // By now and then the adopter is faster than the keeper; both ends are in the table, and both must be clean.
    let story = trial.worker_row("worker.keeper_spawned").unwrap();
    if story.sessions[0].executed == 0 {
        story.assert_never_started_and_no_attempt_burned();
    } else {
        story.assert_sessions_after(0);
    }
}

#[test]
fn w7_the_agent_never_notices() {
    let mut trial = Trial::new().var("DEMO_FAULT", "stop@1");
    trial.kill_worker_at("worker.output_committed").unwrap();
    let (session, keeper, agent) = trial.env.live_session(TASK);
    assert!(keeper.is_alive() && agent.is_alive(), "the control: both live without a worker");
    trial.start_worker();
    wait_for("an adopter", || (trial.env.column(TASK, "epoch")? == "2").then_some(()));
    assert_eq!(trial.env.live_session(TASK), (session, keeper, agent), "the same processes");
    agent.release();
    trial.conclude().unwrap().assert_sessions_after(0);
}

#[test]
fn w8_output_read_and_not_committed() {
    let mut trial = Trial::new();
    trial.kill_worker_at("worker.output_read").unwrap();
    assert_eq!(trial.story().count("session_read"), 0);
    trial.start_worker();
    // The checker compares what was counted with what the log holds: nothing twice, nothing left out.
    trial.conclude().unwrap().assert_sessions_after(0);
}

#[test]
fn w9_output_committed() {
    let mut trial = Trial::new();
    trial.kill_worker_at("worker.output_committed").unwrap();
    let conversation = trial.env.known_conversation(TASK);
    let kept = std::fs::read_to_string(trial.env.task_dir(TASK).join("session.id")).unwrap();
    assert_eq!(kept.trim(), conversation);
    trial.start_worker();
    trial.conclude().unwrap().assert_sessions_after(0);
}

#[test]
fn w10_end_read_and_not_committed() {
    let mut trial = Trial::new();
    trial.kill_worker_at("worker.end_seen").unwrap();
    let before = trial.story();
    assert_eq!(before.count("session_ended"), 0);
    assert!(trial.env.home().join("sessions").join(&before.sessions[0].id).join("end").exists());
    trial.start_worker();
    trial.conclude().unwrap().assert_sessions_after(0);
}

#[test]
fn w11_end_committed() {
    let mut trial = Trial::new();
    trial.kill_worker_at("worker.end_committed").unwrap();
    assert_eq!(trial.story().count("session_ended"), 1);
    trial.start_worker();
    trial.conclude().unwrap().assert_sessions_after(0);
}

/// The first working session throws the open steps away; the worker is killed while it puts them back.
fn while_restoring(point: &str) -> Trial {
    let mut trial = Trial::new().var("DEMO_FAULT", "lie-delete@2");
    trial.kill_worker_at(point).unwrap();
    let refused = std::fs::read_to_string(trial.env.task_dir(TASK).join("task_list.rejected-1.md")).unwrap();
    assert!(!refused.contains("- [ ]"), "what the agent left is kept: {refused}");
    trial
}

#[track_caller]
fn plan_is_good(trial: &Trial) {
    trial.start_worker();
    let story = trial.conclude().unwrap();
    // Plan, the lie, and two sessions for the steps that were to vanish.
    story.assert_sessions_after(1);
    assert_eq!((story.count("plan_refused"), story.count("plan_restored")), (1, 1));
    let list = std::fs::read_to_string(trial.env.task_dir(TASK).join("task_list.md")).unwrap();
    assert_eq!(list.matches("- [x] Task").count(), 4, "{list}");
}

#[test]
fn w14_refused_plan_kept_and_good_one_not_yet_put_back() {
    let trial = while_restoring("worker.plan_kept");
    let list = std::fs::read_to_string(trial.env.task_dir(TASK).join("task_list.md")).unwrap();
    assert!(!list.contains("- [ ]"), "the control: not put back yet: {list}");
    plan_is_good(&trial);
}

#[test]
fn w15_plan_put_back_and_not_committed() {
    let trial = while_restoring("worker.plan_restored");
    assert_eq!(trial.story().count("plan_restored"), 0);
    plan_is_good(&trial);
}

#[test]
fn w16_while_waiting() {
    let trial = Trial::new().var("DEMO_FAULT", "limit:+1500");
    trial.submit(&[]);
    wait_for("the wait", || (trial.env.column(TASK, "state")? == "waiting").then_some(()));
    trial.env.owner(TASK).unwrap().kill_9();
    trial.start_worker();
    trial.conclude().unwrap().assert_sessions_after(1);
    let waits = trial.env.events(TASK);
    let at = |kind: &str| waits.iter().find(|event| event["event"]["kind"] == kind).unwrap().clone();
    let (started, ended) = (at("wait_started"), at("wait_ended"));
    assert_eq!(started["event"]["why"], "limit");
    assert!(ended["at_us"].as_i64() >= started["event"]["until"].as_i64(), "woke too early: {started} {ended}");
    assert_eq!((started["epoch"].as_u64(), ended["epoch"].as_u64()), (Some(1), Some(2)));
}
