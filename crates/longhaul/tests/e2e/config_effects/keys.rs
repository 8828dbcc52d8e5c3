//! What each key does to a real task, set through its variable as a user would set it for one shell.

use std::process::Command;

use serde_json::{Value, json};

use crate::env::{PASSED, TestEnv};
use crate::rounds::one_step;

/// Runs a task to its rest in a world with these variables.
pub(super) fn run(variables: &[(&str, &str)], more: &[&str]) -> (TestEnv, i32) {
    let mut env = one_step().var("LONGHAUL_LIMITS_BACKOFF", "10ms");
    for (name, value) in variables {
        env.set(name, value);
    }
    let code = env.run(&[&["run", "Do it", "--name", "t"], more].concat()).code;
    (env, code)
}

fn stopped_by(env: &TestEnv) -> Value {
    env.task("t")["state"]["reached"]["limit"].clone()
}

/// How long the first wait of this kind was to be, in microseconds.
fn first_wait(env: &TestEnv, why: &str) -> i64 {
    let events = env.events("t");
    let found = events.iter().find(|event| event["event"]["kind"] == "wait_started" && event["event"]["why"] == why);
    let found = found.unwrap_or_else(|| panic!("no wait for {why}"));
    found["event"]["until"].as_i64().unwrap() - found["at_us"].as_i64().unwrap()
}

#[test]
pub(super) fn verify_commands() {
    let (env, code) = run(&[("LONGHAUL_VERIFY_COMMANDS", "echo one\necho two")], &["--check", "echo three"]);
    let commands: Vec<Value> = env.evidence("t").iter().map(|evidence| evidence["command"].clone()).collect();
    assert_eq!((code, commands), (PASSED, vec![json!("echo one"), json!("echo two"), json!("echo three")]));
}

#[test]
pub(super) fn verify_fix_attempts() {
    let (env, code) = run(&[("LONGHAUL_VERIFY_FIX_ATTEMPTS", "1"), ("DEMO_FAULT", "no-fix")], &["--check", "false"]);
    assert_eq!((code, env.purposes("t")[2..].join(" ")), (3, "check fix check".to_owned()));
}

#[test]
pub(super) fn limits_max_sessions() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_MAX_SESSIONS", "1")], &[]);
    assert_eq!((code, stopped_by(&env), env.sessions("t").len()), (6, json!("sessions"), 1));
}

#[test]
pub(super) fn limits_max_time() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_MAX_TIME", "1s"), ("DEMO_FAULT", "hang@1")], &[]);
    assert_eq!((code, stopped_by(&env)), (6, json!("time")));
}

#[test]
pub(super) fn limits_max_tokens() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_MAX_TOKENS", "9000"), ("DEMO_FAULT", "tokens:9999,hang@1")], &[]);
    assert_eq!((code, stopped_by(&env)), (6, json!("tokens")));
}

#[test]
pub(super) fn limits_max_cost() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_MAX_COST", "0.50"), ("DEMO_FAULT", "cost:500000,hang@1")], &[]);
    assert_eq!((code, stopped_by(&env)), (6, json!("cost")));
}

#[test]
pub(super) fn limits_idle_sessions() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_IDLE_SESSIONS", "2"), ("DEMO_FAULT", "lie")], &[]);
    let reason = env.task("t")["state"]["reason"].clone();
    assert_eq!((code, reason), (5, json!({ "no_progress": { "sessions": 2 } })));
}

#[test]
pub(super) fn limits_attempts() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_ATTEMPTS", "2"), ("DEMO_FAULT", "exit:3")], &[]);
    let sessions = env.task("t")["state"]["reason"]["keeps_failing"]["sessions"].clone();
    assert_eq!((code, sessions), (5, json!(2)));
}

#[test]
pub(super) fn limits_session_wall() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_SESSION_WALL", "1s"), ("DEMO_FAULT", "hang@1")], &[]);
    assert_eq!((code, &env.sessions("t")[0]["ended"]["stopped_by"]), (0, &json!("wall")));
}

