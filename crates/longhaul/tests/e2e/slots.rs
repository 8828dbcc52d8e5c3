//! Tasks beyond the session cap wait for a free slot: nothing is prepared for them, they say what they wait for, and neither a worker
//! that is stopped nor a person's change keeps the line from moving.

use nix::sys::signal::Signal;

use crate::checker;
use crate::env::{TestEnv, wait_for};
use crate::rounds::one_step;

/// A world with one slot, in use by the task `first` until it is paused.
pub(crate) fn one_slot_in_use() -> TestEnv {
    let env = one_step().var("DEMO_FAULT", "hang@1");
    env.make_repository();
    env.ok(&["worker", "--only", "--sessions", "1"]);
    env.submit("Use the slot", &["--name", "first"]);
    env.live("first", 1);
    env
}

/// Submits a task and waits until it is in line.
fn wait_in_line(env: &TestEnv, name: &str, more: &[&str]) {
    env.submit("Wait for it", &[&["--name", name], more].concat());
    env.reach(name, "preparing");
}

#[test]
fn a_task_that_waits_for_a_slot_says_so_and_nothing_is_prepared_for_it() {
    let env = one_slot_in_use();
    for name in ["second", "third"] {
        wait_in_line(&env, name, &[]);
    }
    let before = env.kinds("second");
    for number in 0..10 {
        env.ok(&["tell", "first", &format!("each change of any task rings the bell: {number}")]);
    }
    let words = "waiting for a free slot (1 of 1 in use)";
    assert!(env.ok(&["why", "second"]).contains(words));
    assert!(env.ok(&["show", "second"]).contains(words));
    assert_eq!(env.ok(&["list"]).matches(words).count(), 2, "both, and not the one that runs");
    let listed = env.json(&["list"])["tasks"].as_array().unwrap().clone();
    let second = listed.iter().find(|task| task["name"] == "second").unwrap();
    assert_eq!(second["wait"]["why"], "free slot (1 of 1 in use)");
    assert_eq!(env.kinds("second"), before, "no event was written");
    assert_eq!(env.worktrees().len(), 1, "the one of the task that runs");
    env.ok(&["pause", "first", "--now"]);
    for name in ["second", "third"] {
        assert_eq!(env.settle(name), "done");
        assert!(!env.ok(&["why", name]).contains("slot"));
    }
    env.ok(&["cancel", "first"]);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn what_a_person_changes_in_line_counts_when_the_turn_comes() {
    let env = one_slot_in_use();
    wait_in_line(&env, "second", &[]);
    wait_in_line(&env, "third", &[]);
    env.ok(&["edit", "second", "--check", "true"]);
    env.ok(&["cancel", "third"]);
    env.ok(&["pause", "first", "--now"]);
    assert_eq!(env.settle("second"), "done");
    assert_eq!(env.purposes("second"), ["plan", "work", "check"]);
    assert_eq!(env.task("third")["workspace"], serde_json::Value::Null, "it never had a turn");
    env.ok(&["cancel", "first"]);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn w23_the_place_in_line_survives_the_worker() {
    let env = one_slot_in_use();
    wait_in_line(&env, "second", &[]);
    wait_in_line(&env, "third", &[]);
    env.owner("second").unwrap().kill_9();
    env.ok(&["worker", "--only", "--detach"]);
    wait_for("the new owner", || env.owner("second"));
    assert_eq!(env.worktrees().len(), 1, "it waits as before");
    env.ok(&["pause", "first", "--now"]);
    assert_eq!((env.settle("second"), env.settle("third")), ("done".into(), "done".into()));
    env.ok(&["cancel", "first"]);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn more_slots_are_used_at_once() {
    let env = one_slot_in_use();
    wait_in_line(&env, "second", &[]);
    // Beside a live task even a worker for nothing else would stay, so it runs in the background.
    env.ok(&["worker", "--only", "--detach", "--sessions", "2"]);
    assert_eq!(env.settle("second"), "done");
    assert_eq!(env.state("first"), "planning", "the control: its session lives");
    env.ok(&["pause", "first", "--now"]);
    env.ok(&["cancel", "first"]);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_stopped_worker_with_the_first_task_in_line_does_not_hold_the_others_up() {
    let env = one_step();
    env.make_repository();
    env.ok(&["worker", "--only", "--sessions", "1"]);
    let slots = |slots: &str| std::fs::write(env.home().join("session-cap"), slots).unwrap();
    slots("0");
    wait_in_line(&env, "high", &["--priority", "9"]);
    let stopped = env.owner("high").unwrap();
    stopped.signal(Signal::SIGSTOP);
    wait_for("the worker to be stopped", || stopped.is_stopped().then_some(()));
    wait_in_line(&env, "low", &[]);
    slots("1");
    env.ok(&["tell", "low", "a change rings the bell"]);
    assert_eq!(env.settle("low"), "done");
    assert_eq!(env.state("high"), "preparing", "the control: it is still first in line");
    stopped.signal(Signal::SIGCONT);
    assert_eq!(env.settle("high"), "done");
    env.deserted();
    checker::assert_clean(&env);
}
