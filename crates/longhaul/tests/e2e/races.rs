//! Many start at once: after the death of an owner exactly one adopter runs the task, of many resumes one counts, and workers on one
//! home share its tasks and its session cap.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::checker;
use crate::env::{TestEnv, done, wait_for};

const STARTERS: usize = 12;
const ROUNDS: usize = 25;

/// Starts so many of the same command at once.
fn start_all(env: &TestEnv, count: usize, args: &[&str]) -> Vec<Child> {
    let start = |_| env.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    (0..count).map(start).collect()
}

/// The exit codes of all of them.
fn codes(children: Vec<Child>) -> Vec<i32> {
    children.into_iter().map(|child| done(&child.wait_with_output().unwrap()).code).collect()
}

fn count(env: &TestEnv, task: &str, kind: &str) -> usize {
    env.kinds(task).iter().filter(|have| *have == kind).count()
}

fn conclude(env: &TestEnv) {
    env.wait_until_empty();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(env);
}

/// Submits a task whose first worker dies at the point.
fn orphan(env: &mut TestEnv, name: &str, point: &str) {
    let fails = env.path().join(format!("fails-{name}"));
    std::fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", point);
    env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    env.submit("Win a race", &["--name", name, "--backoff", "50ms"]);
    wait_for(point, || fails.join(point).exists().then_some(()));
    env.unset("LONGHAUL_FAIL_POINTS");
    env.unset("LONGHAUL_FAIL_DIR");
    env.wait_until_workers_are_dead();
}

#[test]
fn of_twelve_starters_one_adopts() {
    const POINTS: [&str; 5] = [
        "store.committed",
        "worker.session_committed",
        "worker.session_written",
        "worker.keeper_spawned",
        "worker.end_committed",
    ];
    let mut env = TestEnv::new().var("DEMO_STEPS", "1");
    for round in 0..ROUNDS {
        let task = format!("race-{round}");
        orphan(&mut env, &task, POINTS[round % POINTS.len()]);
        let starters = start_all(&env, STARTERS, &["worker", "--only"]);
        assert_eq!(env.settle(&task), "done");
        assert!(codes(starters).iter().all(|code| *code == 0));
        assert_eq!(count(&env, &task, "claimed"), 2, "the dead worker and one adopter");
    }
    // Each session executed once, never two at a time, one owner per epoch: the checker, over all rounds.
    conclude(&env);
}

#[test]
fn of_twelve_resumes_one_counts() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang").var("DEMO_STEPS", "1");
    let task = env.submit("Resume me", &[]);
    env.known_conversation(&task);
    for round in 1..=ROUNDS {
        env.ok(&["pause", "--now", &task]);
        let codes = codes(start_all(&env, STARTERS, &["resume", &task]));
        let accepted = codes.iter().filter(|code| **code == 0).count();
        assert!(codes.iter().all(|code| [0, 8].contains(code)), "refused for its state or accepted: {codes:?}");
        assert_eq!((accepted, count(&env, &task, "resumed")), (1, round), "{codes:?}");
        env.known_conversation(&task);
    }
    env.ok(&["pause", "--now", &task]);
    env.unset("DEMO_FAULT");
    env.ok(&["resume", &task]);
    assert_eq!(env.settle(&task), "done");
    conclude(&env);
}

/// How many agents of this home lived at once, by their own ledger.
fn most_at_once(env: &TestEnv) -> usize {
    let mut living: Vec<Value> = Vec::new();
    let mut most = 0;
    for line in env.ledger_lines() {
        match line["event"].as_str() {
            Some("start") => living.push(line["session"].clone()),
            Some("end") => living.retain(|session| *session != line["session"]),
            _ => {}
        }
        most = most.max(living.len());
    }
    most
}

/// Tasks whose owners are dead, by name.
fn orphans(env: &mut TestEnv, count: usize) -> Vec<String> {
    let names: Vec<String> = (0..count).map(|number| format!("shared-{number}")).collect();
    names.iter().for_each(|name| orphan(env, name, "store.committed"));
    names
}

/// So many workers at once on one home: each task gets one of them, and at most two agents live at a time.
fn share(workers: usize, tasks: usize) {
    let mut env = TestEnv::new().var("DEMO_STEPS", "1").var("DEMO_PACE_MS", "100");
    env.make_repository();
    let names = orphans(&mut env, tasks);
    let serving = start_all(&env, workers, &["worker", "--sessions", "2"]);
    for name in &names {
        // Not by `wait`, which starts a worker of its own, with a cap of its own, while the owner is dead.
        wait_for(name, || (env.column(name, "state")? == "done").then_some(()));
        assert_eq!(count(&env, name, "claimed"), 2, "{name}: one owner after the dead one");
    }
    assert!(codes(serving).iter().all(|code| *code == 0));
    conclude(&env);
    assert!(most_at_once(&env) <= 2, "{:#?}", env.ledger_lines());
}

#[test]
fn two_workers_share_a_home_and_its_cap() {
    share(2, 6);
}

#[test]
fn four_workers_share_a_home_and_its_cap() {
    share(4, 8);
}

#[test]
fn eight_workers_share_a_home_and_its_cap() {
    share(8, 10);
}

#[test]
fn without_a_low_cap_more_agents_live_at_once() {
    // The control of the measure itself: agents that hang, and a cap that lets all of them live.
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang");
    env.make_repository();
    orphans(&mut env, 4);
    let serving = start_all(&env, 2, &["worker", "--sessions", "8"]);
    wait_for("four agents at once", || (most_at_once(&env) == 4).then_some(()));
    env.power_cut();
    drop(codes(serving));
}
