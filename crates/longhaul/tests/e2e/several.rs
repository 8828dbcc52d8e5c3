//! One verb for several tasks: all names are looked up first, each task has its own outcome, and the exit code is that of the worst.

use serde_json::Value;

use crate::env::{TestEnv, wait_for};
use crate::screen::Terminal;
use crate::sight::finish;

/// Tasks that wait for their hours, each in a worktree.
fn waiting(names: &[&str]) -> TestEnv {
    let env = TestEnv::new();
    env.make_repository();
    for name in names {
        env.submit("Do it", &["--name", name, "--hours", "00:00-00:01"]);
    }
    names.iter().for_each(|name| is_waiting(&env, name));
    env
}

fn is_waiting(env: &TestEnv, name: &str) {
    wait_for("the wait for its hours", || (env.state(name) == "waiting").then_some(()));
}

#[track_caller]
fn states(env: &TestEnv, expected: &[(&str, &str)]) {
    let found: Vec<(&str, String)> = expected.iter().map(|(name, _)| (*name, env.state(name))).collect();
    let found: Vec<(&str, &str)> = found.iter().map(|(name, state)| (*name, state.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn named_tasks_change_and_the_others_do_not() {
    let env = waiting(&["a", "b", "c"]);
    let done = env.run(&["pause", "a", "b", "a"]);
    let mut lines: Vec<&str> = done.stderr.lines().collect();
    lines.sort_unstable();
    assert_eq!((done.code, lines.as_slice()), (0, &["task a is paused", "task b is paused"][..]));
    states(&env, &[("a", "paused"), ("b", "paused"), ("c", "waiting")]);
    let json = env.ok(&["cancel", "a", "b", "--json"]);
    let mut names: Vec<String> = Vec::new();
    for line in json.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&document["kind"], &document["data"]["state"]), (&"task".into(), &"cancelled".into()));
        names.push(document["data"]["name"].as_str().unwrap().to_owned());
    }
    names.sort_unstable();
    assert_eq!(names, ["a", "b"], "one document per task");
}

#[test]
fn an_unknown_name_or_a_key_stops_the_command_before_anything_changes() {
    let env = waiting(&["a", "b"]);
    let slip = env.run(&["cancel", "a", "nobody"]);
    assert_eq!(slip.code, 7, "{}", slip.stderr);
    let keyed = env.run(&["cancel", "a", "b", "--key", "k"]);
    assert_eq!(keyed.code, 2, "{}", keyed.stderr);
    let both = env.run(&["cancel", "a", "--all"]);
    assert_eq!(both.code, 2, "{}", both.stderr);
    states(&env, &[("a", "waiting"), ("b", "waiting")]);
    env.ok(&["cancel", "a", "--key", "k"]);
    assert!(env.run(&["cancel", "a", "--key", "k"]).stderr.contains("already carried out"), "one task keeps its key");
}

#[test]
fn a_refused_task_does_not_keep_the_others_from_changing() {
    let env = waiting(&["a", "b", "c"]);
    env.ok(&["cancel", "b"]);
    let done = env.run(&["pause", "a", "b", "c"]);
    assert_eq!(done.code, 8, "{}", done.stderr);
    assert!(done.stderr.contains("error: b: cannot pause"), "{}", done.stderr);
    states(&env, &[("a", "paused"), ("b", "cancelled"), ("c", "paused")]);
}

#[test]
fn all_means_the_tasks_of_this_project_that_fit() {
    let env = waiting(&["a", "b"]);
    let elsewhere = env.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    env.submit("Do it", &["--name", "far", "--hours", "00:00-00:01", "--workspace", elsewhere.to_str().unwrap()]);
    assert_eq!(env.run(&["run", "Done", "--name", "done"]).code, 0);
    env.ok(&["pause", "--all"]);
    states(&env, &[("a", "paused"), ("b", "paused"), ("far", "waiting"), ("done", "done")]);
    assert!(env.run(&["pause", "--all"]).stderr.contains("no task to pause"));
    let waited = env.run(&["wait", "--all"]);
    assert_eq!((waited.code, waited.stdout.lines().count()), (5, 2), "both are paused: {}", waited.stdout);
    env.ok(&["resume", "--all"]);
    ["a", "b"].iter().for_each(|name| is_waiting(&env, name));
    env.ok(&["cancel", "--all"]);
    states(&env, &[("a", "cancelled"), ("b", "cancelled"), ("far", "waiting"), ("done", "done")]);
    assert_eq!(env.run(&["wait", "--any"]).code, 7, "nothing is left to wait for");
}

#[test]
fn on_a_terminal_cancel_all_asks_once() {
    let env = waiting(&["a", "b"]);
    for (answer, code, state) in [(&b"n\n"[..], 130, "waiting"), (b"y\n", 0, "cancelled")] {
        let mut terminal = Terminal::run(&env, &["cancel", "--all"]);
        terminal.shows("End for good: a, b? [y/N]");
        terminal.press(answer);
        let (found, shown) = terminal.finish();
        assert_eq!(found, code, "{shown}");
        states(&env, &[("a", state), ("b", state)]);
    }
}

#[test]
fn wait_returns_with_the_worst_of_all_or_with_the_first_of_any() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang");
    let stuck = env.submit("Hang", &[]);
    env.live(&stuck, 1);
    let quick = env.submit("Pause", &["--hours", "00:00-00:01"]);
    let any = env.start(&["wait", "--any", &stuck, &quick]);
    let all = env.start(&["wait", &stuck, &quick]);
    env.ok(&["cancel", &quick]);
    let any = finish(any);
    assert_eq!((any.code, any.stdout.starts_with(&format!("{quick} cancelled"))), (4, true), "{}", any.stdout);
    let late = env.run(&["wait", &stuck, &quick, "--timeout", "0"]);
    assert_eq!(late.code, 124, "{}", late.stderr);
    assert!(late.stderr.contains(&format!("error: {stuck}: the task is not finished")), "{}", late.stderr);
    env.ok(&["pause", &stuck]);
    let all = finish(all);
    assert_eq!((all.code, all.stdout.lines().count()), (4, 2), "cancelled is worse than paused: {}", all.stdout);
}

#[test]
fn on_a_terminal_resume_follows_and_elsewhere_it_returns() {
    let env = TestEnv::new();
    let name = env.submit("Follow me", &["--once"]);
    assert_eq!(env.settle(&name), "paused");
    let (code, shown) = Terminal::run(&env, &["resume", &name, "--once"]).finish();
    assert_eq!(code, 5, "{shown}");
    assert!(shown.contains("Ctrl+C pauses it, d detaches") && shown.contains("session 2"), "{shown}");
    assert!(!shown.contains("▶ plan"), "only what comes after it: {shown}");
    let (code, shown) = Terminal::run(&env, &["resume", "-d", &name, "--hours", "00:00-00:01"]).finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(&format!("follow it with `longhaul attach {name}`")), "{shown}");
    env.ok(&["pause", &name]);
    let done = env.run(&["resume", &name, "--hours", "none"]);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
    assert_eq!(env.settle(&name), "done");
}
