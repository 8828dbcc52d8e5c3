//! Idempotency keys, and what the verbs that change a task print as JSON: a repeated request is answered and carried out once.

use serde_json::Value;

use crate::env::{Done, TestEnv};

fn parsed(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", done.stdout, done.stderr))
}

/// The task that a verb prints, and whether it was a repeat.
fn changed(env: &TestEnv, args: &[&str]) -> (Value, bool) {
    let done = env.run(&[args, &["--json"]].concat());
    assert_eq!(done.code, 0, "{args:?}: {}{}", done.stdout, done.stderr);
    let document = parsed(&done);
    assert_eq!((&document["v"], &document["kind"]), (&1.into(), &"task".into()), "{document}");
    (document["data"].clone(), document["repeated"] == true)
}

fn refused(env: &TestEnv, args: &[&str]) {
    let done = env.run(&[args, &["--json"]].concat());
    assert_eq!(done.code, 8, "{args:?}: {}{}", done.stdout, done.stderr);
    let error = parsed(&done)["error"].clone();
    assert_eq!(error["kind"], "conflict", "{error}");
    assert!(error["what"].as_str().unwrap().contains("key was used for another request"), "{error}");
    assert!(error["hints"][0].as_str().unwrap().contains("use a new key"), "{error}");
}

#[test]
fn a_submission_with_a_key_makes_one_task() {
    let env = TestEnv::new();
    let submit = ["run", "-d", "Only once", "--key", "k1"];
    let (first, repeated) = changed(&env, &submit);
    assert!(!repeated && first["name"] == "only-once", "{first}");
    assert_eq!(env.settle("only-once"), "done");
    let before = env.events("only-once");
    let (second, repeated) = changed(&env, &submit);
    assert!(repeated, "{second}");
    assert_eq!((&second["id"], &second["state"]), (&first["id"], &"done".into()), "the same task as it is now");
    assert_eq!(env.events("only-once"), before, "nothing was started");
    let followed = env.run(&["run", "Only once", "--key", "k1"]);
    assert_eq!(followed.code, 0, "it is followed to its end: {}", followed.stderr);
    assert!(followed.stderr.contains("already carried out under its key; nothing was changed"), "{}", followed.stderr);
    refused(&env, &["run", "-d", "Something else", "--key", "k1"]);
    refused(&env, &["run", "-d", "Only once", "--max-sessions", "3", "--key", "k1"]);
    refused(&env, &["retry", "only-once", "-d", "--key", "k1"]);
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 1);
    let (other, repeated) = changed(&env, &["run", "-d", "Only once", "--key", "k2"]);
    assert!(!repeated && other["id"] != first["id"], "the control: {other}");
    assert_eq!(env.settle("only-once-2"), "done");
}

#[test]
fn a_retry_with_a_key_makes_one_task() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Try me"]).code, 0);
    let retry = ["retry", "try-me", "-d", "--key", "k"];
    let (first, repeated) = changed(&env, &retry);
    assert!(!repeated && first["name"] == "try-me-2", "{first}");
    let (second, repeated) = changed(&env, &retry);
    assert!(repeated && second["id"] == first["id"], "{second}");
    assert_eq!(env.settle("try-me-2"), "done");
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_repeated_pause_or_resume_changes_nothing() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@1,hang@2,hang@3");
    let name = env.submit("Hang on", &[]);
    env.live(&name, 1);
    let (paused, repeated) = changed(&env, &["pause", &name, "--now", "--key", "p"]);
    assert!(!repeated && paused["state"] == "paused", "{paused}");
    let before = env.events(&name);
    let (again, repeated) = changed(&env, &["pause", &name, "--now", "--key", "p"]);
    assert!(repeated && again["state"] == "paused", "{again}");
    assert_eq!(env.run(&["pause", &name]).code, 8, "the control: without a key it makes no sense");
    assert_eq!(env.events(&name), before);
    refused(&env, &["pause", &name, "--key", "p"]);
    refused(&env, &["resume", &name, "--key", "p"]);

    let (resumed, repeated) = changed(&env, &["resume", &name, "--key", "r"]);
    assert!(!repeated && resumed["state"] != "paused", "{resumed}");
    env.live(&name, 2);
    let (working, repeated) = changed(&env, &["pause", &name, "--now", "--key", "p"]);
    assert!(repeated && working["state"] != "paused", "a late repeat does not pause it again: {working}");
    env.ok(&["pause", &name, "--now"]);
    let before = env.events(&name);
    let (late, repeated) = changed(&env, &["resume", &name, "--key", "r"]);
    assert!(repeated && late["state"] == "paused", "a late repeat does not resume it again: {late}");
    assert_eq!(env.events(&name), before);
    refused(&env, &["resume", &name, "--reason", "another input", "--key", "r"]);
    let (resumed, repeated) = changed(&env, &["resume", &name, "--key", "r2"]);
    assert!(!repeated && resumed["state"] != "paused", "the control: {resumed}");
    env.ok(&["cancel", &name]);
}

#[test]
fn every_verb_that_changes_a_task_has_a_key_and_prints_it_as_json() {
    let env = TestEnv::new();
    let name = env.submit("Steer me", &["--once"]);
    assert_eq!(env.settle(&name), "paused");
    let before = env.events(&name);
    let nothing = ["edit", &name, "--priority", "0", "--key", "n"];
    assert_eq!([changed(&env, &nothing).1, changed(&env, &nothing).1], [false, true]);
    refused(&env, &["edit", &name, "--priority", "9", "--key", "n"]);
    assert_eq!(env.events(&name), before, "the control: it changed nothing");
    for args in [
        &["tell", &name, "be brief", "--key", "t"][..],
        &["edit", &name, "--priority", "4", "--key", "e"],
        &["cancel", &name, "--reason", "enough", "--key", "c"],
    ] {
        let (first, repeated) = changed(&env, args);
        assert!(!repeated && first["name"] == name, "{args:?}: {first}");
        let before = env.events(&name);
        let (second, repeated) = changed(&env, args);
        assert!(repeated && second["id"] == first["id"], "{args:?}: {second}");
        assert_eq!(env.events(&name), before, "{args:?}");
    }
    assert_eq!(env.json(&["list", "--all"])["tasks"][0]["priority"], 4);
    let empty = env.run(&["cancel", &name, "--key", ""]);
    assert_eq!(empty.code, 2, "{}", empty.stderr);
}
