//! How an invocation ends: by the agent's code, by a signal, by kill -9 and what the next one makes of it; and how a person takes over.

use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Runner;
use crate::env::wait_for;

/// Works only once the file is there.
const WAITS: &str = "start; while [ ! -f \"$CODEX_RECORDS/go\" ]; do sleep 0.02; done; if [ -f \"$dir/task_list.md\" ]; then tick; else plan; fi; finish";

fn spawn(runner: &Runner, args: &[&str]) -> Child {
    let child = runner.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the agent to run", || (!runner.records("stdin").is_empty()).then_some(()));
    wait_for("its conversation to be saved", || (!runner.file("t", "session.id").is_empty()).then_some(()));
    child
}

fn go(runner: &Runner) {
    std::fs::write(runner.env.path().join("records/go"), "").unwrap();
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

#[test]
fn a_failed_session_gives_its_code_and_is_not_tried_again() {
    let runner = Runner::new().does("start; tick; exit 42");
    runner.legacy("t", 0, 3);
    let done = runner.run(&["-n", "t", "-c"]);
    assert_eq!((done.code, runner.argvs().len()), (42, 1), "{}", done.stderr);
    assert!(done.stdout.contains("Session ID saved: "), "saved all the same: {}", done.stdout);
    assert_eq!(runner.env.state("t"), "paused");
}

#[test]
fn exit_code_zero_is_success_whatever_the_stream_says() {
    let runner = Runner::new().does("start; tick; echo '{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}'");
    runner.legacy("t", 0, 2);
    assert_eq!(runner.run(&["-n", "t", "-c"]).code, 0);
    assert_eq!(runner.argvs().len(), 2);
}

#[test]
fn int_and_term_stop_the_agent_and_end_with_130() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let runner = Runner::new().does(WAITS);
        let child = spawn(&runner, &["-n", "t", "Do it"]);
        send(&child, signal);
        let done = crate::env::done(&child.wait_with_output().unwrap());
        assert_eq!(done.code, 130, "{signal}: {}", done.stderr);
        assert!(done.stderr.contains("longhaul run-session --task-name t --continue"), "{}", done.stderr);
        assert!(done.stderr.contains(".autonomous/t"), "{}", done.stderr);
        assert_eq!(runner.env.state("t"), "paused");
        let marker = format!("LONGHAUL_HOME={}", runner.env.home().display());
        assert_eq!(crate::env::processes_with(&marker), Vec::<i32>::new(), "nobody is left");
    }
}

