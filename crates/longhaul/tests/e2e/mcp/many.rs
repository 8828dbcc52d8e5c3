//! Many calls at once, and many that mean nothing: no update of a run is lost or kept twice, and unknown ids leave nothing behind.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use super::client::{Client, call};
use super::{RUNNERS, UNKNOWN_RUN, connect, server};
use crate::env::{TestEnv, wait_for};
use crate::sight::kill_9;

const UPDATES: usize = 25;

fn start(env: &TestEnv) -> String {
    let started = connect(env).ok("task_run_start", json!({ "goal": "Crawl" }));
    started["task_run"]["run_id"].as_str().unwrap().to_owned()
}

/// Sends an update and does not wait for the answer.
fn post(client: &mut Client, run_id: &str, number: usize) -> u64 {
    let update = json!({ "run_id": run_id, "completed_items": [item(number)], "key": format!("{run_id}/{number}") });
    client.post("tools/call", call("task_run_update", update, json!({})))
}

fn item(number: usize) -> String {
    format!("page {number:02}")
}

fn assert_all_kept_once(env: &TestEnv, run_id: &str) {
    let asked = json!({ "run_id": run_id, "include_events": true });
    let found = connect(env).ok("task_run_get", asked);
    let kept: BTreeSet<&str> =
        found["task_run"]["completed_items"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    assert_eq!(kept.len(), UPDATES, "{found}");
    let events = found["events"].as_array().unwrap();
    assert_eq!(events.iter().filter(|event| event["kind"] == "updated").count(), UPDATES, "{found}");
    let sequence: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(sequence, (1..=UPDATES as u64 + 1).collect::<Vec<_>>());
}

#[test]
fn updates_at_once_are_all_kept_by_one_server_and_by_two() {
    let env = TestEnv::new();
    for servers in [1, 2] {
        let run_id = start(&env);
        let mut clients: Vec<Client> = (0..servers).map(|_| connect(&env)).collect();
        let ids: Vec<u64> = (0..UPDATES).map(|number| post(&mut clients[number % servers], &run_id, number)).collect();
        for (number, id) in ids.into_iter().enumerate() {
            let answer = clients[number % servers].response(id);
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
        assert_all_kept_once(&env, &run_id);
        let ended = connect(&env).ok("task_run_complete", json!({ "run_id": run_id }));
        assert_eq!(ended["task_run"]["status"], "COMPLETED");
    }
}

#[test]
fn updates_are_kept_once_when_a_server_is_killed_between_them() {
    let env = TestEnv::new();
    let run_id = start(&env);
    let mut killed = connect(&env);
    let first = post(&mut killed, &run_id, 0);
    for number in 1..UPDATES {
        post(&mut killed, &run_id, number);
    }
    killed.response(first);
    kill_9(killed.child.id().cast_signed());
    killed.child.wait().unwrap();
    let mut next = connect(&env);
    let ids: Vec<u64> = (0..UPDATES).map(|number| post(&mut next, &run_id, number)).collect();
    let answers: Vec<Value> = ids.into_iter().map(|id| next.response(id)).collect();
    assert!(answers.iter().all(|answer| answer["result"]["isError"] == false), "{answers:?}");
    assert_eq!(answers[0]["result"]["structuredContent"]["repeated"], true, "it was acknowledged: {answers:?}");
    assert_all_kept_once(&env, &run_id);
}

/// Its answers would fill the pipe a hundred times. What it asked for is done, others are served, and the server ends with it.
#[test]
fn a_client_that_never_reads_keeps_neither_others_nor_its_server() {
    let env = TestEnv::new();
    let run_id = start(&env);
    let mut command = server(&env, &[]);
    let mut silent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let unread = silent.stdout.take();
    let mut stdin = silent.stdin.take().unwrap();
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let update = json!({ "name": "task_run_update", "arguments": { "run_id": run_id, "progress_summary": "unread" } });
    let lists = (0..30).map(|_| ("tools/list", json!({})));
    let all = [("initialize", hello)].into_iter().chain(lists).chain([("tools/call", update)]);
    for (id, (method, params)) in all.enumerate() {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(stdin, "{message}").unwrap();
    }
    let mut other = connect(&env);
    wait_for("the update that nobody reads the answer of", || {
        let found = other.ok("task_run_get", json!({ "run_id": run_id }));
        (found["task_run"]["progress_summary"] == "unread").then_some(())
    });
    assert!(silent.try_wait().unwrap().is_none(), "it waits for its client");
    drop(stdin);
    let status = wait_for("the end of the server", || silent.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    drop(unread);
}

#[test]
fn a_thousand_changes_of_unknown_ids_leave_nothing_behind() {
    let env = TestEnv::new();
    let changes: Vec<&str> =
        RUNNERS.iter().copied().filter(|tool| !["run", "submit", "task_run_start"].contains(tool)).collect();
    let mut client = Client::connect(server(&env, &[]), "2025-11-25");
    let mut ask = |calls: usize| {
        for number in 0..calls {
            let tool = changes[number % changes.len()];
            let arguments = json!({
                "task": UNKNOWN_RUN, "run_id": UNKNOWN_RUN, "text": "x", "summary": "s", "reason": "r", "name": "n",
                "key": format!("unknown {number}"),
            });
            let arguments = if number % 2 == 0 { arguments } else { without_key(arguments) };
            let (answer, is_error) =
                client.call_with(tool, arguments, json!({ "claudecode/toolUseId": format!("toolu_{number}") }));
            let code = answer["error"]["code"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
            assert!(is_error && ["not_found", "task_run_not_found"].contains(&code), "{tool}: {answer}");
        }
    };
    ask(100);
    assert!(!env.home().exists(), "no home was made");
    start(&env);
    let before = contents(&env);
    ask(1_000);
    assert_eq!(contents(&env), before);
}

fn without_key(mut arguments: Value) -> Value {
    arguments.as_object_mut().unwrap().remove("key");
    arguments
}

/// Every file of the home, and how many rows each table has.
fn contents(env: &TestEnv) -> (BTreeSet<PathBuf>, Vec<(String, u64)>) {
    let database = env.database().unwrap();
    let mut tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let count = |table: &String| database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
    let rows = tables.iter().map(|table| (table.clone(), count(table).unwrap())).collect();
    (files(&env.home()), rows)
}

fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { BTreeSet::new() };
    entries.flat_map(|path| below(path.clone()).into_iter().chain([path])).collect()
}
