//! `run` as a task of the extension `io.modelcontextprotocol/tasks`: a handle that any later server knows, from the store alone.

use serde_json::{Value, json};

use super::client::{Client, HANG, MODERN, call};
use super::{UNKNOWN_RUN, connect, server};
use crate::env::{TestEnv, wait_for};
use crate::sight::kill_9;

fn declared() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

/// A client that takes tasks.
fn with_tasks(env: &TestEnv) -> Client {
    let mut client = Client::connect(server(env, &[]), MODERN);
    client.capabilities = declared();
    client
}

/// Calls `run` and returns the handle.
fn run(client: &mut Client, arguments: Value, meta: Value) -> Value {
    let response = client.request("tools/call", call("run", arguments, meta));
    let handle = response["result"].clone();
    assert_eq!(handle["resultType"], "task", "{response}");
    assert_eq!((&handle["status"], &handle["ttlMs"]), (&json!("working"), &Value::Null), "{handle}");
    assert_eq!(handle["pollIntervalMs"], 2_000, "{handle}");
    handle
}

fn ask(client: &mut Client, method: &str, task: &Value) -> Value {
    // Only `tasks/update` has answers; the others ignore them.
    client.request(method, json!({ "taskId": task, "inputResponses": {} }))
}

fn get(client: &mut Client, task: &Value) -> Value {
    let response = ask(client, "tasks/get", task);
    let found = response["result"].clone();
    assert_eq!((&found["taskId"], &found["resultType"]), (task, &json!("complete")), "{response}");
    let poll = found["pollIntervalMs"].as_u64().unwrap();
    assert!((2_000..=15_000).contains(&poll), "{found}");
    assert!(found["createdAt"].is_string() && found["lastUpdatedAt"].is_string(), "{found}");
    found
}

/// Polls until the status is another one.
fn end(client: &mut Client, task: &Value) -> Value {
    wait_for("the end of the task", || Some(get(client, task)).filter(|found| found["status"] != "working"))
}

fn acknowledged(client: &mut Client, method: &str, task: &Value) {
    let response = ask(client, method, task);
    assert_eq!(response["result"], json!({ "resultType": "complete" }), "{method}: {response}");
}

#[test]
fn a_handle_outlives_its_server_and_ends_with_the_verdict() {
    let env = TestEnv::new();
    env.make_repository();
    let mut first = with_tasks(&env);
    let handle = run(&mut first, json!({ "goal": "Port the parser", "checks": ["true"] }), json!({}));
    let task = &handle["taskId"];
    let listed = env.json(&["list", "--all"]);
    assert_eq!((&listed["tasks"][0]["id"], &listed["tasks"][1]), (task, &Value::Null), "it is durable");
    kill_9(first.child.id().cast_signed());
    let mut second = with_tasks(&env);
    let ended = end(&mut second, task);
    assert_eq!(ended["status"], "completed", "{ended}");
    let (answer, is_error) = second.checked("run", &ended["result"]);
    assert_eq!((&answer["data"]["result"], is_error), (&json!("verified"), false), "{answer}");
    assert_eq!(answer["data"], env.json(&["show", task.as_str().unwrap()])["task"]);
    acknowledged(&mut second, "tasks/cancel", task);
    assert_eq!(get(&mut with_tasks(&env), task), ended, "an end never changes");
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn only_a_request_that_declares_the_extension_gets_a_handle() {
    let env = TestEnv::new().var("DEMO_FAULT", HANG);
    env.make_repository();
    let brief = |goal: &str| json!({ "goal": goal, "timeout_ms": 1 });
    let mut modern = Client::connect(server(&env, &[]), MODERN);
    let (plain, _) = modern.call("run", brief("not declared"));
    let task = plain["data"]["id"].clone();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let response = ask(&mut modern, method, &task);
        assert_eq!(response["error"]["code"], -32021, "{method}: {response}");
        assert_eq!(response["error"]["data"]["requiredCapabilities"], declared(), "{method}: {response}");
    }
    modern.capabilities = declared();
    run(&mut modern, brief("declared later"), json!({}));
    let other = modern.request("tools/call", call("submit", json!({ "goal": "another tool" }), json!({})));
    assert_eq!(other["result"]["resultType"], "complete", "{other}");
    let refused = modern.error("run", json!({ "goal": "" }));
    assert_eq!(refused["code"], "invalid_argument", "nothing was started, so there is no handle: {refused}");
    for version in ["2025-06-18", "2025-11-25"] {
        let mut legacy = Client::start(server(&env, &[]), version);
        legacy.capabilities = declared();
        legacy.initialize(version);
        legacy.ok("run", brief(version));
    }
    for task in env.json(&["list"])["tasks"].as_array().unwrap() {
        env.ok(&["cancel", task["name"].as_str().unwrap()]);
    }
}

