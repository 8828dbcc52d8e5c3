//! The binary is replaced, by nonsense or by a newer one, or deleted, while worker and keeper live: they never notice.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use crate::checker;
use crate::env::{DEMO_AGENT_VARIABLE, TestEnv, done, wait_for};
use crate::processes::Process;

/// A copy of the binary, so that replacing it harms nobody else.
fn install(env: &TestEnv, name: &str) -> PathBuf {
    let path = env.path().join(name);
    // By a process of its own: a child that another test forks meanwhile would keep our descriptor of the copy, open for writing,
    // and such a file cannot be executed.
    let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_longhaul")).arg(&path).status().unwrap();
    assert!(copied.success());
    path
}

fn inode(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().ino()
}

fn runs(process: Process) -> u64 {
    process.executable().unwrap().ino()
}

/// Submits a task with the installed binary and waits for its first session.
fn submit(env: &TestEnv, program: &Path) -> String {
    let submitted = done(&env.command_of(program, &["run", "-d", "Live through an upgrade"]).output().unwrap());
    assert_eq!(submitted.code, 0, "{}", submitted.stderr);
    submitted.stdout.trim().to_owned()
}

/// A world with the agent that is built in, slow enough to be stopped in each session.
fn built_in() -> TestEnv {
    let mut env = TestEnv::new().var("DEMO_PACE_MS", "3000");
    env.unset(DEMO_AGENT_VARIABLE);
    env
}

/// A session whose agent stands still.
struct Standing {
    id: String,
    keeper: Process,
    agent: Process,
}

impl Standing {
    /// The first session of a task.
    fn first(env: &TestEnv, task: &str) -> Standing {
        let (id, keeper, agent) = env.live_session(task);
        agent.signal(Signal::SIGSTOP);
        wait_for("the agent to stand still", || agent.is_stopped().then_some(()));
        assert_eq!(runs(agent), runs(keeper), "the built-in agent runs from its keeper's file");
        Standing { id, keeper, agent }
    }

    /// Lets this one end and waits for the next one.
    fn next(self, env: &TestEnv, task: &str) -> Standing {
        self.agent.release();
        let is_next = || env.column(task, "live_session").filter(|session| *session != self.id);
        wait_for("the next session", is_next);
        Standing::first(env, task)
    }
}

#[test]
fn a_replaced_binary_changes_nothing_for_those_who_run() {
    let env = built_in();
    let program = install(&env, "longhaul");
    let old = inode(&program);
    let task = submit(&env, &program);
    let first = Standing::first(&env, &task);
    let worker = env.owner(&task).unwrap();
    assert_eq!((runs(worker), runs(first.keeper)), (old, old));

    let nonsense = env.path().join("nonsense");
    std::fs::write(&nonsense, "not a program").unwrap();
    std::fs::set_permissions(&nonsense, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&nonsense, &program).unwrap();
    assert!(env.command_of(&program, &["--version"]).output().is_err(), "the control: the name runs nothing any more");
    let second = first.next(&env, &task);
    assert_eq!((runs(second.keeper), env.owner(&task)), (old, Some(worker)), "the old descriptor is used");

    // A newer binary, and a new worker from it that adopts what the old one left.
    let newer = install(&env, "newer");
    let new = inode(&newer);
    std::fs::rename(&newer, &program).unwrap();
    worker.kill_9();
    let started = done(&env.command_of(&program, &["worker", "--only", "--detach"]).output().unwrap());
    assert_eq!(started.code, 0, "{}", started.stderr);
    let adopter = wait_for("an adopter", || env.owner(&task).filter(|owner| *owner != worker));
    assert_eq!((runs(adopter), new != old), (new, true));
    let third = second.next(&env, &task);
    assert_eq!(runs(third.keeper), new, "its keepers are of the new binary");
    third.agent.release();
    finish(&env, &task);
}

#[test]
fn a_deleted_binary_changes_nothing_for_those_who_run() {
    let env = built_in();
    let program = install(&env, "longhaul");
    let old = inode(&program);
    let task = submit(&env, &program);
    let first = Standing::first(&env, &task);
    std::fs::remove_file(&program).unwrap();
    let second = first.next(&env, &task);
    assert_eq!(runs(second.keeper), old);
    second.next(&env, &task).agent.release();
    finish(&env, &task);
}

fn finish(env: &TestEnv, task: &str) {
    assert_eq!(env.settle(task), "done");
    let ends: Vec<_> = env.events(task).into_iter().filter(|event| event["event"]["kind"] == "session_ended").collect();
    assert_eq!(ends.len(), 3, "one session each for the plan and two pairs of steps: {ends:#?}");
    assert!(ends.iter().all(|event| event["event"]["ended"]["outcome"] == "completed"), "{ends:#?}");
    env.wait_until_empty();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(env);
}

#[test]
fn a_home_of_an_unreleased_version_is_refused_untouched() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Make a thing", "--name", "one"]).code, 0);
    env.wait_until_empty();
    let database = env.home().join("longhaul.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.pragma_update(None, "user_version", 3).unwrap();
    drop(connection);
    let before = std::fs::read(&database).unwrap();
    for verb in [&["list"][..], &["show", "one"], &["run", "Another thing"], &["worker", "--only"]] {
        let refused = env.run(verb);
        assert_eq!(refused.code, 9, "{verb:?}: {}", refused.stderr);
        for part in ["made by an unreleased version of longhaul", "move it away", "nothing was changed"] {
            assert!(refused.stderr.contains(part), "{verb:?}: {}", refused.stderr);
        }
    }
    assert_eq!(std::fs::read(&database).unwrap(), before);
}
