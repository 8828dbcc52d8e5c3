//! Commands that print, fail, are silent, print too much or leave a child behind, as shell scripts.
//! Each program here is a shell script of the test; the deadline is short, and only bounds a failure.

use std::time::Instant;

use serde_json::{Value, json};

use super::*;
use longhaul_keeper::process::exits_within;

/// Long enough for every script here, and far shorter than what a stuck one sleeps.
const WHILE: Duration = Duration::from_secs(30);

fn spec(changes: &Value) -> Spec {
    let mut value = json!({
        "version": 2, "session": "0190c5a4-7d4e-7c3a-8f00-0123456789ab", "task": "t", "epoch": 1, "argv": ["sh"], "cwd": "/",
        "env_unset": [], "env_set": {}, "env_pass": null, "secret_names": [], "marking": "always", "no_input": false,
        "stop": [], "silence_ms": null, "spare_busy": false, "wall_ms": null, "drain_ms": 2000, "caps": longhaul_keeper::Caps::default(),
    });
    for (key, change) in changes.as_object().into_iter().flatten() {
        value[key] = change.clone();
    }
    serde_json::from_value(value).unwrap()
}

fn run(script: &str, deadline: Duration) -> Option<Vec<u8>> {
    run_in(&json!({}), script, deadline)
}

/// What was printed; a command never tells that there is nothing.
fn run_in(changes: &Value, script: &str, deadline: Duration) -> Option<Vec<u8>> {
    match from_command("sh", &["-c".into(), script.into()], &spec(changes), &Environment::of_process(), deadline) {
        Conversation::Bytes { bytes, whole: true } => Some(bytes),
        Conversation::Unknown => None,
        Conversation::Bytes { .. } | Conversation::Nothing => panic!("a part, or nothing"),
    }
}

#[test]
fn only_a_command_that_succeeds_and_prints_has_said_something() {
    assert_eq!(run("echo '{}'", WHILE).unwrap(), b"{}\n");
    assert_eq!(run("echo '{}'; exit 1", WHILE), None);
    assert_eq!(run("kill -9 $$", WHILE), None);
    assert_eq!(run("true", WHILE), None);
    assert!(matches!(
        from_command("no-such-program-here", &[], &spec(&json!({})), &Environment::of_process(), WHILE),
        Conversation::Unknown
    ));
}

#[test]
fn a_child_that_holds_the_output_is_not_waited_for_and_ended() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let began = Instant::now();
    let script = format!("sleep 300 & echo $! > '{}'; echo '{{}}'", file.display());
    assert_eq!(run(&script, WHILE).unwrap(), b"{}\n");
    assert!(began.elapsed() < WHILE);
    assert!(
        exits_within(std::fs::read_to_string(file).unwrap().trim().parse().unwrap(), WHILE).unwrap(),
        "the child lives on"
    );
}

#[test]
fn the_deadline_holds_for_a_command_that_closes_its_output_prints_for_ever_or_says_nothing() {
    for script in ["exec sleep 300", "echo '{}'; exec sleep 300 >&-", "while :; do echo '{}'; done"] {
        let began = Instant::now();
        assert_eq!(run(script, Duration::from_millis(300)), None, "{script}");
        assert!(began.elapsed() < WHILE, "{script}");
    }
}

#[test]
fn more_than_can_be_kept_is_drained_and_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("drained");
    let print = |bytes: usize| format!("head -c {bytes} /dev/zero && echo > '{}'", file.display());
    assert_eq!(run(&print(70 << 20), WHILE), None);
    assert!(file.exists(), "it could print to its end");
    assert_eq!(run(&print(CAP), WHILE).map(|bytes| bytes.len()), Some(CAP), "the control");
}

#[test]
fn the_command_gets_what_its_session_had() {
    let pairs = [("PATH", "/bin"), ("KEY", "k"), ("LONGHAUL_HOME", "/h"), ("A", "a")];
    let names = |changes: Value| {
        let own = pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        let spec = spec(&changes);
        let names: Vec<_> = environment(&spec, &own).map(|(name, _)| name.into_string().unwrap()).collect();
        names
    };
    assert_eq!(names(json!({})), ["A", "KEY", "PATH"]);
    assert_eq!(names(json!({ "env_pass": ["PATH", "LONGHAUL_HOME"] })), ["PATH"]);
    assert_eq!(names(json!({ "env_unset": ["KEY"], "env_set": { "B": "b" } })), ["A", "PATH", "B"]);
    let printed = run_in(&json!({ "env_pass": ["PATH"], "env_set": { "B": "b" } }), "echo \"$B${HOME-none}\"", WHILE);
    assert_eq!(printed.unwrap(), b"bnone\n");
}
