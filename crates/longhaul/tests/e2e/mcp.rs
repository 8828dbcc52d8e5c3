//! `longhaul mcp` with a small client of our own: three protocol versions, rights, every tool against its schema, a task from submission to
//! its end, and a server that is killed. `bad_input` has what no good client sends, `sdk` the official client library.

mod bad_input;
mod client;
mod many;
mod resent;
mod sdk;
mod task_run;
mod tasks;

use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::env::{TestEnv, wait_for};
use crate::sight::{kill_9, send};

use client::{Client, MODERN, STILL_RUNNING, assert_fits};

const READERS: &[&str] = &[
    "agents",
    "diff",
    "list",
    "logs",
    "path",
    "plan",
    "preview",
    "report",
    "show",
    "task_run_get",
    "task_run_list",
    "wait",
    "why",
];
/// What an agent says about the task of its own session.
const REPORTS: &[&str] =
    &["task_run_checkpoint", "task_run_complete", "task_run_needs_help", "task_run_start", "task_run_update"];
const RUNNERS: &[&str] = &[
    "cancel",
    "pause",
    "rename",
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
const UNKNOWN_RUN: &str = "0190c5a4-7d4e-7c3a-8f00-000000000001";
const APPROVERS: &[&str] = &["accept_plan", "discard", "edit", "land", "reopen"];

fn server(env: &TestEnv, rights: &[&str]) -> Command {
    env.command(&[&["mcp"], rights].concat())
}

fn connect(env: &TestEnv) -> Client {
    Client::connect(server(env, &[]), "2025-11-25")
}

fn sorted(groups: &[&[&'static str]]) -> Vec<&'static str> {
    let mut names = groups.concat();
    names.sort_unstable();
    names
}

#[test]
fn three_protocol_versions_get_the_same_tools_and_answers() {
    let env = TestEnv::new();
    for version in ["2025-06-18", "2025-11-25", MODERN] {
        let mut client = Client::connect(server(&env, &[]), version);
        assert_eq!(client.tools(), sorted(&[READERS, RUNNERS]), "{version}");
        assert_eq!(client.ok("list", json!({}))["tasks"], json!([]), "{version}");
        assert_eq!(client.request("prompts/list", json!({}))["error"]["code"], -32601, "prompts are not declared");
        assert_eq!(client.close(), Some(0), "{version}: it ends with its client");
    }
    assert!(!env.home().exists(), "reading makes nothing");
}

#[test]
fn one_server_answers_discover_and_initialize_in_any_order() {
    let env = TestEnv::new();
    let mut client = Client::start(server(&env, &[]), MODERN);
    let found = client.request("server/discover", json!({}));
    assert_eq!(found["result"]["supportedVersions"], json!(["2025-06-18", "2025-11-25", MODERN]), "{found}");
    let instructions = found["result"]["instructions"].as_str().unwrap();
    assert!(instructions.len() < 4_096, "claude cuts them after 4,096 characters");
    let offered = json!({ "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    assert_eq!(found["result"]["capabilities"], offered, "no list ever changes: {found}");
    let old = client.initialize("2025-06-18");
    assert_eq!(old["result"]["protocolVersion"], "2025-06-18", "{old}");
    client.ok("list", json!({}));
    let mut client = Client::start(server(&env, &[]), "2025-11-25");
    client.initialize("2025-11-25");
    client.ok("list", json!({}));
    let mut unknown = Client::start(server(&env, &[]), "2031-01-01");
    let answer = unknown.initialize("2031-01-01");
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "the newest with a handshake: {answer}");
}

#[test]
fn tools_follow_from_the_rights_and_say_their_worst_case() {
    let env = TestEnv::new();
    for (rights, expected) in [
        (&[][..], sorted(&[READERS, RUNNERS])),
        (&["--rights", "read"], sorted(&[READERS, RUNNERS])),
        (&["--read-only"], sorted(&[READERS])),
        (&["--rights", "approve"], sorted(&[READERS, RUNNERS, APPROVERS])),
        (&["--rights", "write,admin"], sorted(&[READERS, RUNNERS, APPROVERS])),
    ] {
        assert_eq!(Client::connect(server(&env, rights), "2025-11-25").tools(), expected, "{rights:?}");
        let manifest = env.json(&[&["mcp", "tools"], rights].concat());
        let tools = manifest["tools"].as_array().unwrap();
        assert_eq!(tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), expected);
        tools.iter().for_each(check_manifest);
    }
    let mut reader = Client::connect(server(&env, &["--read-only"]), MODERN);
    assert_eq!(reader.error("submit", json!({ "goal": "g" }))["code"], "forbidden");
    assert_eq!(env.run(&["mcp", "--read-only", "--rights", "run"]).code, 2, "one contradicts the other");
    let refused = env.run(&["mcp", "--rights", "rule"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("the rights are read, run, approve and admin"), "{}", refused.stderr);
}

#[test]
fn a_prefix_gives_runs_the_names_that_openchrome_had() {
    let env = TestEnv::new();
    let prefix = ["--tool-prefix", "oc_"];
    let mut client = Client::connect(server(&env, &prefix), MODERN);
    let names: Vec<String> = sorted(&[READERS, RUNNERS]).iter().map(|name| format!("oc_{name}")).collect();
    assert_eq!(client.tools(), names);
    let listed = env.json(&[&["mcp", "tools"], &prefix[..]].concat());
    assert_eq!(listed["tools"][0]["name"].as_str(), names.first().map(String::as_str));
    let run = client.ok("oc_task_run_start", json!({ "goal": "g" }));
    let id = run["task_run"]["run_id"].as_str().unwrap();
    assert_eq!(client.ok("oc_task_run_get", json!({ "run_id": id }))["task_run"]["status"], "RUNNING");
    let unknown = client.request("tools/call", json!({ "name": "task_run_start", "arguments": { "goal": "g" } }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for bad in ["a b", "ä", "an_endless_prefix_"] {
        assert_eq!(env.run(&["mcp", "--tool-prefix", bad]).code, 2, "{bad}");
    }
}

fn check_manifest(tool: &Value) {
    let name = tool["name"].as_str().unwrap();
    let hint = |hint: &str| tool["annotations"][hint].as_bool().unwrap_or_else(|| panic!("{name} has no {hint}"));
    let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(hint);
    let expected = match name {
        "run" | "submit" | "retry" | "reopen" | "resume" => [false, true, false, true],
        "cancel" | "discard" | "land" | "task_run_complete" => [false, true, false, false],
        // It starts a worker if the task has none.
        "wait" => [false, false, false, false],
        _ if READERS.contains(&name) => [true, false, true, false],
        _ => [false, false, false, false],
    };
    assert_eq!(hints, expected, "{name}");
    for schema in ["inputSchema", "outputSchema"] {
        assert_eq!(tool[schema]["type"], "object", "{name}: {schema}");
    }
    for field in tool["inputSchema"]["required"].as_array().into_iter().flatten() {
        let text = tool["inputSchema"]["properties"][field.as_str().unwrap()]["description"].as_str().unwrap();
        assert!(text.starts_with("REQUIRED. "), "{name}: {text}");
    }
    let negative = std::panic::catch_unwind(|| assert_fits(name, &tool["outputSchema"], &json!({ "v": 1 })));
    assert!(negative.is_err(), "{name}: its schema accepts anything");
}

#[test]
fn a_task_from_submission_to_its_verified_end_and_every_tool_on_it() {
    let env = TestEnv::new();
    env.make_repository();
    let mut client = connect(&env);
    let goal = json!({ "goal": "Port the parser", "checks": ["true"], "key": "once", "wait_for_previous": true });
    let (first, _) = client.call("submit", goal.clone());
    let warnings = first["warnings"].as_array().unwrap();
    assert_eq!(warnings.last().unwrap(), "`submit` has no field `wait_for_previous`", "{first}");
    let name = first["data"]["name"].as_str().unwrap().to_owned();
    let (again, _) = client.call("submit", goal);
    assert_eq!((&again["repeated"], &again["data"]["id"]), (&true.into(), &first["data"]["id"]), "{again}");
    let end = client.settle(&name);
    assert_eq!((&end["result"], &end["is_finished"]), (&"verified".into(), &true.into()), "{end}");
    assert_eq!(end, env.json(&["show", &name])["task"], "the same task as on the command line");
    for tool in ["diff", "list", "logs", "plan", "report", "show", "wait", "why"] {
        client.ok(tool, json!({ "task": name }));
    }
    client.ok("agents", json!({}));
    for tool in ["cancel", "pause", "resume"] {
        assert_eq!(client.error(tool, json!({ "task": name }))["code"], "conflict", "{tool}");
    }
    assert_eq!(client.error("tell", json!({ "task": name, "text": "hello" }))["code"], "conflict");
    let retried = client.ok("retry", json!({ "task": name }));
    assert_eq!(client.settle(retried["name"].as_str().unwrap())["result"], "verified");
}

#[test]
fn every_tool_answers_wrong_types_and_unknown_tasks_with_an_error() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Something"]).code, 0);
    let mut client = Client::connect(server(&env, &["--rights", "approve"]), MODERN);
    for tool in client.tools().into_iter().map(str::to_owned).collect::<Vec<_>>() {
        let wrong = match tool.as_str() {
            "agents" => continue,
            "preview" | "run" | "submit" => json!({ "goal": "g", "checks": "cargo test" }),
            "list" => json!({ "all": "yes" }),
            "task_run_list" => json!({ "status": "ASLEEP" }),
            "task_run_start" => json!({ "goal": "g", "success_criteria": "all pages" }),
            _ if tool.starts_with("task_run_") => json!({ "run_id": 7, "summary": "s", "reason": "r" }),
            _ => json!({ "task": 7, "text": "x" }),
        };
        assert_eq!(client.error(&tool, wrong)["code"], "invalid_argument", "{tool}");
        if tool.starts_with("task_run_") && !["task_run_list", "task_run_start"].contains(&tool.as_str()) {
            let unknown = json!({ "run_id": UNKNOWN_RUN, "summary": "s", "reason": "r" });
            assert_eq!(client.error(&tool, unknown)["code"], "task_run_not_found", "{tool}");
        } else if !["list", "preview", "run", "submit", "task_run_list", "task_run_start"].contains(&tool.as_str()) {
            let unknown = json!({ "task": "no-such-task", "text": "x", "priority": 1, "name": "n", "goal": "g" });
            assert_eq!(client.error(&tool, unknown)["code"], "not_found", "{tool}");
        }
    }
    assert_eq!(client.error("submit", json!({}))["code"], "invalid_argument", "the goal is missing");
}

#[test]
fn what_needs_another_right_names_the_command_for_a_person() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    for (tool, arguments, command) in [
        ("edit", json!({ "task": "t", "priority": 1 }), "`longhaul edit TASK`"),
        ("accept_plan", json!({ "task": "t" }), "`longhaul plan TASK --accept FILE`"),
        ("resume", json!({ "task": "t", "settings": { "limits.max_sessions": "99" } }), "`longhaul resume TASK`"),
        ("submit", json!({ "goal": "g", "in_place": true }), "`longhaul run`"),
        ("run", json!({ "goal": "g", "in_place": true }), "`longhaul run`"),
        ("submit", json!({ "goal": "g", "settings": { "sandbox": "off" } }), "`longhaul run`"),
    ] {
        let refused = client.error(tool, arguments);
        assert_eq!(refused["code"], "forbidden", "{tool}: {refused}");
        assert!(refused["hints"][0].as_str().unwrap().contains(command), "{tool}: {refused}");
    }
    let unknown = client.request("tools/call", json!({ "name": "gc", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "admin is never a tool: {unknown}");
    assert!(!env.home().exists(), "nothing was made");
}

#[test]
fn run_answers_with_the_end_of_a_task_or_when_it_needs_a_person() {
    let env = TestEnv::new();
    env.make_repository();
    let mut client = connect(&env);
    let (end, _) = client.call("run", json!({ "goal": "Port the parser", "checks": ["true"], "key": "once" }));
    let end = if end["notes"].as_array().is_some_and(|notes| notes.contains(&STILL_RUNNING.into())) {
        client.settle(end["data"]["name"].as_str().unwrap())
    } else {
        end["data"].clone()
    };
    assert_eq!((&end["result"], &end["is_finished"]), (&"verified".into(), &true.into()), "{end}");
    let again = json!({ "goal": "Port the parser", "checks": ["true"], "key": "once", "timeout_ms": 1 });
    let (again, _) = client.call("run", again);
    assert_eq!((&again["repeated"], &again["data"]["id"]), (&true.into(), &end["id"]), "{again}");
    let (paused, _) = client.call("run", json!({ "goal": "One session", "once": true }));
    assert_eq!((&paused["data"]["needs_person"], &paused["data"]["state"]), (&true.into(), &"paused".into()));
    assert!(!paused.to_string().contains(STILL_RUNNING), "{paused}");
}

#[test]
fn run_reports_progress_and_a_task_that_outlives_the_call() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@1");
    env.make_repository();
    let mut client = connect(&env);
    let run = json!({ "goal": "Hang", "timeout_ms": 9_000 });
    let (answer, is_error) = client.call_with("run", run, json!({ "progressToken": 7 }));
    assert!(!is_error && answer["data"]["is_finished"] == false, "{answer}");
    assert!(answer["notes"].as_array().unwrap().contains(&STILL_RUNNING.into()), "{answer}");
    let progress = client.notifications.iter().filter(|message| message["params"]["progressToken"] == 7);
    assert!(progress.count() >= 2, "every few seconds: {:?}", client.notifications);
    client.ok("cancel", json!({ "task": answer["data"]["name"] }));
}

#[test]
fn wait_reports_progress_and_answers_before_a_client_gives_up() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@1");
    env.make_repository();
    let mut client = connect(&env);
    let name = client.ok("submit", json!({ "goal": "Hang" }))["name"].as_str().unwrap().to_owned();
    let wait = json!({ "task": name, "timeout_ms": 9_000 });
    let (answer, is_error) = client.call_with("wait", wait, json!({ "progressToken": "p1" }));
    assert!(!is_error && answer["data"]["is_finished"] == false, "{answer}");
    assert_eq!(answer["notes"], json!([STILL_RUNNING]), "{answer}");
    let progress = client.notifications.iter().filter(|message| message["params"]["progressToken"] == "p1");
    assert!(progress.count() >= 2, "every few seconds: {:?}", client.notifications);
    client.notifications.clear();
    client.ok("pause", json!({ "task": name, "now": true }));
    let (answer, _) = client.call("wait", json!({ "task": name }));
    assert_eq!((&answer["data"]["needs_person"], answer.get("notes")), (&true.into(), None), "at once: {answer}");
    assert!(client.notifications.is_empty(), "nobody asked for progress");
    client.ok("cancel", json!({ "task": name }));
}

#[test]
fn a_killed_server_loses_nothing_and_the_next_one_knows_the_task() {
    let env = TestEnv::new();
    env.make_repository();
    let mut client = connect(&env);
    let name = client.ok("submit", json!({ "goal": "Outlive it" }))["name"].as_str().unwrap().to_owned();
    kill_9(client.child.id().cast_signed());
    assert_eq!(client.child.wait().unwrap().code(), None, "it was killed");
    let mut next = Client::connect(server(&env, &[]), MODERN);
    assert_eq!(next.settle(&name)["outcome"], "done");
}

#[test]
fn a_signal_ends_the_server_and_not_its_tasks() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
        env.make_repository();
        let mut client = connect(&env);
        let name = client.ok("submit", json!({ "goal": format!("{signal}") }))["name"].as_str().unwrap().to_owned();
        let live = env.live(&name, 2);
        send(client.child.id().cast_signed(), signal);
        wait_for("the server to end", || client.child.try_wait().unwrap());
        assert!(crate::sight::alive(live.agent), "the task goes on");
        env.ok(&["cancel", &name]);
    }
}

#[test]
fn a_task_runs_with_the_servers_environment_and_a_missing_variable_is_named() {
    let env = TestEnv::new();
    env.make_repository();
    let mut client = connect(&env);
    let check = "test -n \"$ACME_API_KEY\"";
    let needs = json!({ "goal": "g", "checks": [check], "settings": { "env.need": "ACME_API_KEY" } });
    let refused = client.error("submit", needs.clone());
    assert_eq!(refused["code"], "invalid_argument", "{refused}");
    assert!(refused["message"].as_str().unwrap().ends_with("did not pass on: `ACME_API_KEY`"), "{refused}");
    let mut command = server(&env, &[]);
    command.env("ACME_API_KEY", "a-test-value");
    let mut client = Client::connect(command, "2025-06-18");
    let task = client.ok("submit", needs)["name"].as_str().unwrap().to_owned();
    let end = client.settle(&task);
    assert_eq!((&end["is_finished"], &end["needs_person"]), (&true.into(), &false.into()), "the check passed: {end}");
}

#[test]
fn below_a_session_only_that_sessions_rights_count() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    env.make_repository();
    let parent = env.submit("Parent", &[]);
    let live = env.live(&parent, 2);
    let stranger = env.submit("Stranger", &[]);
    let mut command = server(&env, &["--rights", "approve,admin"]);
    command.env("LONGHAUL_SESSION", &live.session);
    let mut client = Client::connect(command, "2025-06-18");
    assert_eq!(client.tools(), sorted(&[READERS, REPORTS, &["run", "submit"]]));
    for tool in ["pause", "cancel", "resume", "retry", "edit", "accept_plan"] {
        let refused = client.error(tool, json!({ "task": parent, "priority": 1 }));
        assert_eq!(refused["code"], "forbidden", "{tool}: {refused}");
    }
    assert_eq!(client.ok("show", json!({ "task": parent }))["task"]["name"], parent.as_str());
    assert_eq!(client.error("show", json!({ "task": stranger }))["code"], "not_found", "it looks like none");
    let child = client.ok("submit", json!({ "goal": "A child" }));
    let own = env.json(&["show", &parent])["task"]["id"].clone();
    assert_eq!(child["parent"], own, "{child}");
    let started = client.ok("task_run_start", json!({ "goal": "another run" }));
    assert_eq!(started["task_run"]["run_id"], own, "its own task, and no other run: {started}");
    for (run_id, code) in [(&child["id"], "forbidden"), (&env.task(&stranger)["id"], "task_run_not_found")] {
        for tool in REPORTS.iter().filter(|tool| **tool != "task_run_start") {
            let refused = client.error(tool, json!({ "run_id": run_id, "summary": "x", "reason": "x" }));
            assert_eq!(refused["code"], code, "{tool}: {refused}");
        }
    }
    assert_eq!(client.ok("task_run_update", json!({ "run_id": own }))["task_run"]["driver"], "supervised");
    for name in [&stranger, child["name"].as_str().unwrap()] {
        let kinds = env.kinds(name);
        assert!(!kinds.iter().any(|kind| ["reported", "help_asked", "said_done"].contains(&&**kind)), "{kinds:?}");
    }
}