#[test]
pub(super) fn limits_session_silence() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_SESSION_SILENCE", "1s"), ("DEMO_FAULT", "hang@1")], &[]);
    assert_eq!((code, &env.sessions("t")[0]["ended"]["stopped_by"]), (0, &json!("silence")));
}

#[test]
pub(super) fn limits_spare_busy() {
    let stopped_by = |spares: &str| {
        let variables = [
            ("LONGHAUL_LIMITS_SPARE_BUSY", spares),
            ("LONGHAUL_LIMITS_SESSION_SILENCE", "500ms"),
            ("LONGHAUL_LIMITS_SESSION_WALL", "3s"),
            ("DEMO_FAULT", "busy@1"),
        ];
        let (env, code) = run(&variables, &[]);
        assert_eq!(code, 0);
        env.sessions("t")[0]["ended"]["stopped_by"].clone()
    };
    assert_eq!(stopped_by("true"), json!("wall"));
    assert_eq!(stopped_by("false"), json!("silence"));
}

#[test]
pub(super) fn limits_backoff() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_BACKOFF", "1700ms"), ("DEMO_FAULT", "exit:3@1")], &[]);
    assert_eq!((code, first_wait(&env, "backoff")), (0, 1_700_000));
}

#[test]
pub(super) fn limits_backoff_cap() {
    let variables =
        [("LONGHAUL_LIMITS_BACKOFF", "50m"), ("LONGHAUL_LIMITS_BACKOFF_CAP", "150ms"), ("DEMO_FAULT", "exit:3@1")];
    let (env, code) = run(&variables, &[]);
    assert_eq!((code, first_wait(&env, "backoff")), (0, 150_000));
}

#[test]
pub(super) fn session_delay() {
    let (env, code) = run(&[("LONGHAUL_SESSION_DELAY", "1200ms")], &[]);
    assert_eq!((code, first_wait(&env, "delay")), (0, 1_200_000));
}

#[test]
pub(super) fn env_need() {
    let mut env = one_step().var("LONGHAUL_ENV_NEED", "MY_THING,MY_OTHER").var("MY_THING", "here");
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--once"]).code, 5);
    assert_eq!(env.task("t")["submission"]["needs_env"], json!(["MY_THING"]), "the other one was not set");
    env.unset("MY_THING");
    env.ok(&["resume", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, 5);
    assert_eq!(env.task("t")["state"]["cause"], json!({ "variable": { "name": "MY_THING" } }));
    env.set("MY_THING", "here again");
    env.ok(&["resume", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, 0);
}

#[test]
pub(super) fn env_only() {
    let seen = |variables: &[(&str, &str)]| {
        let all = [&[("FOO_A", "kept"), ("FOO_B", "left out")], variables].concat();
        let (env, code) = run(&all, &["--check", "env > seen-by-check"]);
        assert_eq!(code, PASSED);
        std::fs::read_to_string(env.workspace().join("seen-by-check")).unwrap()
    };
    let (open, strict) = (seen(&[]), seen(&[("LONGHAUL_ENV_ONLY", "PATH,FOO_A,DEMO_STEPS")]));
    assert!(open.contains("FOO_A=kept") && open.contains("FOO_B=left out"), "the control: {open}");
    assert!(strict.contains("FOO_A=kept") && !strict.contains("FOO_B"), "{strict}");
}

#[test]
pub(super) fn workspace_in_place() {
    let root = |value: &str| {
        let env = one_step().var("LONGHAUL_WORKSPACE_IN_PLACE", value);
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]);
            assert!(command.args(args).current_dir(env.workspace()).status().unwrap().success());
        };
        git(&["init", "-q"]);
        git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
        let done = env.run(&["run", "Do it", "--name", "t", "--check", "true"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let own = env.workspace().canonicalize().unwrap();
        env.task("t")["workspace"]["root"] == json!(own.to_str().unwrap())
    };
    assert_eq!((root("true"), root("false")), (true, false));
}
