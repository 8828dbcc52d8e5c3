//! A worker is killed while it stops a session (W12, W13): the pause must still happen, and the task go on afterwards.

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
