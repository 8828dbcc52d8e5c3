//! `longhaul serve` as its clients see it: where it listens, how it stops, a task from submission to its end, and what no client may do.
//! `gate` has hostile headers, `bad_input` what no good client sends, `feed` the stream of events, `mcp` MCP over HTTP.

mod bad_input;
mod client;
mod conformance;
mod feed;
mod gate;
mod guide;
mod mcp;
mod monitoring;
mod schema;

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{TestEnv, wait_for};
use crate::sight::alive;

use client::Serving;

/// A new key with these rights in this tenant.
fn key(env: &TestEnv, name: &str, rights: &str, tenant: &str) -> String {
    env.ok(&["keys", "create", name, "--rights", rights, "--tenant", tenant]).trim().to_owned()
}

fn reader(env: &TestEnv) -> String {
    key(env, "reader", "read", "default")
}

fn runner(env: &TestEnv) -> String {
    key(env, "runner", "run", "default")
}

/// A world in which the workspace may be used over HTTP.
fn open() -> TestEnv {
    let mut env = TestEnv::new();
    env.make_repository();
    let workspace = env.workspace().display().to_string();
    env.set("LONGHAUL_SERVE_PROJECTS", &format!("{workspace}\nacme={workspace}"));
    env
}

#[test]
fn it_says_where_it_listens_and_stops_within_seconds() {
    let env = TestEnv::new();
    let mut serving = Serving::start(&env, &[]);
    let health = serving.send("GET", "/healthz", &[], "");
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
    assert!(health.head.contains("cache-control: no-store") && health.head.contains("nosniff"), "{}", health.head);
    let _idle = serving.connect();
    let key = reader(&env);
    let _stream = serving.stream(&key, "", &[]);
    let (code, took) = serving.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_port_that_is_taken_and_an_address_without_tls_are_refused() {
    let env = TestEnv::new();
    let serving = Serving::start(&env, &["--no-worker"]);
    let taken = env.run(&["serve", "--listen", &serving.address]);
    assert_eq!(taken.code, 8, "{}", taken.stderr);
    assert!(
        taken.stderr.contains(&format!("another program already listens on {}", serving.address)),
        "{}",
        taken.stderr
    );
    assert!(taken.stderr.contains("--listen"), "{}", taken.stderr);
    let open = env.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(open.code, 2, "{}", open.stderr);
    assert!(open.stderr.contains("--behind-proxy") && open.stdout.is_empty(), "{}", open.stderr);
    let odd = env.run(&["serve", "--listen", "0.0.0.0:0", "--behind-proxy", "longhaul.example"]);
    assert_eq!(odd.code, 2, "{}", odd.stderr);
    let proxied = Serving::start(&env, &["--behind-proxy", "https://longhaul.example"]);
    let named = proxied.raw(&client::request("GET", "/healthz", &[("host", "longhaul.example")], ""));
    assert_eq!(named.status, 200, "{named:?}");
}

/// The server is a worker: it starts the session, and its end does not touch it.
#[test]
fn a_task_goes_from_submission_to_its_end_and_outlives_the_server() {
    let env = open().var("DEMO_FAULT", "hang@1");
    let key = runner(&env);
    let mut serving = Serving::start(&env, &[]);
    let input = json!({ "goal": "build it", "name": "t", "workspace": env.workspace(), "key": "k1" });
    let task = serving.post(&key, "/api/v1/tasks", &input).data();
    let again = serving.post(&key, "/api/v1/tasks", &input).json();
    assert_eq!((&again["repeated"], &again["data"]["id"]), (&json!(true), &task["id"]), "{again}");
    env.reach("t", "planning");
    let agent = env.live("t", 1).agent;
    assert_eq!(serving.stop().0, Some(0));
    assert!(alive(agent), "the session continues without the server");
    let serving = Serving::start(&env, &[]);
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(agent), nix::sys::signal::Signal::SIGTERM).unwrap();
    let settled = wait_for("the end of the task", || {
        let answer = serving.post(&key, "/api/v1/tasks/t/wait", &json!({ "timeout_ms": 10_000 })).data();
        (answer["state"] == "done").then_some(answer)
    });
    assert_eq!(settled["id"], task["id"]);
    for (path, args) in [("/api/v1/tasks/t/plan", &["plan", "t"][..]), ("/api/v1/tasks?all=true", &["list", "--all"])] {
        let printed = env.ok(&[args, &["--json"]].concat());
        assert_eq!(serving.get(&key, path).body, printed, "{path}: the same bytes as on the command line");
    }
}

