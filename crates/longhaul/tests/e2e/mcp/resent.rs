//! Calls that come again because a client got no answer: with a key, with the client's own id of the call, or with neither.
//! Every tool that changes something is carried out once, also when servers are killed before they answer.

use serde_json::{Value, json};

use super::client::{Client, HANG, call};
use super::{connect, server};
use crate::env::{TestEnv, wait_for};
use crate::landing;
use crate::sight::kill_9;

/// What the tests below send again. Whoever adds a tool that changes something sends it again too.
const SENT_AGAIN: [&str; 18] = [
    "accept_plan",
    "cancel",
    "discard",
    "edit",
    "land",
    "pause",
    "rename",
    "reopen",
    "resume",
    "retry",
    "run",
    "submit",
    "task_run_checkpoint",
    "task_run_complete",
    "task_run_needs_help",
    "task_run_start",
    "task_run_update",
    "tell",
];

/// A client that may do everything that is a tool.
fn steward(env: &TestEnv) -> Client {
    Client::connect(server(env, &["--rights", "approve"]), "2025-11-25")
}

fn claude(id: &str) -> Value {
    json!({ "claudecode/toolUseId": id })
}

fn tasks(env: &TestEnv) -> usize {
    env.json(&["list", "--all"])["tasks"].as_array().unwrap().len()
}

/// Sends a call three times: to a server that is killed at once, to one that is killed later, and to one that answers twice.
fn send_again(env: &TestEnv, tool: &str, arguments: &Value) -> Value {
    assert!(SENT_AGAIN.contains(&tool), "{tool}");
    let meta = || claude(&format!("toolu_{tool}_{arguments}"));
    let mut cut = steward(env);
    cut.post("tools/call", call(tool, arguments.clone(), meta()));
    kill_9(cut.child.id().cast_signed());
    let mut late = steward(env);
    late.post("tools/call", call(tool, arguments.clone(), meta()));
    let mut third = steward(env);
    let (first, is_error) = third.call_with(tool, arguments.clone(), meta());
    assert!(!is_error, "{tool}: {first}");
    let (again, is_error) = third.call_with(tool, arguments.clone(), meta());
    assert!(!is_error && again["repeated"] == true, "{tool}: {again}");
    kill_9(late.child.id().cast_signed());
    for mut killed in [cut, late] {
        killed.child.wait().unwrap();
    }
    again["data"].clone()
}

