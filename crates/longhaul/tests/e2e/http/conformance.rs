//! The official conformance suite for servers of MCP, on the real server. It wants tools of its own, so a proxy in front of the server offers
//! ours under their names. The proxy also adds the key, and waits for the end of a task before the suite's clock can run out.

use std::collections::{BTreeSet, HashSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::env::{TestEnv, done};

use super::client::Serving;
use super::{open, runner};

/// Which version of the protocol the suite speaks; without a choice the newest, with the extensions.
const VERSIONS: [&[&str]; 3] = [&["--spec-version", "2025-06-18"], &["--spec-version", "2025-11-25"], &[]];
/// Scenarios about what this server offers.
const OURS: [&str; 16] = [
    "caching",
    "dns-rebinding-protection",
    "http-header-validation",
    "ping",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-stateless",
    "tasks-capability-negotiation",
    "tasks-dispatch-and-envelope",
    "tasks-lifecycle",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-wire-fields",
    "tools-call-error",
    "tools-list",
];
/// How the names of all others begin. They need prompts, resources, logs, a client's forms or models, tools that the proxy does not have, or
/// progress within milliseconds.
const OTHERS: [&str; 21] = [
    "completion-",
    "elicitation-",
    "http-custom-header-",
    "input-required-",
    "json-schema-",
    "logging-",
    "prompts-",
    "resources-",
    "sep-2164-resource-",
    "sep-2640-skills-",
    "server-sse-polling",
    "tasks-mrtr-",
    "tasks-required-task-error",
    "tasks-status-notifications",
    "tools-call-audio",
    "tools-call-elicitation",
    "tools-call-embedded-resource",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-s",
    "tools-call-with-",
];
/// Checks of these scenarios that this server fails, and why.
const FAILED: &[(&str, &str)] = &[
    ("sep-2549-prompts-list-caching-hints", "no prompts"),
    ("sep-2549-resources-list-caching-hints", "no resources"),
    ("sep-2549-resources-templates-list-caching-hints", "no resources"),
    ("sep-2575-http-server-no-independent-requests-on-stream", "nothing that asks its client"),
    ("sep-2575-missing-capability-http-400", "no tool that needs a capability of its client"),
    ("sep-2575-server-no-log-without-loglevel", "no logs"),
    ("sep-2575-server-rejects-undeclared-capability", "no tool that needs a capability of its client"),
    ("sep-2663-tasks-get-status-failed", "no task of the suite damages the store"),
    ("sep-2663-tool-error-uses-completed-status", "a supervised task that is not done needs a person"),
    ("tasks-headers-tolerate-mcp-method-on-tools-call", "no tool of ours says hello"),
];

/// The suite's tools as calls of ours. What it wants to last, waits an hour between its sessions.
fn translated(world: &World, fixture: &str, arguments: &Value) -> Option<(&'static str, Value)> {
    let run = |delay: &str| {
        let goal = format!("Task {} of the suite", world.runs.fetch_add(1, Ordering::Relaxed));
        ("run", json!({ "goal": goal, "workspace": world.workspace, "settings": { "session.delay": delay } }))
    };
    match fixture {
        "greet" => Some(("list", json!({}))),
        "slow_compute" if lasts(arguments) => Some(run("1h")),
        "slow_compute" | "failing_job" | "protocol_error_job" | "confirm_delete" => Some(run("0s")),
        "test_error_handling" => Some(("show", json!({ "task": "nobody" }))),
        _ => None,
    }
}

fn lasts(arguments: &Value) -> bool {
    arguments["seconds"].as_u64() == Some(60)
}

/// What the proxy knows.
struct World {
    serving: Serving,
    key: String,
    workspace: String,
    runs: AtomicUsize,
    /// Tasks that end only when they are cancelled.
    lasting: Mutex<HashSet<String>>,
}

impl World {
    /// Passes one request on, and its answer back.
    fn pass(&self, mut client: TcpStream) {
        let Some((head, body)) = read_request(&mut client) else { return };
        let mut message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (method, params) = (message["method"].take(), &message["params"]);
        let (fixture, arguments) = (params["name"].as_str().unwrap_or_default(), params["arguments"].clone());
        let id = params["taskId"].as_str().unwrap_or_default().to_owned();
        let real = translated(self, fixture, &arguments);
        let head = self.head(&head, fixture, real.as_ref().map_or(fixture, |(tool, _)| tool));
        let lasts = fixture == "slow_compute" && lasts(&arguments);
        let body = match real {
            Some((tool, arguments)) => {
                message["method"] = method.clone();
                (message["params"]["name"], message["params"]["arguments"]) = (tool.into(), arguments);
                message.to_string().into_bytes()
            }
            None => body,
        };
        if method == "tasks/get" && !self.lasting.lock().unwrap().contains(&id) {
            self.wait_for(&id);
        }
        let answer = self.ask(&head, &body);
        if lasts && let Some(id) = task_id(&answer) {
            self.lasting.lock().unwrap().insert(id);
        }
        if method == "tasks/cancel" {
            self.lasting.lock().unwrap().remove(&id);
        }
        client.write_all(&answer).ok();
    }

    /// The head with the key, and with our name of the tool. Each request gets its own connection.
    fn head(&self, head: &str, fixture: &str, tool: &str) -> String {
        let own = ["authorization:", "content-length:", "connection:"];
        let lines = head.lines().filter(|line| !own.iter().any(|name| line.to_lowercase().starts_with(name)));
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        for line in lines.iter_mut().filter(|line| line.to_lowercase() == format!("mcp-name: {fixture}")) {
            *line = format!("mcp-name: {tool}");
        }
        lines.extend([format!("authorization: Bearer {}", self.key), "connection: close".to_owned()]);
        lines.join("\r\n")
    }

    fn ask(&self, head: &str, body: &[u8]) -> Vec<u8> {
        let mut server = self.serving.connect();
        let length = format!("\r\ncontent-length: {}\r\n\r\n", body.len());
        server.write_all(&[head.as_bytes(), length.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).unwrap();
        answer
    }

    /// Waits until the task has ended; what is no task has.
    fn wait_for(&self, id: &str) {
        let path = format!("/api/v1/tasks/{id}/wait");
        let running = || {
            let answer = self.serving.post(&self.key, &path, &json!({}));
            answer.status == 200 && answer.json()["data"]["is_finished"] == false
        };
        while !id.is_empty() && running() {}
    }
}

fn read_request(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        let mut more = [0; 4096];
        let count = client.read(&mut more).ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&more[..count]);
    };
    let mut body = read.split_off(end + 4);
    let head = String::from_utf8(read).ok()?.trim_end().to_owned();
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut rest = vec![0; length.unwrap_or(0_usize).saturating_sub(body.len())];
    client.read_exact(&mut rest).ok()?;
    body.extend(rest);
    Some((head, body))
}