#[test]
pub(crate) fn a_task_is_only_submitted_where_the_configuration_allows_it() {
    let mut env = TestEnv::new();
    env.make_repository();
    let key = runner(&env);
    let serving = Serving::start(&env, &[]);
    let input = json!({ "goal": "build it", "workspace": env.workspace() });
    let refused = serving.post(&key, "/api/v1/tasks", &input);
    assert_eq!(refused.error(), (403, "forbidden".to_owned()), "{}", refused.body);
    assert!(refused.body.contains("serve.projects"), "{}", refused.body);
    assert_eq!(env.json(&["list", "--all"])["tasks"], json!([]));
    drop(serving);
    env.set("LONGHAUL_SERVE_PROJECTS", &env.workspace().display().to_string());
    let serving = Serving::start(&env, &[]);
    let outside = json!({ "goal": "build it", "workspace": env.workspace().join("..") });
    assert_eq!(serving.post(&key, "/api/v1/tasks", &outside).error(), (403, "forbidden".to_owned()));
    let task = serving.post(&key, "/api/v1/tasks", &input).data();
    assert_eq!(env.json(&["list", "--all"])["tasks"][0]["id"], task["id"]);
}

#[test]
fn a_key_may_do_what_its_rights_allow() {
    let env = TestEnv::new();
    let (reader, runner) = (reader(&env), runner(&env));
    let serving = Serving::start(&env, &["--no-worker"]);
    let start = json!({ "goal": "g" });
    assert_eq!(serving.post(&reader, "/api/v1/runs", &start).error(), (403, "forbidden".to_owned()));
    assert_eq!(serving.get(&reader, "/api/v1/doctor").error(), (403, "forbidden".to_owned()));
    let run = serving.post(&runner, "/api/v1/runs", &start).data()["task_run"].clone();
    let id = run["run_id"].as_str().unwrap();
    let found = serving.get(&reader, &format!("/api/v1/runs/{id}?include_events=true")).data();
    assert_eq!(found["task_run"]["goal"], "g", "{found}");
    let edit = serving.post(&runner, &format!("/api/v1/tasks/{id}/edit"), &json!({ "priority": 1 }));
    assert_eq!(edit.error(), (403, "forbidden".to_owned()));
    let ended = serving.post(&runner, &format!("/api/v1/runs/{id}/complete"), &json!({})).data();
    assert_eq!(ended["task_run"]["status"], "COMPLETED");
    let late = serving.post(&runner, &format!("/api/v1/runs/{id}/update"), &json!({ "progress_summary": "x" }));
    assert_eq!(late.error(), (409, "invalid_task_run_transition".to_owned()));
}

/// Its program asks over HTTP, from no directory; the worker in the server notifies as the user configured it.
#[test]
fn a_run_that_asks_for_help_notifies_its_person() {
    let env = TestEnv::new();
    let notices = env.path().join("notices");
    let env = env.var("LONGHAUL_NOTIFY_FILE", notices.to_str().unwrap());
    let key = runner(&env);
    let serving = Serving::start(&env, &[]);
    let run = serving.post(&key, "/api/v1/runs", &json!({ "goal": "Crawl it" })).data();
    let id = run["task_run"]["run_id"].as_str().unwrap();
    serving.post(&key, &format!("/api/v1/runs/{id}/needs_help"), &json!({ "reason": "a password" })).data();
    let notice = wait_for("the notice", || std::fs::read_to_string(&notices).ok().filter(|text| text.ends_with('\n')));
    assert!(notice.contains("crawl-it") && notice.contains("a password"), "{notice}");
}

