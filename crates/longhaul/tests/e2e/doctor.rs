//! `doctor` says what is well and what is not, with a code for scripts, and its bundle gives nothing away.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::env::{Done, TestEnv, done, wait_for};
use crate::sight::{listing, send};

const SESSION: &str = "0190c5a4-7d4e-7c3a-8f00-000000000001";

/// What doctor says, and with which code.
fn examined(env: &TestEnv) -> (i32, Value) {
    let done = env.run(&["doctor", "--json"]);
    let document: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}", done.stdout));
    (done.code, document["data"].clone())
}

/// The verdict and the rest of one finding.
fn finding(found: &Value, subject: &str) -> (String, String) {
    let row = found["findings"].as_array().unwrap().iter().find(|row| row["subject"] == subject);
    let row = row.unwrap_or_else(|| panic!("no `{subject}` in {found}"));
    (row["verdict"].as_str().unwrap().to_owned(), format!("{} {}", row["facts"], row["advice"]))
}

#[track_caller]
fn expect(env: &TestEnv, subject: &str, verdict: &str, code: i32, text: &str) {
    let (found_code, found) = examined(env);
    let (found_verdict, rest) = finding(&found, subject);
    assert_eq!((found_verdict.as_str(), found_code), (verdict, code), "{subject}: {rest}");
    assert!(rest.contains(text), "{subject}: {rest}");
    assert_eq!(found["healthy"], code == 0);
}

fn random() -> String {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_new_machine_is_healthy_and_nothing_is_made() {
    let env = TestEnv::new();
    let before = listing(env.path());
    let (code, found) = examined(&env);
    assert_eq!(code, 0, "{found}");
    for subject in [
        "version",
        "home",
        "file system",
        "disk",
        "store",
        "config",
        "git",
        "agent",
        "awake",
        "memory",
        "containment",
        "trust",
        "logout",
        "clock",
        "terminal",
    ] {
        assert_ne!(finding(&found, subject).0, "problem", "{subject}");
    }
    assert_eq!(listing(env.path()), before);
    let shown = env.run(&["doctor"]);
    assert!(shown.code == 0 && shown.stdout.contains("version      longhaul "), "{}", shown.stdout);
}

#[test]
fn a_used_home_is_healthy_and_its_room_is_told() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Make a thing"]).code, 0);
    env.wait_until_empty();
    let (code, found) = examined(&env);
    assert_eq!(code, 0, "{found}");
    assert_eq!(finding(&found, "store").0, "ok");
    let (verdict, room) = finding(&found, "room");
    assert!(verdict == "ok" && room.contains("sessions") && !room.contains("sessions 0 B"), "{room}");
}

#[test]
fn each_trouble_is_found_and_has_its_weight() {
    let mut env = TestEnv::new();
    assert_eq!(env.run(&["run", "Make a thing"]).code, 0);
    env.wait_until_empty();
    env.set("LONGHAUL_FLOORS_DISK", "1024TiB");
    expect(&env, "disk", "problem", 1, "free some space");
    env.set("LONGHAUL_FLOORS_DISK", "0B");
    env.set("LONGHAUL_FLOORS_MEMORY", "1TiB");
    expect(&env, "memory", "problem", 1, "sessions start above");
    env.set("LONGHAUL_FLOORS_MEMORY", "0B");
    env.set("LONGHAUL_RETENTION_BYTES", "1B");
    expect(&env, "room", "warning", 0, "longhaul gc");
    env.unset("LONGHAUL_RETENTION_BYTES");
    env.set("LONGHAUL_SESSION_DELAY", "a while");
    expect(&env, "config", "problem", 1, "config show");
    env.set("LONGHAUL_SESSION_DELAY", "0s");
    fs::write(env.workspace().join("longhaul.toml"), "[verify]\ncommands = [\"make evil\"]\n").unwrap();
    expect(&env, "config", "warning", 0, "verify.commands");
    fs::remove_file(env.workspace().join("longhaul.toml")).unwrap();
    fs::set_permissions(env.home(), fs::Permissions::from_mode(0o755)).unwrap();
    expect(&env, "home", "warning", 0, "chmod 700");
    fs::set_permissions(env.home(), fs::Permissions::from_mode(0o700)).unwrap();
    expect(&env, "home", "ok", 0, "mode 700");
}

#[test]
fn git_is_found_missing_too_old_or_broken() {
    let mut env = TestEnv::new();
    let programs = env.path().join("bin");
    fs::create_dir(&programs).unwrap();
    env.set("PATH", programs.to_str().unwrap());
    expect(&env, "git", "warning", 0, "not found");
    let git = programs.join("git");
    for (script, verdict, code, text) in [
        ("#!/bin/sh\necho git version 2.30.9\n", "problem", 1, "2.31 or newer"),
        ("#!/bin/sh\necho git version 2.31.0\n", "ok", 0, "2.31.0"),
        ("#!/bin/sh\necho hello\n", "unknown", 0, "hello"),
        ("#!/bin/sh\nexit 3\n", "problem", 1, "does not run"),
    ] {
        fs::write(&git, script).unwrap();
        fs::set_permissions(&git, fs::Permissions::from_mode(0o700)).unwrap();
        expect(&env, "git", verdict, code, text);
    }
}

#[test]
fn a_damaged_store_is_a_problem_and_hides_nothing_else() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Make a thing"]).code, 0);
    env.wait_until_empty();
    let database = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    database.execute("UPDATE tasks SET steps = steps + 1", []).unwrap();
    drop(database);
    expect(&env, "store", "problem", 1, "store check");
    fs::write(env.home().join("longhaul.db"), "no database at all, but long enough to be looked at").unwrap();
    for log in ["longhaul.db-wal", "longhaul.db-shm"] {
        fs::remove_file(env.home().join(log)).ok();
    }
    expect(&env, "store", "problem", 1, "LONGHAUL_HOME");
    expect(&env, "git", "ok", 1, "git version");
}

