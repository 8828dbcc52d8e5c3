//! B1: everything dies at once and the machine comes back under another boot id. Every unfinished task goes on; paused ones stay.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::checker;
use crate::env::{TestEnv, wait_for};
use crate::processes::Process;

/// Waits until a task is in a state.
fn wait_for_state(env: &TestEnv, task: &str, state: &str) {
    wait_for(state, || (env.column(task, "state")? == state).then_some(()));
}

/// A home with one task in each kind of state, each with the environment it was submitted with.
fn busy_home() -> TestEnv {
    let mut env = TestEnv::new();
    env.make_repository();
    let submit = |env: &mut TestEnv, name: &str, fault: &str, state: &str| {
        env.set("DEMO_FAULT", fault);
        env.submit(&format!("The {name} one"), &["--name", name, "--backoff", "1500ms"]);
        wait_for_state(env, name, state);
    };
    submit(&mut env, "done", "", "done");
    submit(&mut env, "paused", "hang", "planning");
    env.known_conversation("paused");
    env.ok(&["pause", "paused"]);
    submit(&mut env, "planning", "hang", "planning");
    env.known_conversation("planning");
    // A memory of its own, so that its second session can be told from the others'.
    let memory = env.path().join("memory").display().to_string();
    env.set("DEMO_AGENT_HOME", &memory);
    submit(&mut env, "working", "hang@2", "working");
    env.known_conversation("working");
    env.unset("DEMO_AGENT_HOME");
    stop_while_preparing(&mut env);
    submit(&mut env, "limited", &format!("limit:{}", in_ms(2500)), "waiting");
    submit(&mut env, "failed", "exit:3", "waiting");
    env.unset("DEMO_FAULT");
    env
}

fn in_ms(later: u128) -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() + later
}

/// One more task, whose worker stands still with the workspace prepared and nothing committed. It has another worker than the others,
/// because theirs does not answer while it is submitted.
fn stop_while_preparing(env: &mut TestEnv) {
    let worker = env.owner("planning").unwrap();
    worker.signal(Signal::SIGSTOP);
    wait_for("the worker to stand still", || worker.is_stopped().then_some(()));
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", "worker.prepared=pause");
    env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    env.submit("The preparing one", &["--name", "preparing"]);
    wait_for("a prepared workspace", || fails.join("worker.prepared").exists().then_some(()));
    env.unset("LONGHAUL_FAIL_POINTS");
    env.unset("LONGHAUL_FAIL_DIR");
    worker.signal(Signal::SIGCONT);
}

/// How the sessions of a task ended, in order.
fn ends(env: &TestEnv, task: &str) -> Vec<Value> {
    let events = env.events(task).into_iter().map(|event| event["event"].clone());
    events.filter(|event| event["kind"] == "session_ended").map(|event| event["ended"]["exit"].clone()).collect()
}

#[test]
fn b1_every_unfinished_task_goes_on() {
    let mut env = busy_home();
    env.power_cut();
    assert_eq!(env.column("planning", "state").unwrap(), "planning", "the control: nobody saw it end");
    env.set("LONGHAUL_TEST_BOOT_ID", "another boot");
    env.ok(&["worker", "--only", "--detach"]);
    for task in ["planning", "working", "limited", "failed", "preparing"] {
        assert_eq!(env.settle(task), "done", "{task}");
    }
    assert_eq!((env.state("paused").as_str(), env.state("done").as_str()), ("paused", "done"));
    assert_eq!(ends(&env, "planning")[0], "unknown");
    assert_eq!(ends(&env, "working")[1], "unknown");
    env.ok(&["resume", "paused"]);
    assert_eq!(env.settle("paused"), "done");
    env.wait_until_empty();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(&env);
}

/// Cuts the power, gives the lost agent's number to a stranger, and lets a worker go on; returns whether the stranger lives.
fn stranger_survives(boot: Option<&str>) -> bool {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang@1");
    let task = env.submit("Mind the numbers", &["--backoff", "50ms"]);
    env.known_conversation(&task);
    let (session, ..) = env.live_session(&task);
    env.power_cut();
    let mut stranger = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let number = Process::now(stranger.id().try_into().unwrap()).unwrap();
    let path = env.home().join("sessions").join(session).join("identity");
    let mut identity: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    identity["child"] = serde_json::json!({ "pid": number.pid, "start": number.start });
    std::fs::write(&path, identity.to_string()).unwrap();
    if let Some(boot) = boot {
        env.set("LONGHAUL_TEST_BOOT_ID", boot);
    }
    env.ok(&["worker", "--only", "--detach"]);
    assert_eq!(env.settle(&task), "done");
    let survived = number.is_alive();
    stranger.kill().ok();
    stranger.wait().unwrap();
    survived
}

#[test]
fn numbers_of_an_earlier_boot_mean_nothing() {
    assert!(stranger_survives(Some("another boot")), "a stranger was killed by its number");
    assert!(!stranger_survives(None), "the control: in the same boot the recorded process is ended");
}
