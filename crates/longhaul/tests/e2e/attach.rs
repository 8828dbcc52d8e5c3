//! `longhaul attach`: the same viewer as `run`, joined later.

use nix::sys::signal::Signal;

use crate::env::{PASSED, TestEnv, wait_for};
use crate::screen::Terminal;
use crate::sight::{alive, finish, send};

#[test]
fn a_detached_task_is_followed_to_its_end() {
    let env = TestEnv::new().var("DEMO_PACE_MS", "100");
    let name = env.submit("Join me", &["--check", "echo from the check"]);
    let attached = env.run(&["attach", "-v", &name]);
    assert_eq!(attached.code, PASSED, "{}", attached.stderr);
    assert_eq!(attached.stdout, "", "progress is no data");
    for part in ["[tick] Task 4", "$ echo from the check", "from the check", "done, checks passed"] {
        assert!(attached.stderr.contains(part), "`{part}` is missing in\n{}", attached.stderr);
    }
}

#[test]
fn it_begins_with_the_live_session() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@3");
    let name = env.submit("Late", &[]);
    let live = env.live(&name, 3);
    let mut terminal = Terminal::run(&env, &["attach", &name]);
    terminal.shows("(demo, session 3)");
    terminal.press(b"d");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("earlier events") && shown.contains("detached; the task keeps running"), "{shown}");
    assert!(!shown.contains("demo, session 1"), "{shown}");
    assert!(alive(live.agent));
}

#[test]
fn ctrl_c_pauses() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Pause me", &[]);
    env.live(&name, 2);
    let attached = env.start(&["attach"]);
    wait_for("the viewer to listen", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", attached.id())).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        (u64::from_str_radix(caught.trim(), 16).ok()? & 2 != 0).then_some(())
    });
    send(i32::try_from(attached.id()).unwrap(), Signal::SIGINT);
    let attached = finish(attached);
    assert_eq!(attached.code, 130, "{}", attached.stderr);
    assert_eq!(env.state(&name), "paused");
    let again = env.run(&["attach", &name]);
    assert_eq!(again.code, 5, "paused already: {}", again.stderr);
    assert!(again.stderr.contains("longhaul resume pause-me"), "{}", again.stderr);
}

#[test]
fn a_finished_task_tells_how_it_ended() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Over"]).code, 0);
    let done = env.run(&["attach", "over"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("over: done, unverified"), "{}", done.stderr);
    let name = env.submit("Stop it", &["--once"]);
    env.settle(&name);
    env.ok(&["cancel", &name, "--reason", "enough"]);
    let cancelled = env.run(&["attach", &name]);
    assert_eq!(cancelled.code, 4, "{}", cancelled.stderr);
    assert!(cancelled.stderr.contains("enough"), "{}", cancelled.stderr);
    assert_eq!(env.run(&["attach", "nobody"]).code, 7);
}
