//! The line that `run` says about how long sessions take: unknown at first, then from what has ended, here before elsewhere.

use crate::env::{TestEnv, done};

#[test]
fn the_usual_span_is_unknown_then_told_here_before_elsewhere() {
    let env = TestEnv::new();
    let said = |args: &[&str]| env.run(&[&["run", "-d", "Do it"], args].concat()).stderr;
    let first = said(&["--name", "a"]);
    assert!(first.contains("typical demo session: unknown"), "{first}");
    assert_eq!(env.settle("a"), "done");
    let sessions = env.json(&["show", "a"])["sessions"].as_array().unwrap().len();
    let second = said(&["--name", "b"]);
    assert!(second.contains("typical demo session in this project: "), "{second}");
    assert!(second.contains(&format!("(median of {sessions})")), "{sessions}: {second}");
    let elsewhere = env.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let third = done(&env.command(&["run", "-d", "Do it"]).current_dir(&elsewhere).output().unwrap()).stderr;
    assert!(third.contains("typical demo session in other projects: "), "{third}");
    let other = said(&["--name", "c", "--agent", "codex", "--no-preflight"]);
    assert!(other.contains("typical codex session: unknown"), "what another agent took says nothing: {other}");
    assert_eq!(env.settle("b"), "done");
}

#[test]
fn of_a_long_history_the_newest_sessions_count() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang@1");
    let long = env.submit("Long", &["--name", "long"]);
    env.live(&long, 1);
    env.ok(&["pause", &long, "--now"]);
    // More than are read of one task, before any session has come to its own end.
    for _ in 0..205 {
        env.ok(&["tell", &long, "a word"]);
    }
    env.unset("DEMO_FAULT");
    env.ok(&["resume", &long]);
    assert_eq!(env.settle(&long), "done");
    let said = env.run(&["run", "-d", "Do it"]).stderr;
    assert!(said.contains("typical demo session in this project: "), "{said}");
}
