//! What no good client sends: the server answers or ignores it, and the next good request is answered.

use serde_json::{Value, json};

use super::client::{Client, MODERN};
use super::{connect, server};
use crate::env::TestEnv;

#[test]
fn lines_that_are_no_request_do_not_end_the_server() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"list","arguments":{deep}}}}}"#);
    for line in ["", "not JSON", "\u{1b}[31m\u{0}", "{", "[]", "null", "7", r#"{"jsonrpc":"2.0"}"#, &nested, &deep] {
        client.send(line);
        client.ok("list", json!({}));
    }
    assert!(!env.home().exists(), "nothing was made");
}

#[test]
fn long_lines_are_read_or_dropped_and_make_nothing() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    let megabytes = |count: usize| "a".repeat(count << 20);
    let long = client.error("tell", json!({ "task": "t", "text": megabytes(10) }));
    assert_eq!(long["code"], "not_found", "{long}");
    let goal = client.error("submit", json!({ "goal": megabytes(10) }));
    assert_eq!(goal["code"], "invalid_argument", "{goal}");
    client.send(&megabytes(17));
    assert_eq!(client.ok("list", json!({ "all": true }))["tasks"], json!([]));
}

#[test]
fn calls_of_the_wrong_shape_are_refused_with_a_sentence() {
    let env = TestEnv::new();
    let mut client = Client::connect(server(&env, &[]), "2025-06-18");
    for version in ["2025-06-18", MODERN] {
        let mut client = Client::connect(server(&env, &[]), version);
        for arguments in [json!("all"), json!(["all"]), json!(7), json!(true)] {
            let refused = client.error("list", arguments);
            assert_eq!(refused["code"], "invalid_argument", "{version}: {refused}");
            assert!(refused["message"].as_str().unwrap().contains("must be an object"), "{version}: {refused}");
        }
        client.ok("list", Value::Null);
    }
    for params in [json!({ "name": "gc", "arguments": "all" }), json!({ "name": 7 }), json!({})] {
        let answer = client.request("tools/call", params.clone());
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("`arguments` as an object"), "{answer}");
    }
    for task in ["../../etc/passwd", "a\u{0}b", "", " ", "T", "01A1EF8E-5252-700B-B72B-8D9C240C0D6A"] {
        let refused = client.error("show", json!({ "task": task }));
        assert!(["not_found", "invalid_argument"].contains(&refused["code"].as_str().unwrap()), "{task}: {refused}");
    }
    assert_eq!(client.request("no/such/method", json!({}))["error"]["code"], -32601);
    for params in [json!({}), json!({ "taskId": 7 })] {
        assert_eq!(client.request("tasks/get", params)["error"]["code"], -32602);
    }
}

#[test]
fn unknown_arguments_are_named_at_every_depth() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    let run = client.ok("task_run_start", json!({ "goal": "Crawl" }))["task_run"]["run_id"].clone();
    let update = json!({
        "run_id": run,
        "wait_for_previous": true,
        "last_evidence": [{ "kind": "file", "ref": "a.txt", "sumary": "typo" }],
        "failed_items": [{ "item": "a", "reason": "b", "code": 7 }],
    });
    let (answer, is_error) = client.call("task_run_update", update);
    assert!(!is_error, "{answer}");
    let warnings: Vec<&str> = answer["warnings"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    for field in ["failed_items[].code", "last_evidence[].sumary", "wait_for_previous"] {
        assert!(warnings.contains(&format!("`task_run_update` has no field `{field}`").as_str()), "{answer}");
    }
}
