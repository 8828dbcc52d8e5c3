//! A keeper is killed anywhere between its lock and its end record (K1 to K9); its worker lives and makes the best of it.

use serde_json::json;

use super::trial::{Story, TASK, Trial};
use crate::processes::Process;

fn row(point: &str) -> Story {
    Trial::new().keeper_row(point).unwrap()
}

#[test]
fn k1_keeper_has_its_lock() {
    row("keeper.locked").assert_never_started_and_no_attempt_burned();
}

#[test]
fn k2_child_waits_at_the_gate() {
    row("keeper.forked").assert_never_started_and_no_attempt_burned();
}

#[test]
fn k3_identity_written_and_gate_closed() {
    let story = row("keeper.identified");
    story.assert_first_end_unknown();
    assert_eq!(story.sessions[0].executed, 0, "the child saw end of file and executed nothing");
    story.assert_sessions_after(1);
}

#[test]
fn k4_agent_running() {
    let story = row("keeper.released");
    story.assert_first_end_unknown();
    assert!(story.sessions[0].executed <= 1);
    story.assert_sessions_after(1);
}

#[test]
fn k5_part_of_the_output_written() {
    // The agent lives on: had it ended by now, its status might be known before its first output is written.
    let story = Trial::new().var("DEMO_FAULT", "hang@1").keeper_row("keeper.output").unwrap();
    story.assert_first_end_unknown();
    assert_eq!(story.sessions[0].executed, 1);
    story.assert_conversation_resumed();
    story.assert_sessions_after(1);
}

#[test]
fn k6_agent_gone_and_its_status_only_in_memory() {
    let mut trial = Trial::new().var("DEMO_FAULT", "hang@1");
    trial.arm("keeper.waited");
    trial.submit(&[]);
    trial.env.known_conversation(TASK);
    let (.., agent) = trial.env.live_session(TASK);
    agent.kill_9();
    trial.reached("keeper.waited").unwrap();
    let story = trial.conclude().unwrap();
    story.assert_first_end_unknown();
    story.assert_conversation_resumed();
    story.assert_sessions_after(1);
}

/// The status is known, but not that the log is whole.
fn status_known(point: &str) -> Story {
    let story = row(point);
    let first = &story.sessions[0];
    assert_eq!((&first.exit, &first.gap, first.executed), (&json!({ "code": 0 }), &json!("unknown_size"), 1));
    story
}

#[test]
fn k7_exit_recorded() {
    status_known("keeper.exited");
}

#[test]
fn k8_tree_swept() {
    status_known("keeper.swept");
}

#[test]
fn k9_end_recorded() {
    row("keeper.ended").assert_sessions_after(0);
}

#[test]
fn a_killed_keeper_leaves_no_marked_daemon_of_its_agent() {
    let mut trial = Trial::new().var("DEMO_FAULT", "daemon@1");
    let story = trial.keeper_row("keeper.exited").unwrap();
    let ended = story.events.iter().find(|event| event["kind"] == "session_ended").unwrap();
    assert!(ended["ended"]["leftovers"].as_u64() >= Some(2), "{ended}");
    let left = trial.env.ledger_lines().into_iter().find(|line| line["event"] == "daemon").unwrap();
    let pids = left["pids"].as_array().unwrap().iter().filter_map(|pid| Process::now(pid.as_i64()?.try_into().ok()?));
    let living: Vec<Process> = pids.filter(|daemon| daemon.is_alive()).collect();
    // One daemon threw its marker away and lost its parents: without a keeper or a cgroup nothing ties it to the session.
    assert!(living.len() <= 1, "{living:?}");
    living.into_iter().for_each(Process::kill_9);
}
