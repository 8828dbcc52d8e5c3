//! A resident worker sweeps by itself: what retention does not keep, never unmerged work, one worker at a time, and not if it is off.

use super::{finish, names};
use crate::env::{TestEnv, wait_for};
use crate::processes::Process;

/// Waits until the log of the workers has this text.
fn logged(env: &TestEnv, text: &str) -> String {
    wait_for(text, || {
        let log = std::fs::read_to_string(env.home().join("worker.log")).ok()?;
        log.contains(text).then_some(log)
    })
}

/// A resident worker in the background.
fn resident(env: &TestEnv) -> i32 {
    env.ok(&["worker", "--stay", "--detach"]).trim().parse().unwrap()
}

#[test]
pub(crate) fn a_resident_worker_removes_what_is_not_kept_and_says_so() {
    let mut env = TestEnv::new();
    finish(&env, &["one", "two"]);
    env.set("LONGHAUL_RETENTION_COUNT", "1");
    env.set("LONGHAUL_RETENTION_AUTOMATIC", "false");
    let off = resident(&env);
    logged(&env, "gc: not now, retention.automatic is false");
    assert_eq!(names(&env), ["two", "one"]);
    env.unset("LONGHAUL_RETENTION_AUTOMATIC");
    let on = resident(&env);
    logged(&env, "gc: removed 1 task(s) (one)");
    assert_eq!(names(&env), ["two"]);
    env.set("LONGHAUL_RETENTION_COUNT", "0");
    let late = resident(&env);
    logged(&env, "gc: not now, a worker of this home did it less than an hour ago");
    assert_eq!(names(&env), ["two"], "the control: one sweep an hour, whoever does it");
    for pid in [off, on, late] {
        Process::now(pid).unwrap().kill_9();
    }
}

#[test]
fn a_resident_worker_keeps_unmerged_work() {
    let mut env = crate::rounds::one_step();
    env.make_repository();
    // Equal work of one second would be one commit.
    for name in ["mine", "merged"] {
        assert_eq!(env.run(&["run", &format!("Make {name}"), "--name", name]).code, 0);
    }
    env.wait_until_empty();
    env.git(&["merge", "-q", "longhaul/merged"]);
    env.set("LONGHAUL_RETENTION_COUNT", "0");
    let pid = resident(&env);
    logged(&env, "gc: removed 1 task(s) (merged)");
    assert_eq!((names(&env), env.root_of("mine").join("step-1.md").exists()), (vec!["mine".to_owned()], true));
    Process::now(pid).unwrap().kill_9();
}
