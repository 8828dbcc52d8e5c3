//! The agent is killed, alone or with its worker (A1, A2); keeper and worker die together (A3); the viewer dies (V1).

use std::process::Stdio;

use serde_json::json;

use super::trial::{GOAL, TASK, Trial};

/// A task whose first session has told its conversation and hangs.
fn hanging() -> Trial {
    let trial = Trial::new().var("DEMO_FAULT", "hang@1");
    trial.submit(&[]);
    trial.env.known_conversation(TASK);
    trial
}

#[test]
fn a1_the_agent() {
    let trial = hanging();
    let (_, keeper, agent) = trial.env.live_session(TASK);
    agent.kill_9();
    let story = trial.conclude().unwrap();
    assert!(!keeper.is_alive());
    assert_eq!((&story.sessions[0].exit, &story.sessions[0].gap), (&json!({ "signal": 9 }), &json!("none")));
    assert_eq!((story.count("wait_started"), story.count("claimed")), (1, 1));
    story.assert_conversation_resumed();
    story.assert_sessions_after(1);
}

#[test]
fn a2_agent_and_worker() {
    let trial = hanging();
    let (session, _, agent) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().kill_9();
    agent.kill_9();
    // Nobody but the keeper is left, and it writes the end down.
    trial.env.wait_until_empty();
    assert!(trial.env.home().join("sessions").join(session).join("end").exists());
    assert_eq!(trial.story().count("session_ended"), 0);
    trial.start_worker();
    let story = trial.conclude().unwrap();
    assert_eq!((&story.sessions[0].exit, &story.sessions[0].gap), (&json!({ "signal": 9 }), &json!("none")));
    story.assert_conversation_resumed();
    story.assert_sessions_after(1);
}

#[test]
fn a3_keeper_and_worker() {
    let trial = hanging();
    let (_, keeper, agent) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().kill_9();
    keeper.kill_9();
    assert!(agent.is_alive(), "the control: an agent without a keeper hangs on");
    trial.start_worker();
    let story = trial.conclude().unwrap();
    assert!(!agent.is_alive());
    story.assert_first_end_unknown();
    story.assert_conversation_resumed();
    story.assert_sessions_after(1);
}

#[test]
fn v1_the_viewer() {
    let trial = Trial::new().var("DEMO_FAULT", "stop@1");
    let mut viewing = trial.env.command(&["run", GOAL]);
    let mut viewer = viewing.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (session, keeper, agent) = trial.env.live_session(TASK);
    let worker = trial.env.owner(TASK).unwrap();
    viewer.kill().unwrap();
    viewer.wait().unwrap();
    assert_eq!(trial.env.owner(TASK), Some(worker));
    assert_eq!(trial.env.live_session(TASK), (session, keeper, agent));
    agent.release();
    let story = trial.conclude().unwrap();
    assert_eq!(story.count("claimed"), 1);
    story.assert_sessions_after(0);
}

#[test]
fn d1_the_worker_and_the_sessions_directory() {
    let trial = hanging();
    let (session, _, agent) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().kill_9();
    let directory = trial.env.home().join("sessions").join(session);
    let away = trial.env.path().join("away");
    std::fs::rename(&directory, &away).unwrap();
    assert!(agent.is_alive(), "the control: an agent does not notice that its directory is gone");
    trial.start_worker();
    assert_eq!(trial.env.settle(TASK), "done");
    assert!(!agent.is_alive(), "no session may start beside it");
    std::fs::rename(&away, &directory).unwrap();
    // Whoever tells the end of a session clears its directory up; this one was not there.
    std::fs::remove_file(directory.join("prompt")).unwrap();
    let story = trial.conclude().unwrap();
    story.assert_first_end_unknown();
    story.assert_conversation_resumed();
}
