//! What something below an agent session may do: read, and submit child tasks. Everything else is refused and writes nothing.

use crate::env::{Done, TestEnv, done};
use crate::sight::{alive, kill_9, listing};

/// Runs a verb as if an agent of this session did.
fn below(env: &TestEnv, session: &str, args: &[&str]) -> Done {
    done(&env.command(args).env("LONGHAUL_SESSION", session).output().unwrap())
}

#[test]
fn a_child_task_is_run_by_the_owner_of_its_parent() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    env.make_repository();
    let parent = env.submit("Parent", &[]);
    let live = env.live(&parent, 2);
    let worker = env.worker_pid(&parent);
    let run = below(&env, &live.session, &["run", "A child"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("child task"), "{}", run.stderr);
    assert_eq!(env.settle("a-child"), "done");
    assert_eq!(env.task("a-child")["submission"]["parent"], env.task(&parent)["id"]);
    let owner = |task: &str| {
        let claimed = env.events(task).into_iter().find(|event| event["event"]["kind"] == "claimed").unwrap();
        claimed["event"]["worker"].clone()
    };
    assert_eq!(owner("a-child"), owner(&parent), "no worker was started");
    assert_eq!(env.worker_pid(&parent), worker);
    assert!(alive(live.agent));
}

#[test]
fn commands_from_below_are_refused_and_reading_is_not() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Parent", &[]);
    let live = env.live(&name, 2);
    let before = (env.events(&name), listing(&env.home()), env.processes());
    for args in [
        &["pause", &name][..],
        &["pause", &name, "--now", "--force"],
        &["resume", &name, "--reason", "I say so"],
        &["cancel", &name],
        &["worker"],
        &["worker", "-d"],
        &["demo"],
    ] {
        let done = below(&env, &live.session, args);
        assert_eq!(done.code, 8, "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains("an agent session may only"), "{args:?}: {}", done.stderr);
    }
    for args in [&["list"][..], &["show", &name], &["why", &name], &["logs", &name], &["events", &name]] {
        assert_eq!(below(&env, &live.session, args).code, 0, "{args:?}");
    }
    assert_eq!(before, (env.events(&name), listing(&env.home()), env.processes()));
}

#[test]
fn a_session_of_another_home_submits_nothing() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Someone else"]).code, 0);
    let run = below(&env, "0190c5a4-7d4e-7c3a-8f00-0123456789ab", &["run", "Sneak in"]);
    assert_eq!(run.code, 8, "{}", run.stderr);
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn from_below_only_the_own_task_and_its_children_are_there() {
    let mut env = TestEnv::new();
    env.make_repository();
    assert_eq!(env.run(&["run", "Stranger"]).code, 0);
    env.set("DEMO_FAULT", "hang@4");
    let parent = env.submit("Parent", &[]);
    let live = env.live(&parent, 1);
    assert_eq!(below(&env, &live.session, &["run", "A child"]).code, 0);
    let names = |session: &str, args: &[&str]| {
        let shown = below(&env, session, &[args, &["--json"]].concat()).stdout;
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let tasks = shown["data"]["tasks"].as_array().unwrap().clone();
        tasks.iter().map(|task| task["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(env.json(&["list"])["tasks"].as_array().unwrap().len(), 3, "a person sees all");
    let id = env.task("stranger")["id"].as_str().unwrap().to_owned();
    let unknown = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";
    for args in [&["list"][..], &["list", "--all"]] {
        assert_eq!(names(&live.session, args), ["a-child", "parent"], "{args:?}");
        assert!(names(unknown, args).is_empty(), "{args:?}");
    }
    // A verb that changes a task is refused before any task is looked up, so it tells nothing of them either.
    let reading = ["show", "why", "logs", "events", "wait"].map(|verb| (verb, 7));
    for (verb, code) in reading.into_iter().chain([("pause", 8), ("cancel", 8)]) {
        for wanted in ["stranger", &id, &id[..30]] {
            let done = below(&env, &live.session, &[verb, wanted]);
            assert_eq!(done.code, code, "{verb} {wanted}: {}{}", done.stdout, done.stderr);
            let nobody = below(&env, &live.session, &[verb, "nobody"]).stderr;
            assert_eq!(done.stderr, nobody.replace("nobody", wanted), "as if there were none");
        }
        assert_eq!(below(&env, unknown, &[verb, &parent]).code, code, "{verb} from an unknown session");
    }
    for own in ["parent", "a-child"] {
        assert_eq!(below(&env, &live.session, &["show", own]).code, 0, "{own}");
    }
}

#[test]
fn a_queued_child_without_a_worker_is_seen_and_waiting_for_it_starts_one() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    env.make_repository();
    let parent = env.submit("Parent", &[]);
    let live = env.live(&parent, 2);
    kill_9(env.worker_pid(&parent));
    assert_eq!(below(&env, &live.session, &["run", "-d", "A child"]).code, 0);
    let list = env.run(&["list"]);
    assert!(list.stdout.contains("no worker: starting") && list.stderr.contains("worker -d"), "{}", list.stdout);
    assert_eq!(env.json(&["list"])["tasks"][0]["has_worker"], false);
    assert!(env.ok(&["show", "a-child"]).contains("no worker; start one with `longhaul worker -d`"));
    assert_eq!(env.state("a-child"), "queued", "reading starts nobody");
    let waited = env.run(&["wait", "a-child", "--timeout", "60"]);
    assert_eq!(waited.code, 0, "{}", waited.stderr);
    assert!(alive(live.agent), "the parent's agent was adopted, not disturbed");
}

#[test]
fn a_queued_child_is_paused_resumed_and_cancelled_by_a_person() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    env.make_repository();
    let parent = env.submit("Parent", &[]);
    let live = env.live(&parent, 2);
    kill_9(env.worker_pid(&parent));
    for child in ["one", "two"] {
        let run = below(&env, &live.session, &["run", "-d", "Wait for it", "--name", child]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(env.state(child), "queued", "its parent's owner is dead");
    }
    assert_eq!(env.run(&["resume", "one"]).code, 8, "it is not paused");
    env.ok(&["cancel", "two"]);
    assert_eq!(env.state("two"), "cancelled");
    env.ok(&["pause", "one"]);
    assert_eq!(env.state("one"), "paused");
    env.ok(&["resume", "one"]);
    assert_eq!(env.settle("one"), "done");
    assert!(alive(live.agent), "the parent's agent was adopted, not disturbed");
}
