//! A worker is killed around the clean checkout of a round (C11 to C14): the task is verified in a whole one, and nothing is left of any.

use serde_json::json;

use super::trial::{Story, TASK, Trial};
use crate::clean_checks::{checkouts, in_checkouts};
use crate::env::wait_for;

const CHECK: &str = "test -f step-1.md && test -f dependency";

/// A repository; checks run in a clean checkout, after a setup that notes each of its runs outside of it.
fn trial() -> Trial {
    let trial = Trial::new().var("DEMO_STEPS", "1").var("LONGHAUL_VERIFY_WHERE", "clean");
    trial.env.make_repository();
    let setups = trial.env.path().join("setups").display().to_string();
    let go = trial.env.path().join("go").display().to_string();
    trial.var(
        "LONGHAUL_WORKSPACE_SETUP",
        &in_checkouts(&format!(
            "test ! -e dependency && echo 1 > dependency && echo run >> {setups} && until test -e {go}; do sleep 0.02; done"
        )),
    )
}

fn setups(trial: &Trial) -> usize {
    std::fs::read_to_string(trial.env.path().join("setups")).map_or(0, |text| text.lines().count())
}

fn let_setup_end(trial: &Trial) {
    std::fs::write(trial.env.path().join("go"), "").unwrap();
}

/// The worker is killed at the point.
fn killed_at(point: &str) -> Trial {
    let mut trial = trial();
    let_setup_end(&trial);
    trial.arm(point);
    trial.submit(&["--check", CHECK]);
    wait_for(point, || trial.has_fired(point).then_some(()));
    trial.env.wait_until_workers_are_dead();
    trial.disarm();
    trial
}

#[track_caller]
fn verified(trial: &Trial) -> Story {
    let story = trial.conclude().unwrap();
    assert!(trial.env.task(TASK)["state"]["verdict"]["verified"].is_object());
    assert_eq!(trial.env.worktrees(), [trial.env.root_of(TASK)]);
    story
}

#[test]
fn c11_checkout_not_made() {
    let trial = killed_at("worker.checkout_due");
    assert!(checkouts(&trial.env).is_empty(), "the control");
    trial.start_worker();
    verified(&trial);
    assert_eq!((setups(&trial), checkouts(&trial.env).len()), (1, 0));
}

#[test]
fn c12_checkout_made_and_its_round_not_committed() {
    let trial = killed_at("worker.checkout_made");
    let left = checkouts(&trial.env);
    assert_eq!((left.len(), trial.story().count("round_started")), (1, 0), "the control");
    // Nobody knows who was in it since.
    std::fs::write(left[0].join("dependency"), "").unwrap();
    trial.start_worker();
    verified(&trial);
    assert_eq!((setups(&trial), checkouts(&trial.env).len()), (1, 0));
}

#[test]
fn c13_keeper_and_worker_while_the_setup_runs() {
    let trial = trial();
    trial.submit(&["--check", CHECK]);
    wait_for("the setup", || (setups(&trial) == 1).then_some(()));
    let (_, keeper, _) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().kill_9();
    keeper.kill_9();
    let_setup_end(&trial);
    trial.start_worker();
    let story = verified(&trial);
    assert_eq!((setups(&trial), story.count("round_started")), (2, 2), "in a checkout that is clean again");
    assert_eq!((&story.sessions[3].exit, checkouts(&trial.env).len()), (&json!("unknown"), 0));
}

#[test]
fn c14_round_over_and_its_checkout_not_removed() {
    let trial = killed_at("worker.checkout_over");
    trial.conclude().unwrap();
    assert_eq!(checkouts(&trial.env).len(), 1, "the control");
    let said = trial.env.ok(&["gc"]);
    assert!(said.contains("checkout of a finished round"), "{said}");
    assert!(checkouts(&trial.env).is_empty());
    assert_eq!(trial.env.worktrees(), [trial.env.root_of(TASK)]);
}