#[test]
fn every_tool_that_changes_something_is_carried_out_once() {
    let env = TestEnv::new().var("DEMO_FAULT", HANG);
    env.make_repository();
    let submitted = send_again(&env, "submit", &json!({ "goal": "Hang on" }));
    let name = submitted["name"].as_str().unwrap().to_owned();
    assert_eq!(tasks(&env), 1);
    env.live(&name, 1);
    let on_task = |more: Value| {
        let mut arguments = json!({ "task": name });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let counted = |kind: &str| env.kinds(&name).iter().filter(|found| *found == kind).count();
    send_again(&env, "tell", &on_task(json!({ "text": "be brief" })));
    assert_eq!(counted("told"), 1, "{:?}", env.kinds(&name));
    send_again(&env, "pause", &on_task(json!({ "now": true })));
    assert_eq!((counted("paused"), env.state(&name).as_str()), (1, "paused"));
    send_again(&env, "resume", &on_task(json!({})));
    assert_eq!(counted("resumed"), 1, "{:?}", env.kinds(&name));
    env.live(&name, 2);
    send_again(&env, "cancel", &on_task(json!({})));
    assert_eq!((counted("cancelled"), env.state(&name).as_str()), (1, "cancelled"));
    let retried = send_again(&env, "retry", &on_task(json!({})));
    assert_eq!(tasks(&env), 2);
    env.ok(&["cancel", retried["name"].as_str().unwrap()]);
    let run = send_again(&env, "run", &json!({ "goal": "Another one", "timeout_ms": 1 }));
    assert_eq!(tasks(&env), 3);
    env.ok(&["cancel", run["name"].as_str().unwrap()]);
}

#[test]
fn what_needs_approval_is_carried_out_once_too() {
    let env = landing::repository();
    env.ok(&["run", "Paused after its plan", "-n", "t", "--once", "-d"]);
    assert_eq!(env.settle("t"), "paused");
    let counted = |task: &str, kind: &str| env.kinds(task).iter().filter(|found| *found == kind).count();
    send_again(&env, "edit", &json!({ "task": "t", "priority": 3 }));
    assert_eq!(counted("t", "edited"), 1);
    send_again(&env, "accept_plan", &json!({ "task": "t", "text": "## Tasks\n\n- [ ] Task 1: the only one\n" }));
    assert_eq!(counted("t", "plan_accepted"), 1);
    send_again(&env, "rename", &json!({ "task": "t", "name": "later" }));
    assert_eq!(counted("later", "edited"), 2, "once before");
    landing::finished(&env, "good", &["--check", "true"]);
    landing::finished(&env, "bad", &["--check", "true"]);
    send_again(&env, "discard", &json!({ "task": "bad" }));
    send_again(&env, "land", &json!({ "task": "good" }));
    let rest = || env.task_branches().into_iter().filter(|branch| !branch.ends_with("/t")).collect::<Vec<_>>();
    wait_for("the end of both", || rest().is_empty().then_some(()));
    assert_eq!(env.git(&["log", "--format=%s", "main"]), "Port the parser\nbegin", "one commit");
    wait_for("the end of both follow-ups", || (tasks(&env) == 3).then_some(()));
    let reopened = send_again(&env, "reopen", &json!({ "task": "good", "goal": "Now also the docs" }));
    assert_eq!(tasks(&env), 4);
    env.ok(&["cancel", reopened["name"].as_str().unwrap()]);
}

#[test]
fn every_tool_that_changes_something_was_sent_again() {
    let manifest = TestEnv::new().json(&["mcp", "tools", "--rights", "approve"]);
    let tools = manifest["tools"].as_array().unwrap().iter();
    let changing = tools.filter(|tool| tool["annotations"]["readOnlyHint"] == false);
    let names: Vec<&str> = changing.map(|tool| tool["name"].as_str().unwrap()).filter(|name| *name != "wait").collect();
    assert_eq!(names, SENT_AGAIN);
}

#[test]
fn every_report_of_a_run_is_kept_once() {
    let env = TestEnv::new();
    let started = send_again(&env, "task_run_start", &json!({ "goal": "Crawl" }));
    let run_id = started["task_run"]["run_id"].as_str().unwrap();
    for (tool, more) in [
        ("task_run_update", json!({ "progress_summary": "half" })),
        ("task_run_checkpoint", json!({ "summary": "page 3" })),
        ("task_run_needs_help", json!({ "reason": "a login" })),
        ("task_run_complete", json!({ "status": "CANCELLED" })),
    ] {
        let mut arguments = more;
        arguments["run_id"] = run_id.into();
        send_again(&env, tool, &arguments);
    }
    let asked = json!({ "run_id": run_id, "include_events": true });
    let found = connect(&env).ok("task_run_get", asked);
    let kinds: Vec<&str> =
        found["events"].as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["started", "updated", "checkpointed", "needs_help", "cancelled"], "{found}");
    assert_eq!(tasks(&env), 1);
}

