//! `longhaul retry`: a finished task tried anew, as a task of its own.

use crate::env::{PASSED, TestEnv, done};
use crate::sight::listing;

#[test]
fn a_retry_asks_for_the_same_and_is_linked() {
    let env = TestEnv::new();
    std::fs::write(env.workspace().join("in.txt"), "one").unwrap();
    let args =
        ["run", "Try me", "--model", "tiny", "--constraint", "be kind", "--input", "in.txt", "--max-sessions", "7"];
    assert_eq!(env.run(&args).code, 0);
    let before = (env.events("try-me"), listing(&env.task_dir("try-me")));
    std::fs::write(env.workspace().join("in.txt"), "two").unwrap();
    let retry = env.run(&["retry", "try-me", "--check", "true", "--priority", "3"]);
    assert_eq!(retry.code, PASSED, "{}", retry.stderr);
    for part in
        ["retrying try-me", "checks: true", "priority 3", "has changed since the first run", "done, checks passed"]
    {
        assert!(retry.stderr.contains(part), "`{part}` is missing in\n{}", retry.stderr);
    }
    let (old, new) = (env.task("try-me"), env.task("try-me-2"));
    assert_eq!(new["submission"]["retry_of"], old["id"]);
    for same in ["goal", "model", "constraints", "workspace", "agent"] {
        assert_eq!(new["submission"][same], old["submission"][same], "{same}");
    }
    assert_eq!(new["submission"]["policy"]["max_sessions"], 7);
    assert_ne!(new["submission"]["inputs"], old["submission"]["inputs"], "the file as it is now");
    assert_eq!((env.events("try-me"), listing(&env.task_dir("try-me"))), before, "the old one is not touched");
    assert!(env.ok(&["show", "try-me-2"]).contains("retry of"));
    let third = env.ok(&["retry", "try-me-2", "-d"]);
    assert_eq!(third.trim(), "try-me-3", "not try-me-2-2");
    env.settle("try-me-3");
}

#[test]
fn only_a_finished_task_is_tried_anew() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Not yet", &[]);
    let live = env.live(&name, 2);
    let before = listing(&env.home()).len();
    let refused = env.run(&["retry", &name]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(refused.stderr.contains("longhaul resume"), "{}", refused.stderr);
    let mut below = env.command(&["retry", &name]);
    let below = done(&below.env("LONGHAUL_SESSION", &live.session).output().unwrap());
    assert_eq!(below.code, 8, "{}", below.stderr);
    assert!(below.stderr.contains("an agent session may only"), "{}", below.stderr);
    assert_eq!(listing(&env.home()).len(), before, "nothing was made");
    assert_eq!(env.run(&["retry", "nobody"]).code, 7);
}

#[test]
fn a_cancelled_one_starts_from_nothing_under_a_name_of_its_own() {
    let env = TestEnv::new();
    let name = env.submit("Give up", &["--once"]);
    env.settle(&name);
    env.ok(&["cancel", &name]);
    let taken = env.run(&["retry", &name, "--name", &name, "-d"]);
    assert_eq!((taken.code, taken.stdout.as_str()), (0, "give-up-2\n"), "a name means one task: {}", taken.stderr);
    env.ok(&["cancel", "give-up-2"]);
    let bad = env.run(&["retry", &name, "--name", "../up", "-d"]);
    assert_eq!(bad.code, 2, "{}", bad.stderr);
    let json = env.ok(&["retry", &name, "--name", "anew", "-d", "--json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["data"]["name"], "anew");
    assert_eq!(env.settle("anew"), "paused", "`--once` was asked for then");
    assert!(env.task("anew")["tally"]["sessions"].as_u64().unwrap() == 1);
}

#[test]
fn an_input_that_is_gone_is_told_before_anything_is_made() {
    let env = TestEnv::new();
    std::fs::write(env.workspace().join("in.txt"), "one").unwrap();
    assert_eq!(env.run(&["run", "Needs it", "--input", "in.txt"]).code, 0);
    std::fs::remove_file(env.workspace().join("in.txt")).unwrap();
    let gone = env.run(&["retry", "needs-it"]);
    assert_eq!(gone.code, 2, "{}", gone.stderr);
    assert!(gone.stderr.contains("in.txt"), "{}", gone.stderr);
    assert_eq!(env.json(&["list"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn a_long_name_gets_the_next_number() {
    let env = TestEnv::new();
    env.make_repository();
    let name = "a-name-that-is-longer-than-any-that-is-generated";
    assert_eq!(env.run(&["run", "Long", "--name", name]).code, 0);
    for expected in [format!("{name}-2"), format!("{name}-3")] {
        assert_eq!(env.ok(&["retry", name, "-d"]).trim(), expected);
        assert_eq!(env.settle(&expected), "done");
    }
}
