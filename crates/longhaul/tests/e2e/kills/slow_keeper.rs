//! W7 with a keeper that is slower than the adopter: whoever holds the session lock decides, and nothing is executed twice.

use std::fs::File;

use nix::sys::signal::Signal;

use super::trial::{TASK, Trial};
use crate::env::wait_for;
use crate::processes::Process;

/// The keeper process of a session, by its command line: it has no identity yet.
fn keeper_of(trial: &Trial, session: &str) -> Process {
    let directory = trial.env.home().join("sessions").join(session).display().to_string();
    wait_for("the keeper", || {
        let is_keeper = |process: &Process| {
            let line = std::fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|argument| argument == directory.as_bytes())
        };
        trial.env.processes().into_iter().find(is_keeper)
    })
}

#[test]
fn w7_a_keeper_that_comes_too_late_leaves_without_exec() {
    let mut trial = Trial::new();
    trial.arm("worker.session_written=pause,worker.keeper_spawned");
    trial.submit(&[]);
    trial.reached("worker.session_written").unwrap();
    trial.disarm();
    let session = trial.env.column(TASK, "live_session").unwrap();
    let directory = trial.env.home().join("sessions").join(&session);
    let lock = File::options().write(true).open(directory.join("session.lock")).unwrap();
    lock.lock().unwrap();
    trial.go("worker.session_written");
    trial.reached("worker.keeper_spawned").unwrap();
    trial.env.wait_until_workers_are_dead();
    // The keeper waits for the lock; stopped, it is not even in the queue for it.
    let keeper = keeper_of(&trial, &session);
    keeper.signal(Signal::SIGSTOP);
    wait_for("the keeper to stand still", || keeper.is_stopped().then_some(()));
    drop(lock);
    trial.start_worker();
    wait_for("the session to be revoked", || directory.join("revoked").exists().then_some(()));
    keeper.signal(Signal::SIGCONT);
    wait_for("the keeper to leave", || (!keeper.is_alive()).then_some(()));
    assert!(!directory.join("identity").exists());
    trial.conclude().unwrap().assert_never_started_and_no_attempt_burned();
}

#[test]
fn w7_a_slow_keeper_that_has_its_lock_is_waited_for() {
    let mut trial = Trial::new();
    trial.arm("worker.keeper_spawned,keeper.locked=pause");
    trial.submit(&[]);
    trial.reached("worker.keeper_spawned").unwrap();
    trial.reached("keeper.locked").unwrap();
    trial.disarm();
    trial.env.wait_until_workers_are_dead();
    trial.start_worker();
    wait_for("an adopter", || (trial.env.column(TASK, "epoch")? == "2").then_some(()));
    let session = trial.env.column(TASK, "live_session").unwrap();
    trial.go("keeper.locked");
    let story = trial.conclude().unwrap();
    assert_eq!(story.sessions[0].id, session);
    story.assert_sessions_after(0);
}