#[test]
fn a_hang_up_changes_nothing() {
    let runner = Runner::new().does(WAITS);
    let child = spawn(&runner, &["-n", "t", "Do it", "--max-sessions", "1"]);
    send(&child, Signal::SIGHUP);
    go(&runner);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn the_delay_between_sessions_can_be_interrupted() {
    let mut runner = Runner::new();
    runner.env.set("LONGHAUL_SESSION_DELAY", "1h");
    let child = runner.command(&["-n", "t", "Do it"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the wait", || (runner.env.column("t", "state").as_deref() == Some("waiting")).then_some(()));
    send(&child, Signal::SIGINT);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

#[test]
fn after_kill_9_the_next_runner_adopts_the_live_session() {
    let runner = Runner::new().does(WAITS);
    let mut child = spawn(&runner, &["-n", "t", "Do it"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(runner.env.state("t"), "planning");
    runner.env.ok(&["worker", "--detach"]);
    let next = runner.command(&["-n", "t", "-c", "--max-sessions", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    go(&runner);
    let done = crate::env::done(&next.wait_with_output().unwrap());
    assert_eq!(done.code, 0);
    assert!(
        done.stdout.contains("INITIALIZER SESSION") && done.stdout.contains("=== Progress: 0/3 ==="),
        "{}",
        done.stdout
    );
    assert_eq!(runner.argvs().len(), 1, "the same agent, and no worker had taken it");
}

#[test]
fn resume_makes_it_supervised_and_no_runner_takes_it_back() {
    let runner = Runner::new();
    runner.ok(&["-n", "t", "Do it", "--max-sessions", "1"]);
    runner.env.ok(&["resume", "t", "--agent", "demo"]);
    runner.refused(&["-n", "t", "-c"], "supervised by Longhaul");
    runner.env.run(&["cancel", "t"]);
}

#[test]
fn a_live_session_of_a_dead_runner_goes_on_supervised() {
    let runner = Runner::new().does(WAITS);
    let mut child = spawn(&runner, &["-n", "t", "Do it"]);
    child.kill().unwrap();
    child.wait().unwrap();
    runner.env.ok(&["resume", "t", "--once"]);
    go(&runner);
    assert_eq!(runner.env.settle("t"), "paused");
    assert_eq!(runner.argvs().len(), 1, "the same agent");
    assert_eq!(runner.env.task("t")["submission"]["driver"], "supervised");
}

#[test]
fn pause_from_elsewhere_ends_the_runner() {
    let runner = Runner::new().does(WAITS);
    let child = spawn(&runner, &["-n", "t", "Do it"]);
    runner.env.ok(&["pause", "t"]);
    let done = crate::env::done(&child.wait_with_output().unwrap());
    assert_eq!(runner.env.state("t"), "paused");
    assert_eq!(done.code, 130, "{}", done.stderr);
    assert!(done.stderr.contains("Paused.") && !done.stderr.contains("failed"), "{}", done.stderr);
}

#[test]
fn what_the_agent_complains_about_is_seen_and_logged() {
    let runner = Runner::new().does("start; echo 'no login' >&2; printf 'unended' >&2; exit 9");
    let done = runner.run(&["-n", "t", "Do it"]);
    assert_eq!(done.code, 9);
    for text in [&done.stdout, &runner.file("t", "session.log")] {
        assert!(text.contains("no login\n") && text.contains("unended\n") && text.contains("thread.started"), "{text}");
    }
    let why = runner.env.ok(&["why", "t"]);
    assert!(why.contains("session 1 failed: exit code 9") && why.contains("run-session --task-name t"), "{why}");
}

#[test]
fn an_interrupted_resume_has_not_failed() {
    let runner = Runner::new().does(WAITS);
    runner.legacy("t", 0, 2);
    runner.write("t", "session.id", "01a1e094-4a55-7e31-a327-a686a02badae\n");
    let child = spawn(&runner, &["-n", "t", "--resume-last"]);
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    let done = crate::env::done(&child.wait_with_output().unwrap());
    assert_eq!(done.code, 130, "{}", done.stderr);
    assert!(!done.stderr.contains("Resume failed"), "{}", done.stderr);
    assert_eq!(runner.argvs().len(), 1);
    assert_eq!(runner.env.task("t")["run"]["falls_back"], false, "the conversation is not given up");
}

#[test]
fn who_follows_what_a_dead_runner_left_is_told() {
    let runner = Runner::new().does(WAITS);
    let mut child = spawn(&runner, &["-n", "t", "Do it"]);
    child.kill().unwrap();
    child.wait().unwrap();
    for verb in ["wait", "attach"] {
        let done = runner.env.run(&[verb, "t"]);
        assert_eq!(done.code, 5, "{verb}: {}", done.stderr);
        for part in ["its run-session is dead", "run-session --task-name t --continue", "longhaul resume t"] {
            assert!(done.stderr.contains(part), "{verb}: {}", done.stderr);
        }
    }
    for verb in ["show", "why"] {
        assert!(runner.env.ok(&[verb, "t"]).contains("its run-session is dead"), "{verb}");
    }
    assert!(runner.ok(&["--list"]).contains("? t (no task_list.md) [stale]"));
    assert!(runner.env.run(&["doctor"]).stdout.contains("left by a run-session that died: t"));
    go(&runner);
    assert_eq!(runner.run(&["-n", "t", "-c", "--max-sessions", "1"]).code, 0);
}

#[test]
fn a_takeover_ends_the_runner_and_nothing_is_called_failed() {
    let runner = Runner::new().does(WAITS);
    let child = spawn(&runner, &["-n", "t", "Do it"]);
    let shown = crate::screen::Shell::run(&runner.env, &["takeover", "t"]).finish();
    assert!(shown.contains("interface of 01a1e094-"), "{shown}");
    let done = crate::env::done(&child.wait_with_output().unwrap());
    assert_eq!(done.code, 130, "{}", done.stderr);
    assert!(!done.stderr.contains("supervised now") && !done.stderr.contains("failed"), "{}", done.stderr);
    assert_eq!(runner.env.state("t"), "paused");
    assert_eq!(runner.env.task("t")["submission"]["driver"], "runner");
}