/// Every route with the id of another tenant's task answers byte for byte as with an id of nobody.
#[test]
fn a_foreign_id_looks_like_an_unknown_one_on_every_route() {
    let env = TestEnv::new();
    let keys = ["default", "acme"].map(|tenant| key(&env, tenant, "run,approve,admin", tenant));
    let serving = Serving::start(&env, &["--no-worker"]);
    let run = serving.post(&keys[0], "/api/v1/runs", &json!({ "goal": "secret-goal" })).data();
    let foreign = run["task_run"]["run_id"].as_str().unwrap();
    let unknown = "0190c5a4-7d4e-7c3a-8f00-000000000001";
    let document = serving.get(&keys[1], "/api/v1/openapi.json").json();
    let mut seen = 0;
    for (path, methods) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.contains('{')) {
        for method in methods.as_object().unwrap().keys() {
            let [theirs, nobodys] = [foreign, unknown].map(|id| {
                let path = path.replace("{task}", id).replace("{run_id}", id);
                let body = body_for(&path).to_string();
                let answer = match method.as_str() {
                    "get" => serving.get(&keys[1], &path),
                    _ => serving.post_text(&keys[1], &path, &body),
                };
                (answer.status, answer.body.replace(id, "ID"))
            });
            assert_eq!(theirs, nobodys, "{method} {path}");
            assert_eq!(theirs.0, 404, "{method} {path}: {}", theirs.1);
            assert!(!theirs.1.contains("secret-goal"), "{path}");
            seen += 1;
        }
    }
    assert!(seen >= 20, "the document lists the routes: {seen}");
    assert_eq!(serving.get(&keys[1], "/api/v1/tasks?all=true").data()["tasks"], json!([]));
    assert_eq!(serving.get(&keys[1], "/api/v1/runs").data()["task_runs"], json!([]));
    assert_eq!(serving.get(&keys[0], "/api/v1/runs").data()["task_runs"].as_array().unwrap().len(), 1, "control");
}

/// What an operation requires.
fn body_for(path: &str) -> Value {
    let required = [
        ("/checkpoint", json!({ "summary": "s" })),
        ("/needs_help", json!({ "reason": "r" })),
        ("/tell", json!({ "text": "t" })),
        ("/edit", json!({ "priority": 1 })),
        ("/rename", json!({ "name": "n" })),
        ("/reopen", json!({ "goal": "g" })),
    ];
    required.into_iter().find(|(end, _)| path.ends_with(end)).map_or_else(|| json!({}), |(_, body)| body)
}

/// The command line shows through what a change came, and another tenant's tasks only when asked for them.
#[test]
fn history_names_the_key_and_lists_keep_tenants_apart() {
    let env = TestEnv::new();
    let (own, foreign) = (runner(&env), key(&env, "bot", "run", "acme"));
    let serving = Serving::start(&env, &["--no-worker"]);
    serving.post(&own, "/api/v1/runs", &json!({ "goal": "ours" })).data();
    serving.post(&foreign, "/api/v1/runs", &json!({ "goal": "theirs" })).data();
    let printed = env.ok(&["events", "ours"]);
    assert!(printed.contains("the key `runner` through HTTP"), "{printed}");
    let lines = env.ok(&["events", "ours", "--json"]);
    let event: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let id = env.json(&["keys", "list"])["api_keys"][0]["id"].clone();
    assert_eq!(
        (&event["data"]["actor"]["channel"], &event["data"]["actor"]["key_id"]),
        (&json!("http"), &id),
        "{event}"
    );
    let names = |args: &[&str]| {
        let tasks = env.json(args)["tasks"].clone();
        tasks.as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["list", "--all"]), ["ours"]);
    assert_eq!(names(&["list", "--tenant", "acme"]), ["theirs"]);
    assert_eq!(names(&["list", "--tenant", "nobody"]), [""; 0]);
}
