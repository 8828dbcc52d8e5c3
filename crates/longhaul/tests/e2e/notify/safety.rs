//! What nobody but the person may choose: agents, strangers' projects and secrets on the command line.

use super::{ends, occasions, telling};
use crate::env::done;

#[test]
fn a_child_task_tells_whom_its_parent_tells() {
    let mut env = telling();
    env.set("DEMO_FAULT", "hang@2");
    env.make_repository();
    let parent = env.submit("Parent", &[]);
    let live = env.live(&parent, 2);
    let evil = env.path().join("evil");
    let hook = format!("touch\n{}", evil.display());
    let mut below = env.command(&["run", "A child"]);
    below.env("LONGHAUL_SESSION", &live.session).env("LONGHAUL_NOTIFY_COMMAND", hook);
    let run = done(&below.output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(env.settle("a-child"), "done");
    assert_eq!(ends(&env, "a-child"), [("command".into(), "delivered".into())]);
    assert_eq!(env.task("a-child")["submission"]["notify"], env.task(&parent)["submission"]["notify"]);
    assert_eq!((evil.exists(), occasions(&env)), (false, vec!["done".to_owned()]), "an agent's program is not run");
}

#[test]
fn a_strangers_project_tells_nobody() {
    let mut env = telling();
    env.unset("LONGHAUL_NOTIFY_COMMAND");
    env.put("longhaul.toml", "notify.command = [\"tell\", \"--loud\"]\n");
    let run = |name: &str| {
        let run = env.run(&["run", "Do it", "--name", name]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        (run.stderr.contains("notify.command"), env.task(name)["submission"].get("notify").is_some())
    };
    assert_eq!(run("untrusted"), (true, false));
    env.ok(&["trust", "."]);
    assert_eq!(run("trusted"), (false, true), "the control");
    assert_eq!(ends(&env, "trusted"), [("command".into(), "delivered".into())]);
}

#[test]
fn a_secret_in_a_target_is_refused() {
    let mut env = telling().var("MY_TOKEN", "plain-looking-4711");
    env.set("LONGHAUL_NOTIFY_WEBHOOK", "https://a.example/plain-looking-4711");
    let refused = env.run(&["run", "-d", "Do it"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("notification") && refused.stderr.contains("secret value"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("plain-looking-4711"), "{}", refused.stderr);
}
