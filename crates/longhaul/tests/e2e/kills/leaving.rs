//! A worker that is asked to leave, hung up on, or stands still is not a dead one: its sessions go on, and nobody takes what it holds.

use nix::sys::signal::Signal;

use super::trial::{TASK, Trial};
use crate::env::wait_for;

/// A task whose first agent stands still until it is released.
fn slow() -> Trial {
    let trial = Trial::new().var("DEMO_FAULT", "stop@1");
    trial.submit(&[]);
    trial.env.known_conversation(TASK);
    trial
}

#[test]
fn a_worker_that_is_asked_to_leave_lets_its_session_live() {
    let trial = slow();
    let live = trial.env.live_session(TASK);
    let worker = trial.env.owner(TASK).unwrap();
    worker.signal(Signal::SIGTERM);
    wait_for("the worker to leave", || (!worker.is_alive()).then_some(()));
    assert!(live.1.is_alive() && live.2.is_alive());
    trial.start_worker();
    wait_for("an adopter", || (trial.env.column(TASK, "epoch")? == "2").then_some(()));
    assert_eq!(trial.env.live_session(TASK), live);
    live.2.release();
    trial.conclude().unwrap().assert_sessions_after(0);
}

#[test]
fn a_worker_outlives_its_terminal() {
    let trial = slow();
    let (.., agent) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().signal(Signal::SIGHUP);
    agent.release();
    let story = trial.conclude().unwrap();
    assert_eq!(story.count("claimed"), 1);
    story.assert_sessions_after(0);
}

#[test]
fn a_worker_that_stands_still_keeps_its_task() {
    let trial = slow();
    let (.., agent) = trial.env.live_session(TASK);
    let worker = trial.env.owner(TASK).unwrap();
    worker.signal(Signal::SIGSTOP);
    wait_for("the worker to stand still", || worker.is_stopped().then_some(()));
    // A second worker that claims and finishes another task has looked at this one too, more than once.
    let elsewhere = trial.env.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let other = trial.env.submit("Another one", &["--workspace", elsewhere.to_str().unwrap()]);
    assert_eq!(trial.env.settle(&other), "done");
    assert_eq!((trial.env.column(TASK, "epoch").as_deref(), trial.env.owner(TASK)), (Some("1"), Some(worker)));
    worker.signal(Signal::SIGCONT);
    agent.release();
    let story = trial.conclude().unwrap();
    assert_eq!(story.count("claimed"), 1);
    story.assert_sessions_after(0);
}
