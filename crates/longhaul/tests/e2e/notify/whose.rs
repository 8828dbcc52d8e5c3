//! Whose environment a notice is delivered with: whoever carried the task goes first, and a process that lacks a variable leaves the notice
//! to one that has it, for an hour. A task whose row cannot be read holds nobody up.

use std::path::Path;

use serde_json::Value;

use super::server::Server;
use super::trouble::{killed_at, killed_in};
use super::webhook::{KEY, hooked};
use super::{age, desk, notices, settled, told_in};
use crate::env::{TestEnv, wait_for};

/// Proves that a worker went round once more: it takes away a hold of nobody's.
fn goes_round(env: &TestEnv) {
    let holds = env.home().join("holds");
    std::fs::create_dir_all(&holds).unwrap();
    let hold = holds.join("0190c5a4-7d4e-7c3a-8f00-000000000001.lock");
    std::fs::write(&hold, "").unwrap();
    wait_for("the worker to take the file away", || (!hold.exists()).then_some(()));
}

#[test]
fn a_stranger_lets_the_one_go_first_that_carried_the_task() {
    let fails = tempfile::tempdir().unwrap();
    let mut env = desk().var("LONGHAUL_NOTIFY_COMMAND", "sh\n-c\necho $WHO >> $TOLD/who").var("WHO", "its own");
    env.set("LONGHAUL_FAIL_POINTS", "worker.notice_due=pause");
    env.set("LONGHAUL_FAIL_DIR", fails.path().to_str().unwrap());
    env.set("DEMO_FAULT", "stop@1");
    env.submit("Do it", &["--name", "t"]);
    let (_, _, agent) = env.live_session("t");
    for name in ["LONGHAUL_FAIL_POINTS", "LONGHAUL_FAIL_DIR"] {
        env.unset(name);
    }
    env.set("WHO", "a stranger");
    let mut stranger = env.start(&["worker", "--stay"]);
    goes_round(&env);
    agent.release();
    wait_for("the notice", || Path::new(&fails.path().join("worker.notice_due")).exists().then_some(()));
    // The look into the outbox comes after the look at holds.
    goes_round(&env);
    goes_round(&env);
    assert_eq!(notices(&env, "t")[0]["tries"], 0, "a stranger took it");
    std::fs::write(fails.path().join("worker.notice_due.go"), "").unwrap();
    assert_eq!(settled(&env, "t")[0]["state"], "delivered");
    assert_eq!(std::fs::read_to_string(told_in(&env).join("who")).unwrap(), "its own\n");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn a_worker_delivers_with_the_environment_that_a_task_was_handed_over_with() {
    let mut env = desk().var("LONGHAUL_NOTIFY_COMMAND", "sh\n-c\necho $WHO >> $TOLD/who").var("WHO", "the worker");
    let mut worker = env.start(&["worker", "--stay"]);
    goes_round(&env);
    env.set("WHO", "the caller");
    env.submit("Do it", &["--name", "t"]);
    assert_eq!(settled(&env, "t")[0]["state"], "delivered");
    assert_eq!(std::fs::read_to_string(told_in(&env).join("who")).unwrap(), "the caller\n");
    let claimed = env.events("t").into_iter().find(|event| event["event"]["kind"] == "claimed").unwrap();
    let lock = env.home().join("workers").join(format!("{}.lock", claimed["event"]["worker"].as_str().unwrap()));
    let owner: Value = serde_json::from_slice(&std::fs::read(lock).unwrap()).unwrap();
    assert_eq!(owner["pid"], worker.id(), "the control: that worker carried it");
    worker.kill().unwrap();
    worker.wait().unwrap();
}

fn standing(env: &TestEnv) -> (String, u64, Option<String>) {
    let notice = notices(env, "t").remove(0);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (text(&notice["state"]).unwrap(), notice["tries"].as_u64().unwrap(), text(&notice["error"]))
}

#[test]
fn who_lacks_the_variable_leaves_the_notice_to_one_that_has_it() {
    let server = Server::answering(&[200]);
    let mut env = killed_in(hooked(&server), "worker.notice_due");
    env.unset("MY_HOOK");
    let error = Some("variable `MY_HOOK` is not set".to_owned());
    for _ in 0..6 {
        age(&env, 20);
        env.ok(&["worker", "--only"]);
        assert_eq!(standing(&env), ("pending".to_owned(), 0, error.clone()));
    }
    env.set("MY_HOOK", KEY);
    age(&env, 20);
    env.ok(&["worker", "--only"]);
    assert_eq!(standing(&env), ("delivered".to_owned(), 1, None));
    assert!(server.next().is_signed_with(KEY));
    assert_eq!(server.arrived().len(), 0);
}

#[test]
fn after_an_hour_a_notice_that_nobody_has_the_variable_for_has_failed() {
    let server = Server::answering(&[200]);
    let mut env = killed_in(hooked(&server), "worker.notice_due");
    env.unset("MY_HOOK");
    age(&env, 3_700);
    env.ok(&["worker", "--only"]);
    assert_eq!(standing(&env), ("failed".to_owned(), 1, Some("variable `MY_HOOK` is not set".to_owned())));
    assert_eq!(server.arrived().len(), 0);
}

#[test]
fn a_notice_of_a_task_that_cannot_be_read_fails_and_holds_no_worker_up() {
    let env = killed_at("worker.notice_due");
    age(&env, 20);
    let connection = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    connection.execute("UPDATE tasks SET head = 'no hash'", []).unwrap();
    drop(connection);
    env.ok(&["worker", "--only"]);
    let sql = "SELECT state, tries, error FROM outbox";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (state, tries, error): (String, u32, String) = env.database().unwrap().query_row(sql, [], read).unwrap();
    assert_eq!((state.as_str(), tries), ("failed", 1), "{error}");
    assert!(error.contains("damaged"), "{error}");
}
