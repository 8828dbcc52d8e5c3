//! The view in tmux, with the real tmux and with a stand-in that is strict about its arguments. It only shows, and nothing depends on it.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::env::{TestEnv, wait_for};
use crate::sight::alive;

fn world() -> TestEnv {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    own_server(&mut env);
    env
}

/// Gives a world a tmux server of its own.
pub(crate) fn own_server(env: &mut TestEnv) {
    let place = env.path().join("tmux");
    std::fs::create_dir(&place).unwrap();
    env.set("TMUX_TMPDIR", &place.display().to_string());
    env.set("TERM", "xterm");
    // Whoever runs the tests in tmux has a server already.
    env.set("TMUX", "");
    // A person sits there: gemini shows no interface on a machine for builds.
    env.set("CI", "false");
}

pub(crate) fn tmux(env: &TestEnv, args: &[&str]) -> Option<String> {
    let output =
        Command::new("tmux").args(args).env("TMUX_TMPDIR", env.path().join("tmux")).env_remove("TMUX").output();
    let output = output.expect("tmux is installed by `cargo xtask test`");
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

pub(crate) fn screen(env: &TestEnv, session: &str) -> String {
    tmux(env, &["capture-pane", "-p", "-t", session]).unwrap_or_default()
}

fn shows(env: &TestEnv, session: &str, part: &str) {
    wait_for(&format!("`{part}` in tmux"), || screen(env, session).contains(part).then_some(()));
}

/// Puts a program in place of tmux, before everything else on PATH.
fn stand_in(env: TestEnv, script: &str) -> TestEnv {
    let bin = env.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let file = bin.join("tmux");
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    env.var("PATH", &path)
}

#[test]
fn run_opens_a_view_that_can_be_killed() {
    let env = world();
    let run = env.run(&["run", "Show it", "--agent", "demo", "--name", "show.it", "--tmux"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, "tmux attach -t demo-show-it\n");
    let live = env.live("show.it", 2);
    shows(&env, "demo-show-it", "read-only (d to close)");
    shows(&env, "demo-show-it", "(demo, session 2)");
    tmux(&env, &["kill-session", "-t", "demo-show-it"]).unwrap();
    assert!(alive(live.agent));
    assert_eq!(env.state("show.it"), "working");
    tmux(&env, &["kill-server"]);
}

#[test]
fn keys_in_the_view_do_not_reach_the_task() {
    let env = world();
    let name = env.submit("Only look", &["--agent", "demo"]);
    let live = env.live(&name, 2);
    let view = |expected: &str| {
        assert_eq!(env.ok(&["attach", &name, "--tmux"]), format!("tmux attach -t {expected}\n"));
        shows(&env, expected, "(demo, session 2)");
    };
    view("demo-only-look");
    view("demo-only-look");
    let sessions = tmux(&env, &["list-sessions", "-F", "#{session_name}"]).unwrap();
    assert_eq!(sessions, "demo-only-look\n", "one view of a task is enough");
    let events = env.events(&name).len();
    tmux(&env, &["send-keys", "-t", "demo-only-look", "x", "p", "t", "Enter"]).unwrap();
    tmux(&env, &["send-keys", "-t", "demo-only-look", "C-c"]).unwrap();
    wait_for("the view to leave", || tmux(&env, &["has-session", "-t", "=demo-only-look"]).is_none().then_some(()));
    assert!(alive(live.agent));
    assert_eq!((env.state(&name).as_str(), env.events(&name).len()), ("working", events));
    // It stays over a pause and at the end, until somebody has seen the result.
    view("demo-only-look");
    env.ok(&["pause", &name]);
    shows(&env, "demo-only-look", "paused");
    env.ok(&["cancel", &name]);
    shows(&env, "demo-only-look", "only-look: cancelled");
    shows(&env, "demo-only-look", "press any key to close this view");
    tmux(&env, &["send-keys", "-t", "demo-only-look", "x"]).unwrap();
    wait_for("the view to end", || tmux(&env, &["has-session", "-t", "=demo-only-look"]).is_none().then_some(()));
    tmux(&env, &["kill-server"]);
}

#[test]
fn without_tmux_the_task_runs_anyway() {
    let mut env = TestEnv::new();
    // Everything of the system but tmux.
    let bin = env.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    env.set("PATH", &bin.display().to_string());
    let run = env.run(&["run", "No tmux", "--agent", "demo", "--in-place", "--tmux"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("tmux is not on PATH") && run.stderr.contains("longhaul attach no-tmux"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stdout, "");
    assert_eq!(env.settle("no-tmux"), "done");
}

#[test]
fn a_tmux_that_fails_is_told_and_harms_nothing() {
    let env = stand_in(TestEnv::new(), "#!/bin/sh\nexit 1\n");
    let run = env.run(&["run", "Broken", "--agent", "demo", "--tmux"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("tmux did not create the session"), "{}", run.stderr);
    assert_eq!(env.settle("broken"), "done");
}

#[test]
fn tmux_is_asked_for_exactly_this() {
    let script = "#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done >>\"$RECORD\"; echo >>\"$RECORD\"\n\
                  case $1 in has-session) [ \"$3\" = =demo-exactly ] ;; esac\n";
    let env = TestEnv::new();
    let record = env.path().join("record").display().to_string();
    let env = stand_in(env.var("RECORD", &record), script);
    let name = env.submit("Exactly", &["--agent", "demo", "--once"]);
    assert_eq!(env.settle(&name), "paused");
    assert_eq!(env.ok(&["attach", &name, "--tmux"]), "tmux attach -t demo-exactly-2\n", "the first name is taken");
    let task = env.task(&name);
    let (id, home) = (task["id"].as_str().unwrap(), env.home().display().to_string());
    let place = env.workspace().canonicalize().unwrap().display().to_string();
    let own = std::fs::canonicalize(env!("CARGO_BIN_EXE_longhaul")).unwrap().display().to_string();
    let asked = std::fs::read_to_string(&record).unwrap();
    let calls: Vec<Vec<&str>> =
        asked.split("\n\n").filter(|call| !call.is_empty()).map(|call| call.lines().collect()).collect();
    let home = format!("LONGHAUL_HOME={home}");
    let made: &[&str] =
        &["new-session", "-d", "-s", "demo-exactly-2", "-c", &place, "env", &home, &own, "attach", id, "--read-only"];
    let marked = ["--keep-open", ";", "set-option", "-t", "=demo-exactly-2:", "@longhaul_task", id];
    let asked_first = ["show-options", "-qv", "-t", "=demo-exactly:", "@longhaul_task"];
    let [taken, free] = ["=demo-exactly", "=demo-exactly-2"].map(|name| ["has-session", "-t", name]);
    assert_eq!(calls, [&taken[..], &asked_first, &free, &[made, &marked[..]].concat()]);
}

/// Inside tmux, `tmux attach` is refused.
#[test]
fn inside_tmux_the_client_is_switched() {
    let mut env = world();
    let name = env.submit("Look inside", &["--agent", "demo"]);
    env.live(&name, 2);
    assert_eq!(env.ok(&["attach", &name, "--tmux"]), "tmux attach -t demo-look-inside\n");
    let socket = tmux(&env, &["display-message", "-p", "-t", "demo-look-inside", "#{socket_path},#{pid},0"]).unwrap();
    env.set("TMUX", socket.trim());
    assert_eq!(env.ok(&["attach", &name, "--tmux"]), "tmux switch-client -t demo-look-inside\n");
    env.set("TMUX", "");
    tmux(&env, &["kill-server"]);
}

#[test]
fn a_finished_task_needs_no_view() {
    let env = stand_in(TestEnv::new(), "#!/bin/sh\nexit 7\n");
    assert_eq!(env.run(&["run", "Over", "--agent", "demo"]).code, 0);
    let done = env.run(&["attach", "over", "--tmux"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("over: done, unverified"), "{}", done.stderr);
}
