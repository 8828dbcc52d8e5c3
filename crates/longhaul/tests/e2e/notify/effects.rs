//! What each key of `notify` does to a real task: the tests that `config_effects.rs` lists. Without the key nothing of it happens.

use super::server::Server;
use super::{desk, ends, occasions, settled, told_in};
use crate::env::TestEnv;

/// The keys and the tests of their effects.
pub(crate) const EFFECTS: [(&str, fn()); 8] = [
    ("notify.on", super::occasions::only_the_wanted_occasions_are_told),
    ("notify.command", notify_command),
    ("notify.file", notify_file),
    ("notify.webhook", notify_webhook),
    ("notify.webhook_secret_env", notify_webhook_secret_env),
    ("notify.desktop", notify_desktop),
    ("notify.terminal", super::here::a_terminal_rings_at_the_end_unless_it_is_not_to),
    ("notify.timeout", super::trouble::a_hook_that_hangs_is_killed_with_what_it_started),
];

/// Runs a task to its end in a world with one more variable; its only notice is delivered.
fn run(mut env: TestEnv, key: &str, value: &str, channel: &str) -> TestEnv {
    env.set(key, value);
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
    assert_eq!(ends(&env, "t"), [(channel.to_owned(), "delivered".to_owned())]);
    env
}

#[test]
fn notify_command() {
    let env = run(desk(), "LONGHAUL_NOTIFY_COMMAND", "tell\n--loud", "command");
    assert_eq!(occasions(&env), ["done"]);
}

#[test]
fn notify_file() {
    let env = desk();
    let path = env.path().join("{name}-is-{occasion}").display().to_string();
    let env = run(env, "LONGHAUL_NOTIFY_FILE", &path, "file");
    assert!(env.path().join("t-is-done").is_file());
}

#[test]
fn notify_webhook() {
    let server = Server::answering(&[200]);
    run(desk(), "LONGHAUL_NOTIFY_WEBHOOK", &server.url(), "webhook");
    assert!(server.next().body.contains("\"occasion\":\"done\""));
}

#[test]
fn notify_webhook_secret_env() {
    let server = Server::answering(&[200]);
    let env = desk().var("LONGHAUL_NOTIFY_WEBHOOK", &server.url()).var("MY_HOOK", "a-key-of-some-length");
    let env = run(env, "LONGHAUL_NOTIFY_WEBHOOK_SECRET_ENV", "MY_HOOK", "webhook");
    assert!(server.next().is_signed_with("a-key-of-some-length"));
    assert_eq!(settled(&env, "t").len(), 1);
}

#[test]
fn notify_desktop() {
    let env = run(desk(), "LONGHAUL_NOTIFY_DESKTOP", "true", "desktop");
    assert!(told_in(&env).join("notify-send").is_file());
}
