//! One runner per task: racing starters, stale locks of the shell runner, and locks of the living.

use std::process::Stdio;

use super::Runner;
use crate::env::wait_for;

const SLOW: &str = "start; while [ ! -f \"$CODEX_RECORDS/go\" ]; do sleep 0.02; done; tick; finish";

#[test]
fn a_second_runner_is_told_who_has_the_task() {
    let runner = Runner::new().does(SLOW);
    runner.legacy("t", 0, 1);
    let first = runner.command(&["-n", "t", "-c"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the agent to run", || (!runner.records("stdin").is_empty()).then_some(()));
    runner.refused(&["-n", "t", "-c"], &format!("already running (pid {})", first.id()));
    assert!(runner.ok(&["--list"]).contains("○ t (0/1 - 0%) [session: 01a1e094-4a55...] [running]"));
    std::fs::write(runner.env.path().join("records/go"), "").unwrap();
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(runner.argvs().len(), 1);
}

/// A lock of the shell runner with this process id.
fn lock(runner: &Runner, pid: u32) {
    std::fs::create_dir_all(runner.dir("t").join(".runner.lock")).unwrap();
    runner.write("t", ".runner.lock/pid", &format!("{pid}\n"));
}

fn reaped() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn a_stale_lock_of_the_shell_runner_is_announced_and_left_alone() {
    let runner = Runner::new();
    runner.legacy("t", 0, 1);
    lock(&runner, reaped());
    runner.write("t", ".runner.lock/mine", "precious");
    let done = runner.run(&["-n", "t", "-c"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("stale lock"), "{}", done.stderr);
    assert_eq!(runner.file("t", ".runner.lock/mine"), "precious");
}

#[test]
fn a_living_shell_runner_keeps_the_task_and_a_recycled_number_does_not() {
    let runner = Runner::new();
    runner.legacy("t", 0, 1);
    let dated = |seconds| {
        let made = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
        std::fs::File::open(runner.dir("t").join(".runner.lock")).unwrap().set_modified(made).unwrap();
    };
    lock(&runner, std::process::id());
    runner.refused(&["-n", "t", "-c"], "already running");
    // The first process has lived longer than this test, and nobody may have looked at it yet.
    lock(&runner, 1);
    dated(3);
    runner.refused(&["-n", "t", "-c"], "already running (pid 1)");
    assert!(runner.argvs().is_empty());
    lock(&runner, std::process::id());
    dated(3600);
    let done = runner.run(&["-n", "t", "-c"]);
    assert!(done.code == 0 && done.stderr.contains("stale lock"), "it began after the lock was made: {}", done.stderr);
}

#[test]
fn a_lock_that_names_nobody_yet_is_not_called_stale() {
    let runner = Runner::new();
    runner.legacy("t", 0, 1);
    std::fs::create_dir(runner.dir("t").join(".runner.lock")).unwrap();
    runner.refused(&["-n", "t", "-c"], "already running");
    runner.write("t", ".runner.lock/pid", "");
    runner.refused(&["-n", "t", "-c"], "remove the directory");
    assert!(runner.argvs().is_empty());
}

/// 12 racing on one stale lock, again and again: one agent each time.
#[test]
fn of_twelve_racing_runners_one_starts_the_agent() {
    let rounds = if std::env::var_os("CI").is_some() { 100 } else { 10 };
    let runner = Runner::new();
    for round in 0..rounds {
        let name = format!("t{round}");
        runner.legacy(&name, 0, 1);
        std::fs::create_dir_all(runner.dir(&name).join(".runner.lock")).unwrap();
        runner.write(&name, ".runner.lock/pid", &reaped().to_string());
        let start = || {
            let mut command = runner.command(&["-n", &name, "-c"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = (0..12).map(|_| start()).collect();
        for child in children {
            let done = crate::env::done(&child.wait_with_output().unwrap());
            assert!(done.code == 0 || done.stderr.contains("already running"), "{}: {}", done.code, done.stderr);
        }
        assert_eq!(runner.argvs().len(), round + 1, "round {round}");
    }
}
