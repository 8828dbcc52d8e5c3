//! What a person gets who configured nothing: the terminal's bell, the desktop where there is one, a hint, and `notify test`.

use super::{desk, ends, notices, told_in};
use crate::env::TestEnv;
use crate::rounds::one_step;
use crate::screen::Terminal;

/// A world of somebody who configured nothing about notifications.
fn unconfigured(mut env: TestEnv) -> TestEnv {
    env.unset("LONGHAUL_NOTIFY_DESKTOP");
    env.unset("LONGHAUL_NOTIFY_TERMINAL");
    env.var("DBUS_SESSION_BUS_ADDRESS", "").var("XDG_RUNTIME_DIR", "")
}

#[test]
pub(super) fn a_terminal_rings_at_the_end_unless_it_is_not_to() {
    let mut env = unconfigured(one_step());
    let rings = |env: &TestEnv, args: &[&str]| {
        let (_, shown) = Terminal::run(env, args).finish();
        assert_eq!(shown.contains('\u{7}'), shown.contains("\u{1b}]9;"), "{shown:?}");
        shown.matches('\u{7}').count()
    };
    let (_, shown) = Terminal::run(&env, &["run", "Do it", "--name", "a"]).finish();
    assert!(shown.contains("\u{1b}]9;a: done, unverified: no checks\u{1b}\\\u{7}"), "{shown:?}");
    assert_eq!(rings(&env, &["wait", "a"]), 1);
    assert!(!env.run(&["wait", "a"]).stderr.contains('\u{7}'), "in a pipe nobody hears it");
    env.set("LONGHAUL_NOTIFY_TERMINAL", "false");
    assert_eq!(rings(&env, &["run", "Do it", "--name", "c"]), 0);
    let limited = unconfigured(one_step().var("DEMO_FAULT", "limit:+2500@1"));
    assert_eq!(rings(&limited, &["run", "Do it", "--name", "b"]), 2, "once for the limit, once at the end");
}

#[test]
fn a_desktop_with_a_bus_is_notified_without_being_asked() {
    let mut env = unconfigured(desk());
    assert_eq!(env.run(&["run", "Do it", "--name", "a"]).code, 0);
    assert!(notices(&env, "a").is_empty(), "without a bus there is no desktop");
    env.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    assert_eq!(env.run(&["run", "Do it", "--name", "b"]).code, 0);
    assert_eq!(ends(&env, "b"), [("desktop".to_owned(), "delivered".to_owned())]);
    env.set("LONGHAUL_NOTIFY_DESKTOP", "false");
    assert_eq!(env.run(&["run", "Do it", "--name", "c"]).code, 0);
    assert!(notices(&env, "c").is_empty());
}

#[test]
fn a_task_in_the_background_without_notifications_is_hinted_at_once_per_home() {
    let mut env = unconfigured(one_step());
    let hint = "nothing notifies you";
    assert!(!env.run(&["run", "-d", "Do it", "--name", "a"]).stderr.contains(hint), "a script needs no hint");
    let shown = |env: &TestEnv, name: &str| Terminal::run(env, &["run", "-d", "Do it", "--name", name]).finish().1;
    assert!(shown(&env, "b").contains(hint));
    assert!(!shown(&env, "c").contains(hint));
    env = unconfigured(one_step()).var("LONGHAUL_NOTIFY_FILE", "/tmp/{task}");
    assert!(!shown(&env, "d").contains(hint));
}

#[test]
fn a_test_message_reaches_every_target_and_failures_have_reasons() {
    let env = desk().var("LONGHAUL_NOTIFY_COMMAND", "tell\n--loud").var("LONGHAUL_NOTIFY_DESKTOP", "true");
    let sent = env.ok(&["notify", "test"]);
    assert_eq!(sent.lines().filter(|line| line.starts_with("✓ ")).count(), 2, "{sent}");
    assert!(told_in(&env).join("notify-send").is_file());
    let env = env.var("LONGHAUL_NOTIFY_FILE", "/nowhere/at/all");
    let failed = env.run(&["notify", "test"]);
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    assert!(failed.stdout.contains("✗ ") && failed.stdout.contains("/nowhere/at/all"), "{}", failed.stdout);
    let facts: serde_json::Value = serde_json::from_str(&env.run(&["notify", "test", "--json"]).stdout).unwrap();
    assert_eq!(facts["data"]["targets"].as_array().unwrap().len(), 3);
    let none = unconfigured(one_step()).run(&["notify", "test"]);
    assert_eq!((none.code, none.stdout.as_str()), (1, ""));
    assert!(
        none.stderr.contains("no notifications are configured") && none.stderr.contains("[notify]"),
        "{}",
        none.stderr
    );
}
