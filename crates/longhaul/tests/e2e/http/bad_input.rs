//! What no good client sends: each gets a stable code and a sentence, and leaves nothing behind.

use std::io::{Read, Write};

use serde_json::json;

use crate::env::{TestEnv, wait_for};
use crate::sight::listing;

use super::client::{Serving, request};
use super::{key, runner};

const TASKS: &str = "/api/v1/tasks";
const RUNS: &str = "/api/v1/runs";

#[test]
fn a_bad_body_gets_a_code_and_a_sentence() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    let long = format!("{{\"goal\": \"{}\"}}", "x".repeat(10 << 20));
    for (body, status, code) in [
        ("not json", 400, "invalid_argument"),
        ("[]", 400, "invalid_argument"),
        ("\"text\"", 400, "invalid_argument"),
        ("{\"goal\": 5}", 400, "invalid_argument"),
        ("{\"goal\": \"g\", \"success_criteria\": \"one\"}", 400, "invalid_argument"),
        ("{}", 400, "invalid_argument"),
        ("", 400, "invalid_argument"),
        (&"[".repeat(10_000), 400, "invalid_argument"),
        (&format!("{{\"goal\": {}", "{\"a\":".repeat(10_000)), 400, "invalid_argument"),
        (&long, 413, "body_too_large"),
    ] {
        let answer = serving.post_text(&key, RUNS, body);
        assert_eq!(answer.error(), (status, code.to_owned()), "{body:.30}: {}", answer.body);
    }
    let nested = json!({ "goal": "g", "success_criteria": ["one", 2] });
    let nested = serving.post(&key, RUNS, &nested).body;
    assert!(nested.contains("success_criteria[1]: invalid type"), "the field is named: {nested}");
    let bearer = format!("Bearer {key}");
    for kind in [None, Some("text/plain"), Some("application/x-www-form-urlencoded")] {
        let kind = kind.map(|kind| ("content-type", kind));
        let headers: Vec<_> = [("authorization", bearer.as_str())].into_iter().chain(kind).collect();
        let answer = serving.send("POST", RUNS, &headers, "{\"goal\": \"g\"}");
        assert_eq!(answer.error(), (415, "not_json".to_owned()), "{kind:?}");
    }
    let unknown = serving.post(&key, RUNS, &json!({ "goal": "g", "wait_for_previous": true }));
    assert!(unknown.data()["task_run"].is_object() && unknown.body.contains("no field `wait_for_previous`"));
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 1, "only that one was stored");
}

#[test]
fn a_bad_address_gets_a_code_and_a_sentence() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    for (path, status, code) in [
        ("/nothing", 404, "no_such_route"),
        ("/api/v1/gc", 404, "no_such_route"),
        ("/api/v2/tasks", 404, "no_such_route"),
        ("/api/v1/tasks?limit=many", 400, "invalid_argument"),
        ("/api/v1/tasks?all=yes", 400, "invalid_argument"),
        ("/api/v1/tasks?limit=1&limit=2", 400, "invalid_argument"),
        ("/api/v1/tasks?after=nonsense", 400, "invalid_argument"),
        ("/api/v1/tasks/x?task=y", 400, "invalid_argument"),
        ("/api/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 400, "invalid_argument"),
        ("/api/v1/runs/0190C5A4-7D4E-7C3A-8F00-000000000001", 400, "invalid_argument"),
        ("/api/v1/runs/%00", 400, "invalid_argument"),
        ("/api/v1/tasks/..%2f..%2fetc%2fpasswd", 404, "not_found"),
        ("/api/v1/tasks/%00", 404, "not_found"),
        ("/api/v1/events?after=x", 400, "invalid_argument"),
    ] {
        let answer = serving.get(&key, path);
        assert_eq!(answer.error(), (status, code.to_owned()), "{path}: {}", answer.body);
        assert!(!answer.body.contains('\0'), "{path}");
    }
    let wrong = serving.post(&key, "/api/v1/tasks/x/why", &json!({}));
    assert_eq!(wrong.error(), (405, "method_not_allowed".to_owned()));
    assert!(wrong.head.contains("allow: get"), "{}", wrong.head);
    let put = serving.send("PUT", "/api/v1/tasks/x", &[("authorization", &format!("Bearer {key}"))], "");
    assert_eq!(put.error(), (405, "method_not_allowed".to_owned()));
    let numbers = serving.get(&key, "/api/v1/runs?limit=1&since=0").data();
    assert_eq!(numbers["task_runs"], json!([]), "texts of the query are numbers where the schema has numbers");
    let strange = serving.get(&key, "/api/v1/tasks?strange=1");
    assert!(strange.body.contains("`list` has no field `strange`"), "{}", strange.body);
}

