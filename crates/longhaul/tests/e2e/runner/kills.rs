//! `run-session` dies at every point of a session's life; the next one takes up what is there: no session twice, none lost, and never two
//! agents at once.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use super::Runner;
use crate::env::wait_for;
use crate::sight::kill_9;

const ONE_AT_A_TIME: &str = "mkdir \"$CODEX_RECORDS/alive\" || touch \"$CODEX_RECORDS/overlap\"; work; \
     rmdir \"$CODEX_RECORDS/alive\"";

/// Kills the runner at a point, then runs it again.
fn dies_at(point: &str) {
    let mut runner = Runner::new().does(ONE_AT_A_TIME);
    let fails = runner.env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    runner.env.set("LONGHAUL_FAIL_POINTS", point);
    runner.env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    let killed = runner.command(&["-n", "t", "Do it"]).output().unwrap();
    assert_eq!(killed.status.code(), None, "{point} was reached: {}", String::from_utf8_lossy(&killed.stdout));
    runner.env.unset("LONGHAUL_FAIL_POINTS");
    runner.env.unset("LONGHAUL_FAIL_DIR");
    let next = runner.run(&["-n", "t", "Do it"]);
    assert_eq!(next.code, 0, "{point}: {}\n{}", next.stdout, next.stderr);
    assert!(next.stdout.contains("✓ ALL TASKS COMPLETED!"), "{point}: {}", next.stdout);
    assert!(!runner.env.path().join("records/overlap").exists(), "{point}");
    assert_eq!(runner.argvs().len(), 4, "{point}: one session plans and each of three ticks a step");
    runner.env.ok(&["store", "check"]);
}

#[test]
fn before_its_session_was_started() {
    for point in ["worker.place_committed", "worker.session_committed", "worker.session_written"] {
        dies_at(point);
    }
}

#[test]
fn while_its_session_runs() {
    for point in ["worker.keeper_spawned", "worker.output_read", "worker.output_committed"] {
        dies_at(point);
    }
}

#[test]
fn after_its_session_has_ended() {
    for point in ["worker.end_seen", "worker.work_kept", "worker.end_committed"] {
        dies_at(point);
    }
}

/// A worker that stays finds the task of a dead runner, and leaves it to the next one.
#[test]
fn nobody_else_takes_up_what_a_runner_left() {
    let runner = Runner::new().does("start; while [ ! -f \"$CODEX_RECORDS/go\" ]; do sleep 0.02; done; plan; finish");
    let mut child = runner.command(&["-n", "t", "Do it"]).stdout(Stdio::null()).spawn().unwrap();
    let owner = wait_for("the session", || {
        runner.records("stdin").first()?;
        runner.env.owner("t")
    });
    kill_9(i32::try_from(child.id()).unwrap());
    child.wait().unwrap();
    std::fs::write(runner.env.path().join("records/go"), "").unwrap();
    runner.env.ok(&["worker", "--only"]);
    assert_eq!(runner.env.task("t")["state"]["state"], "planning", "nobody looked at it");
    assert!(runner.env.owner("t").is_none_or(|now| now == owner));
    assert_eq!(runner.run(&["-n", "t", "-c", "--max-sessions", "1"]).code, 0);
    assert_eq!(runner.argvs().len(), 1);
}

/// Writes an unfinished list, then waits.
const HALF_WRITES: &str = "start; echo '# List' > \"$dir/task_list.md\"; \
     while [ ! -f \"$CODEX_RECORDS/go\" ]; do sleep 0.02; done";

/// A runner whose agent has begun with the list, and has not got further.
fn half_written(then: &str) -> (Runner, Child) {
    let runner = Runner::new().does(&format!("{HALF_WRITES}; {then}"));
    let child = runner.command(&["-n", "t", "Do it"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the list", || runner.file("t", "task_list.md").contains("List").then_some(()));
    runner.refused(&["-n", "t", "Do it"], "already running");
    (runner, child)
}

fn dies(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_a_live_session_has_half_written_is_no_bad_list() {
    let (runner, mut child) = half_written("plan; finish");
    dies(&mut child);
    let mut command = runner.command(&["-n", "t", "-c", "--max-sessions", "1"]);
    let mut next = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(next.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.contains("INITIALIZER SESSION")), "the session is adopted");
    std::fs::write(runner.env.path().join("records/go"), "").unwrap();
    assert!(said.any(|line| line.contains("=== Progress: 0/3 ===")), "its list is whole at its end");
    assert!(next.wait().unwrap().success());
    assert_eq!(runner.argvs().len(), 1);
}

#[test]
fn a_list_that_a_dead_session_left_half_written_is_told_when_its_end_is_seen() {
    let (runner, mut child) = half_written("finish");
    dies(&mut child);
    std::fs::write(runner.env.path().join("records/go"), "").unwrap();
    runner.env.wait_until_empty();
    runner.refused(&["-n", "t", "Do it"], "Initializer did not create required files");
    assert_eq!(runner.file("t", "task_list.md"), "# List\n", "nothing was changed");
    runner.refused(&["-n", "t", "Do it"], "progress.md is missing");
    assert_eq!(runner.argvs().len(), 1);
}
