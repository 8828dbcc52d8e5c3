//! A worker is killed while it stops a session (W12, W13, W25): the pause, or the wait for a person, must still happen, and the task continue
//! afterwards.

use std::process::Stdio;

use serde_json::json;

use super::trial::{TASK, Trial};
use crate::env::done;

/// Pauses a hanging session; the worker dies at the point, another one finishes the stop.
fn stop_survives(point: &str) {
    let mut trial = Trial::new().var("DEMO_FAULT", "hang@1");
    trial.arm(point);
    trial.submit(&[]);
    trial.disarm();
    let conversation = trial.env.known_conversation(TASK);
    let mut pause = trial.env.command(&["pause", TASK]);
    let pausing = pause.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    trial.reached(point).unwrap();
    trial.env.wait_until_workers_are_dead();
    trial.start_worker();
    let paused = done(&pausing.wait_with_output().unwrap());
    assert_eq!(paused.code, 0, "{}", paused.stderr);
    assert_eq!(trial.env.state(TASK), "paused");
    let story = trial.story();
    // The demo agent ends on TERM: by the signal itself.
    assert_eq!((story.sessions.len(), &story.sessions[0].exit), (1, &json!({ "signal": 15 })));
    assert_eq!((story.count("claimed"), story.count("stop_asked")), (2, 1));
    trial.env.ok(&["resume", TASK]);
    let story = trial.conclude().unwrap();
    assert_eq!(story.sessions[1].resumes, json!(conversation));
    assert_eq!(story.count("wait_started"), 0, "a stop of our own burns no attempt");
    story.assert_sessions_after(1);
}

#[test]
fn w12_stop_asked_for_and_signal_not_sent() {
    stop_survives("worker.stop_due");
}

#[test]
fn w13_signal_sent() {
    stop_survives("worker.stop_sent");
}

/// The agent's call was answered before the worker dies; its question must reach the person.
#[test]
fn w25_help_asked_for_and_the_session_not_stopped() {
    let mut trial = Trial::new().var("DEMO_FAULT", "hang@1");
    trial.arm("worker.stop_due");
    trial.submit(&[]);
    trial.disarm();
    let conversation = trial.env.known_conversation(TASK);
    let session = trial.env.live(TASK, 1).session;
    let mut ask = trial.env.command(&["session", "help", "which colour?"]);
    let asked = done(&ask.env("LONGHAUL_SESSION", session).output().unwrap());
    assert!(asked.code == 0 && asked.stderr.contains("end your turn now"), "{}", asked.stderr);
    trial.reached("worker.stop_due").unwrap();
    trial.env.wait_until_workers_are_dead();
    trial.start_worker();
    assert_eq!(trial.env.settle(TASK), "needs_help");
    assert!(trial.env.ok(&["why", TASK]).contains("the agent asks: which colour?"));
    let story = trial.story();
    assert_eq!((story.sessions.len(), story.count("claimed"), story.count("help_asked")), (1, 2, 1));
    trial.env.ok(&["resume", TASK, "--reason", "green"]);
    let story = trial.conclude().unwrap();
    assert_eq!(story.sessions[1].resumes, json!(conversation));
    assert_eq!(story.count("wait_started"), 0, "asking burns no attempt");
    story.assert_sessions_after(1);
}