/// The handle in an answer that has one.
fn task_id(answer: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(answer);
    Some(text.split_once("\"taskId\":\"")?.1.split('"').next()?.to_owned())
}

/// Starts the proxy; it ends with the test.
fn proxy(world: World) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let world = Arc::new(world);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let world = Arc::clone(&world);
            std::thread::spawn(move || world.pass(client));
        }
    });
    address
}

/// Runs the suite in one version; returns each scenario with its checks. One that does not apply has none.
fn run(env: &TestEnv, address: &str, version: &[&str]) -> Vec<(String, Vec<Value>)> {
    let modules = longhaul_scripted_model::clients().unwrap().join("node_modules");
    let script = modules.join("@modelcontextprotocol/conformance/dist/index.js");
    let results = env.path().join("results").join(version.last().unwrap_or(&"newest"));
    let node = longhaul_scripted_model::Programs::find().unwrap().node();
    let url = format!("http://{address}/mcp");
    let mut command = env.command_of(&node, &[script.to_str().unwrap(), "server", "--url", &url, "--suite", "all"]);
    let output =
        done(&command.args(["--timeout", "600000", "--output-dir"]).arg(&results).args(version).output().unwrap());
    let files =
        std::fs::read_dir(&results).unwrap_or_else(|error| panic!("{error}: {}{}", output.stdout, output.stderr));
    let read = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        // As in `server-tools-list-2026-11-19T03-49-22-577Z`.
        let scenario = name.strip_prefix("server-")?.rsplitn(7, '-').last()?.to_owned();
        let checks = std::fs::read(entry.path().join("checks.json")).ok()?;
        Some((scenario, serde_json::from_slice(&checks).unwrap()))
    };
    files.filter_map(|entry| read(entry.unwrap())).collect()
}

#[test]
fn the_official_suite_finds_what_is_known_and_no_more() {
    let env = open().var("DEMO_STEPS", "1");
    let key = runner(&env);
    let serving = Serving::start(&env, &[]);
    let (workspace, runs, lasting) = (env.workspace().display().to_string(), AtomicUsize::new(1), Mutex::default());
    let address = proxy(World { serving, key, workspace, runs, lasting });
    let (mut seen, mut passed, mut failed, mut unknown) = (BTreeSet::new(), 0, BTreeSet::new(), Vec::new());
    for (scenario, checks) in VERSIONS.iter().flat_map(|version| run(&env, &address, version)) {
        if !OURS.contains(&scenario.as_str()) {
            assert!(OTHERS.iter().any(|other| scenario.starts_with(other)), "a new scenario: {scenario}");
            continue;
        }
        for check in checks {
            let id = check["id"].as_str().unwrap().to_owned();
            match check["status"].as_str().unwrap() {
                "SUCCESS" => passed += 1,
                "FAILURE" if FAILED.iter().any(|(known, _)| *known == id) => drop(failed.insert(id)),
                "FAILURE" => unknown.push(format!("{scenario}: {id}: {}", check["errorMessage"])),
                _ => {}
            }
        }
        seen.insert(scenario);
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert_eq!(seen.iter().collect::<Vec<_>>(), OURS.iter().collect::<Vec<_>>());
    assert_eq!(failed, FAILED.iter().map(|(check, _)| (*check).to_owned()).collect(), "what no longer fails");
    assert!(passed > 80, "{passed}");
}
