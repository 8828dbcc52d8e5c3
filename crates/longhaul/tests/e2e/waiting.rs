//! Tasks that wait: between two sessions, and for another task to be verified. A wait is durable, told, and ended by who it is for.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::checker;
use crate::env::{PASSED, TestEnv, wait_for};
use crate::processes::Process;
use crate::rounds::one_step;
use crate::sight::kill_9;

#[test]
fn a_delay_is_waited_and_a_pause_ends_it_at_once() {
    let env = TestEnv::new();
    env.submit("Do it", &["--name", "t", "--delay", "50m"]);
    env.reach("t", "waiting");
    assert_eq!(env.task("t")["state"]["why"], "delay");
    let waited = env.run(&["wait", "t", "--timeout", "0"]);
    assert_eq!(waited.code, 124, "{}", waited.stderr);
    assert_eq!(env.run(&["resume", "t"]).code, 8, "it resumes automatically");
    let begun = Instant::now();
    env.ok(&["pause", "t"]);
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(env.state("t"), "paused");
    env.deserted();
    env.ok(&["resume", "t", "--delay", "0s"]);
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_delay_lasts_as_long_as_it_was_said_also_over_the_workers_death() {
    let env = one_step();
    env.submit("Do it", &["--name", "t", "--delay", "3s"]);
    env.reach("t", "waiting");
    kill_9(env.worker_pid("t"));
    env.ok(&["worker", "--only", "--detach"]);
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    let at = |kind: &str, which: usize| -> i64 {
        let events = env.events("t");
        let found = events.iter().filter(|event| event["event"]["kind"] == kind).nth(which).unwrap();
        found["at_us"].as_i64().unwrap()
    };
    let waited = at("session_started", 1) - at("session_ended", 0);
    assert!((3_000_000..30_000_000).contains(&waited), "{waited}");
}

/// A first task whose agent stands still in its first session, and one that waits for it.
fn pair(first: &[&str]) -> (TestEnv, Process) {
    let mut env = one_step().var("DEMO_FAULT", "stop@1");
    env.make_repository();
    let home = env.path().join("memory-of-a").display().to_string();
    env.set("DEMO_AGENT_HOME", &home);
    env.submit("Do it first", &[&["--name", "a"], first].concat());
    let agent = Process::now(env.live("a", 1).agent).unwrap();
    env.unset("DEMO_FAULT");
    env.unset("DEMO_AGENT_HOME");
    env.submit("Do it then", &["--name", "b", "--after", "a", "--check", "true"]);
    env.reach("b", "waiting");
    (env, agent)
}

fn at(env: &TestEnv, task: &str, kind: &str) -> i64 {
    let events = env.events(task);
    let found = events.iter().find(|event| event["event"]["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} of {task}"))["at_us"].as_i64().unwrap()
}

#[test]
fn a_task_starts_when_the_other_one_is_verified() {
    let (env, agent) = pair(&["--check", "true"]);
    let waited = env.run(&["wait", "b", "--timeout", "0"]);
    assert_eq!(waited.code, 124, "{}", waited.stderr);
    assert!(env.ok(&["show", "b"]).contains("must be verified first"));
    assert_eq!(env.run(&["resume", "b"]).code, 8);
    agent.release();
    assert_eq!((env.run(&["wait", "a"]).code, env.run(&["wait", "b"]).code), (0, 0));
    assert!(at(&env, "b", "session_started") > at(&env, "a", "finished"));
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn w21_the_wait_for_another_task_survives_the_worker_and_a_pause() {
    let (env, agent) = pair(&["--check", "true"]);
    kill_9(env.worker_pid("b"));
    assert_eq!(env.state("b"), "waiting");
    env.ok(&["worker", "--only", "--detach"]);
    wait_for("the new owner", || env.owner("b"));
    env.ok(&["pause", "b"]);
    env.ok(&["resume", "b"]);
    env.reach("b", "waiting");
    assert_eq!(env.sessions("b").len(), 0);
    agent.release();
    assert_eq!((env.run(&["wait", "a"]).code, env.run(&["wait", "b"]).code), (0, 0));
    env.deserted();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(&env);
}

/// The waiting task asks for help because of how the other one ended, and starts anyway when a person says so.
#[track_caller]
fn asks_and_starts_anyway(env: &TestEnv, how: &str) {
    assert_eq!(env.run(&["wait", "b"]).code, 5);
    let reason = env.task("b")["state"]["reason"]["after_unverified"].clone();
    assert!(reason["how"].as_str().is_some_and(|said| said.contains(how)), "{reason}");
    assert_eq!(env.run(&["resume", "b"]).code, 2, "a reason is needed");
    env.ok(&["resume", "b", "--reason", "good enough"]);
    assert_eq!(env.run(&["wait", "b"]).code, 0);
    assert_eq!(env.purposes("b"), ["plan", "work", "check"]);
    env.deserted();
    checker::assert_clean(env);
}

#[test]
fn another_task_that_ends_unverified_is_for_a_person_to_judge() {
    let (env, agent) = pair(&[]);
    agent.release();
    asks_and_starts_anyway(&env, "unverified");
}

#[test]
fn another_task_that_is_cancelled_is_for_a_person_to_judge() {
    let (env, _) = pair(&["--check", "true"]);
    env.ok(&["cancel", "a"]);
    asks_and_starts_anyway(&env, "cancelled");
}

#[test]
fn a_finished_task_is_waited_for_in_no_time_and_an_unknown_one_is_an_error() {
    let env = one_step();
    assert_eq!(env.run(&["run", "Do it first", "--name", "a", "--check", "true"]).code, PASSED);
    assert_eq!(env.run(&["run", "Do it then", "--name", "b", "--after", "a", "--check", "true"]).code, PASSED);
    let done = env.run(&["run", "-d", "And then", "--after", "nobody"]);
    assert_eq!(done.code, 7, "{}", done.stderr);
    assert_eq!(env.json(&["list"])["tasks"].as_array().unwrap().len(), 2, "nothing was made");
}

#[test]
fn a_task_that_waits_for_its_turn_is_cancelled_without_a_session() {
    let (env, agent) = pair(&["--check", "true"]);
    env.ok(&["cancel", "b"]);
    assert_eq!(env.state("b"), "cancelled");
    agent.release();
    assert_eq!(env.run(&["wait", "a"]).code, 0);
    assert_eq!((env.sessions("b").len(), env.ledger_of("start").len()), (0, 2));
}

/// Puts a stand-in for the program that keeps the machine awake in front of the real one. It takes exactly our arguments, and
/// writes down who it is.
fn with_inhibitor() -> TestEnv {
    use std::os::unix::fs::PermissionsExt;
    let env = one_step().var("LONGHAUL_SESSION_INHIBIT_SLEEP", "true");
    let programs = env.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let (holds, bad) = (env.path().join("holds"), env.path().join("bad"));
    let script = format!(
        "#!/bin/sh\n[ \"$#\" = 5 ] && [ \"$*\" = '--what=sleep --who=longhaul --why=an agent is working --mode=block cat' ] \
         || {{ echo \"$@\" >> '{}'; exit 2; }}\necho $$ >> '{}'\nexec cat\n",
        bad.display(),
        holds.display()
    );
    let program = programs.join("systemd-inhibit");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    env.var("PATH", &path)
}

/// The stand-ins that were started so far, and how many of them live.
fn holds(env: &TestEnv) -> (usize, usize) {
    assert!(!env.path().join("bad").exists(), "started with other arguments");
    let text = std::fs::read_to_string(env.path().join("holds")).unwrap_or_default();
    let pids: Vec<i32> = text.lines().map(|line| line.parse().unwrap()).collect();
    let living = pids.iter().filter(|pid| Process::now(**pid).is_some_and(Process::is_alive)).count();
    (pids.len(), living)
}

#[test]
pub(crate) fn the_machine_is_kept_awake_exactly_while_a_session_runs() {
    let env = with_inhibitor().var("DEMO_FAULT", "stop@1,stop@2");
    env.submit("Do it", &["--name", "t", "--delay", "4s"]);
    let agent = Process::now(env.live("t", 1).agent).unwrap();
    wait_for("the hold", || (holds(&env) == (1, 1)).then_some(()));
    agent.release();
    env.reach("t", "waiting");
    wait_for("the hold to be given back", || (holds(&env) == (1, 0)).then_some(()));
    let agent = Process::now(env.live("t", 2).agent).unwrap();
    wait_for("the second hold", || (holds(&env) == (2, 1)).then_some(()));
    kill_9(env.worker_pid("t"));
    wait_for("the hold to end with its worker", || (holds(&env) == (2, 0)).then_some(()));
    env.ok(&["worker", "--only", "--detach"]);
    wait_for("the adopter's hold", || (holds(&env) == (3, 1)).then_some(()));
    agent.release();
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    wait_for("the last hold to be given back", || (holds(&env).1 == 0).then_some(()));
}

#[test]
fn a_machine_without_the_program_and_a_task_that_does_not_want_it_work_too() {
    let env = with_inhibitor().var("LONGHAUL_SESSION_INHIBIT_SLEEP", "false");
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--check", "true"]).code, PASSED);
    assert_eq!(holds(&env), (0, 0));
    std::fs::remove_file(env.path().join("programs/systemd-inhibit")).unwrap();
    let env = env.var("LONGHAUL_SESSION_INHIBIT_SLEEP", "true").var("PATH", "/bin:/usr/bin");
    assert_eq!(env.run(&["run", "Do it", "--name", "u", "--check", "true"]).code, PASSED);
    assert_eq!(env.task("u")["submission"]["policy"]["keep_awake"], json!(true));
    assert_ne!(env.task("u")["state"]["verdict"], Value::Null);
}
