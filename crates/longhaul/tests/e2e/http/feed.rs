//! The feed of events: order, resumption, gaps, tenants, keys that end, and clients that do not read.

use serde_json::json;

use crate::env::{TestEnv, wait_for};

use super::client::{Sent, Serving, Stream};
use super::{key, runner};

/// Events with data, until this many.
fn take(stream: &mut Stream, count: usize) -> Vec<Sent> {
    let mut sent = Vec::new();
    while sent.len() < count {
        let next = stream.next().expect("the stream continues");
        sent.extend((!next.data.is_empty()).then_some(next));
    }
    sent
}

/// Starts a run and returns its id.
fn start(serving: &Serving, key: &str, goal: &str) -> String {
    let run = serving.post(key, "/api/v1/runs", &json!({ "goal": goal })).data();
    run["task_run"]["run_id"].as_str().unwrap().to_owned()
}

fn update(serving: &Serving, key: &str, run: &str, text: &str) {
    serving.post(key, &format!("/api/v1/runs/{run}/update"), &json!({ "progress_summary": text })).data();
}

#[test]
fn a_reader_that_returns_gets_every_event_once_and_in_order() {
    let env = TestEnv::new();
    let key = runner(&env);
    let mut serving = Serving::start(&env, &["--no-worker"]);
    let run = start(&serving, &key, "g");
    let mut stream = serving.stream(&key, "", &[]);
    let now = stream.next().unwrap();
    assert!(!now.id.is_empty() && now.data.is_empty(), "it begins with where it is: {now:?}");
    (0..3).for_each(|number| update(&serving, &key, &run, &format!("step {number}")));
    let live = take(&mut stream, 3);
    drop(stream);
    update(&serving, &key, &run, "step 3");
    serving.stop();
    let serving = Serving::start(&env, &["--no-worker"]);
    update(&serving, &key, &run, "step 4");
    let last = live.last().unwrap();
    let mut resumed = serving.stream(&key, "", &[("last-event-id", &last.id)]);
    let rest = take(&mut resumed, 2);
    let summaries: Vec<String> = live
        .iter()
        .chain(&rest)
        .inspect(|sent| assert_eq!((sent.event.as_str(), sent.json()["kind"].as_str()), ("event", Some("feed_event"))))
        .map(|sent| sent.json()["data"]["summary"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(summaries, ["step 0", "step 1", "step 2", "step 3", "step 4"]);
    assert!(live.iter().chain(&rest).all(|sent| sent.json()["data"]["task_id"] == run.as_str()));
    let positions: Vec<u64> = live.iter().chain(&rest).map(|sent| sent.id.parse().unwrap()).collect();
    assert!(positions.is_sorted_by(|one, next| one < next), "{positions:?}");
    let whole = take(&mut serving.stream(&key, "?after=0", &[]), 6);
    assert!(whole[1..].iter().eq(live.iter().chain(&rest)), "the same bytes from the beginning: {whole:?}");
}

#[test]
fn another_tenant_hears_nothing() {
    let env = TestEnv::new();
    let keys = ["default", "acme"].map(|tenant| key(&env, tenant, "run", tenant));
    let serving = Serving::start(&env, &["--no-worker"]);
    let foreign = start(&serving, &keys[0], "secret-goal");
    let mut stream = serving.stream(&keys[1], "?after=0", &[]);
    update(&serving, &keys[0], &foreign, "secret-progress");
    let own = start(&serving, &keys[1], "mine");
    let sent = take(&mut stream, 1);
    assert_eq!(sent[0].json()["data"]["task_id"], own.as_str(), "the first thing it hears is its own");
}

#[test]
fn who_missed_events_that_were_removed_is_to_read_again() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    let run = start(&serving, &key, "g");
    serving.post(&key, &format!("/api/v1/runs/{run}/complete"), &json!({})).data();
    env.ok(&["gc", "--age", "0s", "--count", "0"]);
    let kept = start(&serving, &key, "kept");
    let sent = take(&mut serving.stream(&key, "", &[("last-event-id", "0")]), 2);
    assert_eq!(sent[0].event, "resync", "{sent:?}");
    assert_eq!(sent[0].json()["data"]["removed"], true);
    assert_eq!(sent[1].json()["data"]["task_id"], kept.as_str());
    let after = take(&mut serving.stream(&key, "", &[("last-event-id", &sent[0].id)]), 1);
    assert_eq!(after[0], sent[1], "who has read that is not sent back again");
}

#[test]
fn a_key_that_is_revoked_ends_its_streams() {
    let env = TestEnv::new();
    let (ended, other) = (key(&env, "ended", "run", "default"), key(&env, "other", "run", "default"));
    let serving = Serving::start(&env, &["--no-worker"]);
    let (mut stream, mut control) = (serving.stream(&ended, "", &[]), serving.stream(&other, "", &[]));
    let _starts = (stream.next(), control.next());
    env.ok(&["keys", "revoke", "ended"]);
    let last = take(&mut stream, 1);
    assert_eq!((last[0].event.as_str(), &last[0].json()["error"]["code"]), ("error", &json!("unauthorized")));
    assert_eq!(stream.next(), None, "then it is over");
    start(&serving, &other, "g");
    assert_eq!(take(&mut control, 1)[0].event, "event");
}

/// What takes long ends with the key too: a call over REST, and one over MCP that has already sent progress.
#[test]
fn a_key_that_is_revoked_ends_its_calls() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    let run = start(&serving, &key, "g");
    let wait = json!({ "task": run, "timeout_ms": 50_000 });
    let params = json!({ "name": "wait", "arguments": wait, "_meta": { "progressToken": 1 } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let headers = [
        ("authorization", &*format!("Bearer {key}")),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    std::thread::scope(|scope| {
        let rest = scope.spawn(|| serving.post(&key, &format!("/api/v1/tasks/{run}/wait"), &json!({})));
        let mcp = scope.spawn(|| serving.send("POST", "/mcp", &headers, &call));
        wait_for("both calls", || (connections(serving.child.id()) == 2).then_some(()));
        env.ok(&["keys", "revoke", "runner"]);
        assert_eq!(rest.join().unwrap().error(), (401, "unauthorized".to_owned()));
        let answer = mcp.join().unwrap();
        assert!(answer.body.contains("the key was revoked or has expired") || answer.status == 401, "{answer:?}");
        assert!(!answer.body.contains("\"goal\""), "{answer:?}");
    });
}

/// The stream of a client that never reads costs a bounded buffer, and others are served meanwhile.
#[test]
fn a_client_that_never_reads_costs_little_and_is_dropped() {
    let env = TestEnv::new();
    let key = runner(&env);
    let serving = Serving::start(&env, &["--no-worker"]);
    let run = start(&serving, &key, "g");
    let text = "x".repeat(8_000);
    (0..500).for_each(|_| update(&serving, &key, &run, &text));
    let pid = serving.child.id();
    let before = resident_kib(pid);
    let silent: Vec<Stream> = (0..20).map(|_| serving.stream(&key, "?after=0", &[])).collect();
    update(&serving, &key, &run, "still served");
    let used = resident_kib(pid).saturating_sub(before);
    assert!(used < 100 << 10, "20 streams of 4 MB each took {used} KiB");
    assert!(connections(pid) > 10, "control");
    wait_for("the end of the connections", || (connections(pid) == 0).then_some(()));
    drop(silent);
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Sockets of the server, without the one that listens.
fn connections(pid: u32) -> usize {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let inodes: Vec<String> = open
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
    let established = table.lines().filter(|line| line.split_whitespace().nth(3) == Some("01"));
    established.filter(|line| inodes.iter().any(|inode| line.split_whitespace().nth(9) == Some(inode))).count()
}