#[test]
fn a_task_that_needs_a_person_is_theirs() {
    let env = TestEnv::new();
    env.make_repository();
    let mut client = with_tasks(&env);
    let handle = run(&mut client, json!({ "goal": "One session", "once": true }), json!({}));
    let task = &handle["taskId"];
    assert_eq!(env.settle("one-session"), "paused");
    let waiting = get(&mut client, task);
    assert_eq!(waiting["status"], "working", "no form, and no end: {waiting}");
    assert!(waiting["statusMessage"].as_str().unwrap().contains("`longhaul resume one-session`"), "{waiting}");
    let before = env.events("one-session");
    for method in ["tasks/cancel", "tasks/cancel", "tasks/update"] {
        acknowledged(&mut client, method, task);
    }
    let answers = json!({ "taskId": task, "inputResponses": { "q1": { "action": "accept", "content": {} } } });
    assert_eq!(client.request("tasks/update", answers)["result"], json!({ "resultType": "complete" }));
    assert_eq!(env.events("one-session"), before, "nothing was undone");
    env.ok(&["edit", "one-session", "--max-sessions", "9"]);
    env.ok(&["cancel", "one-session", "--reason", "no longer wanted"]);
    let cancelled = end(&mut client, task);
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert!(cancelled["statusMessage"].as_str().unwrap().contains("no longer wanted"), "{cancelled}");
}

#[test]
fn a_client_cancels_as_often_as_it_likes() {
    let env = TestEnv::new().var("DEMO_FAULT", HANG);
    env.make_repository();
    let mut client = with_tasks(&env);
    let handle = run(&mut client, json!({ "goal": "Hang" }), json!({}));
    let task = &handle["taskId"];
    env.live("hang", 1);
    let ids = [(); 2].map(|()| client.post("tasks/cancel", json!({ "taskId": task })));
    for id in ids {
        assert_eq!(client.response(id)["result"], json!({ "resultType": "complete" }));
    }
    acknowledged(&mut client, "tasks/cancel", task);
    let cancelled = end(&mut client, task);
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert!(cancelled["statusMessage"].as_str().unwrap().contains("the MCP client cancelled the call"), "{cancelled}");
    assert_eq!(env.kinds("hang").iter().filter(|kind| *kind == "cancelled").count(), 1);
}

#[test]
fn a_resent_call_gets_the_same_handle() {
    let env = TestEnv::new().var("DEMO_FAULT", HANG);
    env.make_repository();
    let goal = || json!({ "goal": "Hang" });
    for meta in [json!({ "claudecode/toolUseId": "toolu_1" }), json!({})] {
        let first = run(&mut with_tasks(&env), goal(), meta.clone());
        let again = run(&mut with_tasks(&env), goal(), meta.clone());
        assert_eq!(first["taskId"], again["taskId"], "{meta}");
    }
    assert_eq!(env.json(&["list"])["tasks"].as_array().unwrap().len(), 2);
    env.ok(&["cancel", "hang"]);
    env.ok(&["cancel", "hang-2"]);
}

#[test]
fn unknown_and_foreign_handles_are_the_same() {
    let env = TestEnv::new().var("DEMO_FAULT", HANG);
    let refused = |client: &mut Client, task: &Value| {
        let asked =
            ["tasks/get", "tasks/update", "tasks/cancel"].map(|method| ask(client, method, task)["error"].clone());
        asked.into_iter().for_each(|error| {
            assert_eq!(error, json!({ "code": -32602, "message": "there is no task with this taskId" }), "{task}");
        });
    };
    let mut client = with_tasks(&env);
    let odd = ["", " ", "hang", "../../etc/passwd", "a\u{0}b", "01A1EF8E-5252-700B-B72B-8D9C240C0D6A", UNKNOWN_RUN];
    odd.iter().for_each(|task| refused(&mut client, &json!(task)));
    assert!(!env.home().exists(), "nothing was made");
    let parent = env.submit("Parent", &[]);
    let live = env.live(&parent, 1);
    let stranger = env.submit("Stranger", &[]);
    let id = env.json(&["show", &stranger])["task"]["id"].clone();
    assert_eq!(get(&mut client, &id)["status"], "working", "the control");
    let mut command = server(&env, &[]);
    command.env("LONGHAUL_SESSION", &live.session);
    let mut below = Client::connect(command, MODERN);
    below.capabilities = declared();
    refused(&mut below, &id);
    assert_ne!(env.state(&stranger), "cancelled");
}

#[test]
fn what_is_our_fault_is_no_result() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    let given_up = client.ok("task_run_start", json!({ "goal": "Buy tickets" }))["task_run"]["run_id"].clone();
    let damaged = client.ok("task_run_start", json!({ "goal": "Buy bread" }))["task_run"]["run_id"].clone();
    client.ok("task_run_complete", json!({ "run_id": given_up, "status": "FAILED", "progress_summary": "sold out" }));
    let mut client = with_tasks(&env);
    let failed = end(&mut client, &given_up);
    assert_eq!((&failed["status"], &failed["result"]["isError"]), (&json!("completed"), &json!(true)), "{failed}");
    assert!(failed["result"]["content"][0]["text"].as_str().unwrap().contains("sold out"), "{failed}");
    assert_eq!(get(&mut client, &damaged)["status"], "working", "the control");
    let change = "UPDATE tasks SET head = 'half' WHERE id = ?1";
    let database = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    assert_eq!(database.execute(change, [damaged.as_str().unwrap()]).unwrap(), 1);
    let broken = get(&mut with_tasks(&env), &damaged);
    assert_eq!((&broken["status"], &broken["error"]["code"]), (&json!("failed"), &json!(-32603)), "{broken}");
    assert!(broken["error"]["message"].as_str().unwrap().contains("damaged"), "{broken}");
}
