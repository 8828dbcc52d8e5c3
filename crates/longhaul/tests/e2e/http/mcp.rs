//! MCP over HTTP: the same tools and answers as on standard input and output, for callers with a key.

use serde_json::{Value, json};

use crate::env::TestEnv;

use super::client::{Answer, Serving};
use super::{key, reader, runner};

const MODERN: &str = "2026-07-28";

/// One message of a client of this protocol version.
fn post(serving: &Serving, key: &str, version: &str, method: &str, mut params: Value) -> Answer {
    if version == MODERN {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
        let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let declared = if method.starts_with("tasks/") { tasks } else { json!({}) };
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = declared;
    }
    let bearer = format!("Bearer {key}");
    let name = params["name"].as_str().or(params["taskId"].as_str()).map(str::to_owned);
    let mut headers = vec![
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", version),
    ];
    headers.extend((version == MODERN).then_some(("mcp-method", method)));
    headers.extend(name.iter().filter(|_| version == MODERN).map(|name| ("mcp-name", name.as_str())));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    serving.send("POST", "/mcp", &headers, &body)
}

/// The messages of an answer, which is one document or a stream.
fn messages(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    parsed(answer)
}

fn parsed(answer: &Answer) -> Vec<Value> {
    let lines = answer.body.lines().filter_map(|line| line.strip_prefix("data: ").or(Some(line)));
    lines.filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object).collect()
}

fn result(answer: &Answer) -> Value {
    messages(answer).pop().unwrap_or_else(|| panic!("{answer:?}"))["result"].clone()
}

#[test]
fn three_protocol_versions_get_the_tools_of_their_key() {
    let env = TestEnv::new();
    let (reader, runner) = (reader(&env), runner(&env));
    let serving = Serving::start(&env, &["--no-worker"]);
    for version in ["2025-06-18", "2025-11-25", MODERN] {
        let tools = |key: &str| {
            let listed = result(&post(&serving, key, version, "tools/list", json!({})));
            let names = listed["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).iter();
            names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(tools(&runner).contains(&"submit".to_owned()), "{version}");
        assert!(!tools(&reader).contains(&"submit".to_owned()) && tools(&reader).contains(&"list".to_owned()));
        let call = |key: &str, tool: &str, arguments: Value| {
            result(&post(&serving, key, version, "tools/call", json!({ "name": tool, "arguments": arguments })))
        };
        let started = call(&runner, "task_run_start", json!({ "goal": version }));
        assert_eq!(started["isError"], false, "{started}");
        let refused = call(&reader, "task_run_start", json!({ "goal": version }));
        assert_eq!(refused["structuredContent"]["error"]["code"], "forbidden", "{refused}");
        let listed = call(&reader, "task_run_list", json!({}));
        assert!(listed["structuredContent"].to_string().contains(version), "{listed}");
    }
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let opened = result(&post(&serving, &reader, "2025-11-25", "initialize", hello));
    assert_eq!(opened["serverInfo"]["name"], "longhaul", "{opened}");
}

#[test]
fn tenants_are_those_of_the_keys() {
    let env = TestEnv::new();
    let keys = ["default", "acme"].map(|tenant| key(&env, tenant, "run", tenant));
    let serving = Serving::start(&env, &["--no-worker"]);
    let call = |key: &str, tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        result(&post(&serving, key, MODERN, "tools/call", params))["structuredContent"].clone()
    };
    let run = call(&keys[0], "task_run_start", json!({ "goal": "secret-goal" }));
    let id = &run["data"]["task_run"]["run_id"];
    assert_eq!(call(&keys[1], "task_run_get", json!({ "run_id": id }))["error"]["code"], "task_run_not_found");
    assert_eq!(call(&keys[1], "task_run_list", json!({}))["data"]["task_runs"], json!([]));
    assert_eq!(call(&keys[0], "task_run_get", json!({ "run_id": id }))["data"]["task_run"]["goal"], "secret-goal");
}

#[test]
fn a_handle_of_another_tenant_is_unknown() {
    let env = TestEnv::new();
    let keys = ["default", "acme"].map(|tenant| key(&env, tenant, "run", tenant));
    let serving = Serving::start(&env, &["--no-worker"]);
    let run = serving.post(&keys[0], "/api/v1/runs", &json!({ "goal": "secret-goal" })).data();
    let id = run["task_run"]["run_id"].as_str().unwrap();
    let ask = |key: &str, method: &str, id: &str| {
        let answer = post(&serving, key, MODERN, method, json!({ "taskId": id, "inputResponses": {} }));
        parsed(&answer).pop().unwrap_or_else(|| panic!("{answer:?}"))
    };
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let unknown = ask(&keys[1], method, "0190c5a4-7d4e-7c3a-8f00-000000000001");
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        assert_eq!(ask(&keys[1], method, id), unknown, "{method}");
    }
    assert_eq!(ask(&keys[0], "tasks/get", id)["result"]["status"], "working", "the control, and nobody cancelled it");
}

/// Claude gives up after 60 seconds without a byte.
#[test]
fn a_long_call_sends_progress_soon() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    let run = serving.post(&key, "/api/v1/runs", &json!({ "goal": "g" })).data();
    let params = json!({
        "name": "wait",
        "arguments": { "task": run["task_run"]["run_id"], "timeout_ms": 6_000 },
        "_meta": { "progressToken": 7 },
    });
    let began = std::time::Instant::now();
    let all = messages(&post(&serving, &key, MODERN, "tools/call", params));
    assert!(began.elapsed().as_secs() >= 6, "it waited");
    assert_eq!(all[0]["method"], "notifications/progress", "{all:?}");
    assert_eq!(all[0]["params"]["progressToken"], 7);
    assert_eq!(all.last().unwrap()["result"]["isError"], false, "{all:?}");
}

#[test]
fn bad_messages_get_an_answer() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(10 << 20));
    let bad = (400, "invalid_argument");
    for (body, (status, code)) in [("not json", bad), (&*"[".repeat(10_000), bad), (&long, (413, "body_too_large"))] {
        let headers = [
            ("authorization", &*format!("Bearer {key}")),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let answer = serving.send("POST", "/mcp", &headers, body);
        assert_eq!(answer.error(), (status, code.to_owned()), "{body:.20}: {answer:?}");
    }
    let unknown = post(&serving, &key, MODERN, "tools/call", json!({ "name": "no_such_tool", "arguments": {} }));
    assert!(unknown.body.contains("error"), "{unknown:?}");
}
