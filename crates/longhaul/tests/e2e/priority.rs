//! Of the tasks that wait for the one session the cap allows, the most urgent goes next, in whatever order they came.

use serde_json::Value;

use crate::checker;
use crate::env::TestEnv;
use crate::rounds::one_step;

/// The tasks in the order in which their agents began, by the agents' own ledger.
fn order(env: &TestEnv, names: &[&str]) -> Vec<String> {
    let owner_of = |session: &Value| {
        names.iter().find(|name| env.sessions(name).iter().any(|record| record["run"]["id"] == *session)).unwrap()
    };
    let begun = env.ledger_of("start").into_iter().map(|line| line["session"].clone());
    begun.map(|session| (*owner_of(&session)).to_owned()).collect()
}

/// Submits tasks with these priorities while another one holds the only session, and tells in which order all agents began.
fn order_of(tasks: [(&str, &str); 3]) -> Vec<String> {
    let env = one_step().var("DEMO_FAULT", "hang@1");
    env.make_repository();
    env.ok(&["worker", "--only", "--sessions", "1"]);
    env.submit("Hold the session", &["--name", "first"]);
    env.live("first", 1);
    for (name, priority) in tasks {
        env.submit("Wait for it", &["--name", name, "--priority", priority]);
    }
    for (name, _) in tasks {
        env.reach(name, "preparing");
        assert!(env.sessions(name).is_empty(), "the control: the cap holds it back");
    }
    env.ok(&["pause", "first", "--now"]);
    for (name, _) in tasks {
        assert_eq!(env.settle(name), "done");
    }
    env.ok(&["cancel", "first"]);
    env.deserted();
    checker::assert_clean(&env);
    order(&env, &["first", tasks[0].0, tasks[1].0, tasks[2].0])
}

#[test]
fn the_most_urgent_task_goes_next() {
    let order = order_of([("low", "-1"), ("high", "9"), ("middle", "3")]);
    assert_eq!(order, ["first", "high", "high", "middle", "middle", "low", "low"]);
}

#[test]
fn the_control_with_other_priorities_the_order_is_another() {
    let order = order_of([("low", "9"), ("high", "-1"), ("middle", "3")]);
    assert_eq!(order, ["first", "low", "low", "middle", "middle", "high", "high"]);
}