#[test]
fn an_id_of_a_call_names_one_request_and_no_key_of_anyone() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    let start = |goal: &str| json!({ "goal": goal });
    let codex = json!({ "callId": "call_1", "threadId": "t1" });
    let (first, _) = client.call_with("task_run_start", start("a"), codex.clone());
    let (again, _) = client.call_with("task_run_start", start("a"), codex.clone());
    assert_eq!((&again["repeated"], &again["data"]), (&json!(true), &first["data"]), "{again}");
    let (other, is_error) = client.call_with("task_run_start", start("b"), codex.clone());
    assert!(is_error && other["error"]["code"] == "conflict", "{other}");
    for (arguments, meta) in [
        (json!({ "goal": "a", "key": "new" }), codex),
        (json!({ "goal": "a", "key": "codex/t1/call_1" }), json!({})),
        (start("a"), json!({ "callId": "call_1", "threadId": "t2" })),
        (start("a"), claude("call_1")),
        (start("a"), json!({})),
        (start("a"), json!({ "callId": 7, "claudecode/toolUseId": "" })),
    ] {
        let (answer, is_error) = client.call_with("task_run_start", arguments, meta.clone());
        assert!(!is_error && answer.get("repeated").is_none(), "{meta}: {answer}");
    }
    assert_eq!(tasks(&env), 7, "nobody guesses about runs");
    let refused = client.error("task_run_start", json!({ "goal": "a", "key": "\u{1f}id/codex/t1/call_1" }));
    assert_eq!(refused["code"], "invalid_argument", "{refused}");
}

#[test]
fn an_equal_submission_is_presumed_to_be_a_repeat_while_its_task_is_at_work() {
    let env = TestEnv::new().var("DEMO_FAULT", HANG);
    env.make_repository();
    let mut client = connect(&env);
    for tool in ["submit", "run"] {
        // Only `run` has a time to wait; it is no part of what is asked for.
        let ask = |goal: &str| match tool {
            "run" => json!({ "goal": format!("{tool} {goal}"), "timeout_ms": 1 }),
            _ => json!({ "goal": format!("{tool} {goal}") }),
        };
        let submit = |client: &mut Client, arguments: Value| {
            let (answer, is_error) = client.call(tool, arguments);
            assert!(!is_error, "{answer}");
            answer
        };
        let first = submit(&mut client, ask("it"));
        assert_eq!((first.get("deduplicated"), first.get("repeated")), (None, None), "{first}");
        let again = submit(&mut connect(&env), ask("it"));
        assert_eq!((&again["deduplicated"], &again["repeated"]), (&json!(true), &json!(true)), "{again}");
        assert_eq!(again["data"]["id"], first["data"]["id"]);
        let notes = again["notes"].to_string();
        assert!(notes.contains("pass a new `key` to start another task"), "{notes}");
        assert!(submit(&mut client, ask("else")).get("deduplicated").is_none());
        let mut keyed = ask("it");
        keyed["key"] = tool.into();
        assert!(submit(&mut client, keyed).get("deduplicated").is_none());
        let (other, _) = client.call_with(tool, ask("it"), claude(&format!("toolu_{tool}")));
        assert!(other.get("deduplicated").is_none(), "the client knows its calls: {other}");

        let name = first["data"]["name"].as_str().unwrap();
        env.ok(&["pause", name, "--now"]);
        let next = submit(&mut client, ask("it"));
        assert!(next.get("deduplicated").is_none(), "the first one needs a person: {next}");
        env.ok(&["cancel", next["data"]["name"].as_str().unwrap()]);
        assert!(submit(&mut client, ask("it")).get("deduplicated").is_none(), "the second one is finished");
    }
}

#[test]
fn of_equal_calls_at_once_one_starts_a_task() {
    let env = TestEnv::new().var("DEMO_FAULT", HANG);
    env.make_repository();
    for tool in ["submit", "run"] {
        let mut clients: Vec<Client> = (0..4).map(|_| connect(&env)).collect();
        let arguments = || json!({ "goal": format!("At once: {tool}") });
        let ids: Vec<[u64; 2]> = clients
            .iter_mut()
            .map(|client| [(); 2].map(|()| client.post("tools/call", call(tool, arguments(), json!({})))))
            .collect();
        if tool == "submit" {
            let answers: Vec<Value> =
                clients.iter_mut().zip(ids).flat_map(|(client, ids)| ids.map(|id| client.response(id))).collect();
            let fresh = answers.iter().filter(|answer| answer["result"]["structuredContent"]["deduplicated"] != true);
            assert_eq!(fresh.count(), 1, "{answers:?}");
            env.ok(&["cancel", "at-once-submit"]);
        }
    }
    env.live("at-once-run", 1);
    assert_eq!(tasks(&env), 2);
    env.ok(&["cancel", "at-once-run"]);
}