/// The server answers others while one client sends its request byte by byte, sends too much, or sends nothing.
#[test]
fn a_client_that_sends_too_much_or_too_little_harms_nobody() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    let mut slow = serving.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nhost: ").unwrap();
    let many: String = (0..70).map(|number| format!("x-{number}: 1\r\n")).collect();
    for head in [many, format!("x-long: {}\r\n", "y".repeat(20_000))] {
        let raw = format!("GET {TASKS} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{head}\r\n", serving.address);
        let answer = serving.raw(raw.as_bytes());
        assert_eq!(answer.error(), (431, "headers_too_large".to_owned()));
    }
    let endless = format!("GET {TASKS} HTTP/1.1\r\nx: {}", "z".repeat(200_000));
    assert_eq!(serving.raw(endless.as_bytes()).status, 431);
    let cut = request("POST", RUNS, &[("host", &serving.address), ("authorization", &format!("Bearer {key}"))], "{}");
    let mut gone = serving.connect();
    gone.write_all(&cut[..cut.len() - 1]).unwrap();
    drop(gone);
    assert_eq!(serving.get(&key, TASKS).status, 200);
    let mut rest = Vec::new();
    let began = std::time::Instant::now();
    slow.read_to_end(&mut rest).ok();
    assert!(began.elapsed().as_secs() < 60, "the slow one was dropped");
}

/// Clients that only open connections keep new ones out for as long as the server's patience, and nobody who is connected already.
#[test]
fn a_full_house_serves_who_is_in_it_and_empties_by_itself() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    let mut stream = serving.stream(&key, "", &[]);
    stream.next().expect("it is connected");
    let idle: Vec<_> = (0..600).map(|_| serving.connect()).collect();
    let answered = |request: &[u8]| {
        let (mut client, mut answer) = (serving.connect(), String::new());
        client.write_all(request).ok()?;
        client.read_to_string(&mut answer).ok()?;
        Some(answer)
    };
    assert!(answered(b"").unwrap().starts_with("HTTP/1.1 503 "));
    env.submit("Work meanwhile", &[]);
    assert_eq!(stream.next().expect("who is connected is served").event, "event");
    let health = request("GET", "/healthz", &[("host", &serving.address)], "");
    wait_for("room", || answered(&health).filter(|answer| answer.starts_with("HTTP/1.1 200 ")));
    drop(idle);
}

/// S39: a thousand changes of runs that do not exist.
#[test]
fn changes_of_unknown_runs_leave_nothing_behind() {
    let env = TestEnv::new();
    let key = key(&env, "all", "run,approve", "default");
    let serving = Serving::start(&env, &["--no-worker"]);
    let state = || (listing(&env.home()).into_keys().collect::<Vec<_>>(), env.json(&["list", "--all"]));
    let before = state();
    for number in 0..1_000 {
        let id = format!("0190c5a4-7d4e-7c3a-8f00-{number:012}");
        let (path, body) = match number % 5 {
            0 => (format!("{RUNS}/{id}/update"), json!({ "progress_summary": "x" })),
            1 => (format!("{RUNS}/{id}/checkpoint"), json!({ "summary": "x" })),
            2 => (format!("{RUNS}/{id}/complete"), json!({})),
            3 => (format!("{TASKS}/{id}/cancel"), json!({})),
            _ => (format!("{TASKS}/{id}/tell"), json!({ "text": "x" })),
        };
        // The key is slowed down on the way.
        let answer =
            wait_for("an answer", || Some(serving.post(&key, &path, &body)).filter(|answer| answer.status != 429));
        assert_eq!(answer.status, 404, "{path}");
    }
    assert_eq!(state(), before);
}