#[test]
fn a_stopped_worker_a_stopped_agent_and_a_missing_worker_are_told() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@1");
    let task = env.submit("Hang", &[]);
    let (_, _, agent) = env.live_session(&task);
    let worker = env.owner(&task).unwrap();
    expect(&env, "workers", "ok", 0, "1 alive");
    expect(&env, "sessions", "ok", 0, "1 live");
    agent.signal(Signal::SIGSTOP);
    wait_for("the agent to stand still", || agent.is_stopped().then_some(()));
    expect(&env, "sessions", "warning", 0, "is stopped");
    agent.signal(Signal::SIGCONT);
    send(worker.pid, Signal::SIGSTOP);
    wait_for("the worker to stand still", || worker.is_stopped().then_some(()));
    expect(&env, "workers", "problem", 1, &worker.pid.to_string());
    worker.kill_9();
    env.wait_until_workers_are_dead();
    expect(&env, "workers", "warning", 0, "worker -d");
}

/// Makes a bundle and returns its text.
fn bundle(env: &TestEnv, more: &[&str]) -> String {
    let file = env.path().join(format!("bundle-{}.txt", more.len()));
    let made = env.run(&[&["doctor", "--bundle", file.to_str().unwrap()], more].concat());
    assert!(made.stderr.contains("read it before"), "{}", made.stderr);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    fs::read_to_string(file).unwrap()
}

#[test]
fn a_bundle_gives_no_secret_away() {
    let [key, plain, in_config, in_goal, in_url, in_hook] = std::array::from_fn(|_| random());
    let mut env = TestEnv::new()
        .var("MY_API_KEY", &key)
        .var("FAVOURITE_WORD", &plain)
        .var("DATABASE_URL", &format!("postgres://me:{in_url}@host/db"))
        .var("DEMO_FAULT", "hang@1");
    let config = env.path().join("config/longhaul");
    fs::create_dir_all(&config).unwrap();
    let commands = format!(
        "[verify]\ncommands = [\"curl -H 'X: {in_config}' https://example.org\"]\n[notify]\nwebhook = \"https://hook.example/{in_hook}\"\n"
    );
    fs::write(config.join("config.toml"), commands).unwrap();
    let task = env.submit(&format!("Zanzibar {in_goal} and {key}"), &[]);
    env.live_session(&task);
    let log = format!("longhaul worker: harmless words\nlonghaul worker: {key} {plain} {in_url}\n");
    let path = env.home().join("worker.log");
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(&path, before + &log).unwrap();
    let text = bundle(&env, &[]);
    let secrets = [("env", &key), ("env", &plain), ("config", &in_config), ("goal", &in_goal), ("url", &in_url)];
    for (what, secret) in secrets.into_iter().chain([("webhook", &in_hook)]) {
        assert!(!text.contains(secret.as_str()), "the secret of {what} is in\n{text}");
    }
    assert!(!text.contains(&task), "its name comes from its goal:\n{text}");
    let id = env.task(&task)["id"].as_str().unwrap().to_owned();
    for part in [
        "harmless words",
        "[redacted:MY_API_KEY]",
        &id,
        "session_started",
        "limits.max_time",
        "ok       version",
        "webhook `https://hook.example`",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let told = bundle(&env, &["--with-goals"]);
    assert!(told.contains(&in_goal), "the control: what was asked for is found");
    assert!(!told.contains(&key) && !told.contains(&in_config), "{told}");
    env.set("LONGHAUL_SESSION_DELAY", &in_config);
    let file = env.path().join("bad.txt");
    let bad = env.run(&["doctor", "--bundle", file.to_str().unwrap()]);
    assert_eq!(bad.code, 1, "the configuration cannot be used");
    assert!(!fs::read_to_string(file).unwrap().contains(&in_config), "a wrong value is not repeated");
}

#[test]
fn a_bundle_overwrites_nothing_and_needs_a_person() {
    let env = TestEnv::new();
    let file = env.path().join("mine.txt");
    fs::write(&file, "mine").unwrap();
    let refused = env.run(&["doctor", "--bundle", file.to_str().unwrap()]);
    assert_eq!((refused.code, fs::read_to_string(&file).unwrap().as_str()), (1, "mine"), "{}", refused.stderr);
    let below = |args: &[&str]| -> Done { done(&env.command(args).env("LONGHAUL_SESSION", SESSION).output().unwrap()) };
    let bundled = below(&["doctor", "--bundle", "new.txt"]);
    assert!(bundled.code == 8 && bundled.stderr.contains("an agent session may only"), "{}", bundled.stderr);
    assert!(!env.workspace().join("new.txt").exists());
    assert_eq!(below(&["doctor"]).code, 0, "looking is allowed");
}

#[test]
fn a_program_that_was_only_found_is_not_said_to_work() {
    let programs = tempfile::tempdir().unwrap();
    for name in ["systemd-inhibit", "caffeinate"] {
        std::os::unix::fs::symlink("/bin/false", programs.path().join(name)).unwrap();
    }
    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let env = TestEnv::new().var("PATH", &path).var("LONGHAUL_SESSION_INHIBIT_SLEEP", "true");
    let shown = env.run(&["doctor"]).stdout;
    let line = shown.lines().find(|line| line.contains("awake")).unwrap();
    assert!(line.ends_with("` found") && !line.contains("keeps"), "{line}");
}
