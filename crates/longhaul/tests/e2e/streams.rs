//! The streams that programs read: `run --json`, `attach --json`, `logs --json` and `events -f`, one document per line.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::env::{PASSED, TestEnv};
use crate::sight::finish;

fn documents(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The data of all documents of a kind.
fn of_kind(documents: &[Value], kind: &str) -> Vec<Value> {
    documents.iter().filter(|document| document["kind"] == kind).map(|document| document["data"].clone()).collect()
}

fn has_turn(turns: &[Value], session: u32, role: &str, text: &str) -> bool {
    turns
        .iter()
        .any(|turn| turn["session"] == session && turn["role"] == role && turn["text"].as_str().unwrap().contains(text))
}

#[test]
fn run_streams_the_new_task_what_happens_and_the_task_at_its_end() {
    let env = TestEnv::new();
    let run = env.run(&["run", "Tell a program", "--json", "--check", "echo from the check; echo oops >&2"]);
    assert_eq!(run.code, PASSED, "{}", run.stderr);
    let documents = documents(&run.stdout);
    assert!(documents.iter().all(|document| document["v"] == 1));
    let last = documents.last().unwrap();
    assert_eq!((&last["kind"], &last["data"]["outcome"]), (&"task".into(), &"not_verified".into()), "{last}");
    assert_eq!(documents[0]["kind"], "task", "the answer to the submission comes first");
    assert_eq!(of_kind(&documents, "task").len(), 2);
    let seqs: Vec<u64> = of_kind(&documents, "event").iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=env.events("tell-a-program").len() as u64).collect::<Vec<_>>(), "every event, in order");
    let turns = of_kind(&documents, "turn");
    assert!(has_turn(&turns, 2, "tool", "Task 1") && has_turn(&turns, 4, "command", "echo from the check"));
    assert!(has_turn(&turns, 4, "output", "from the check") && has_turn(&turns, 4, "stderr", "oops"), "{turns:?}");
    let event = |kind: &str, from: usize| {
        let found = documents[from..].iter().position(|document| document["data"]["kind"] == kind);
        from + found.unwrap_or_else(|| panic!("no {kind} after {from}"))
    };
    let started = event("session_started", event("session_started", 0) + 1);
    let ended = event("session_ended", started);
    let is_second = |document: &Value| document["kind"] == "turn" && document["data"]["session"] == 2;
    let printed: Vec<usize> = (0..documents.len()).filter(|at| is_second(&documents[*at])).collect();
    assert!(
        !printed.is_empty() && printed.iter().all(|at| (started..ended).contains(at)),
        "{started} {printed:?} {ended}"
    );
}

#[test]
fn a_wait_in_line_is_part_of_the_stream() {
    let env = crate::slots::one_slot_in_use();
    let mut run =
        env.command(&["run", "Wait for it", "--name", "second", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let status = lines.by_ref().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let status = status.into_iter().find(|document| document["kind"] == "status").unwrap()["data"].clone();
    assert_eq!(status["status"], "in_line");
    assert!(status["sentence"].as_str().unwrap().contains("waiting for a free slot (1 of 1 in use)"), "{status}");
    env.ok(&["cancel", "second"]);
    let last: Value = serde_json::from_str(&lines.last().unwrap().unwrap()).unwrap();
    assert_eq!((&last["kind"], &last["data"]["outcome"]), (&"task".into(), &"cancelled".into()));
    assert_eq!(run.wait().unwrap().code(), Some(4));
}

#[test]
fn attach_streams_from_the_live_session_on_and_a_finished_task_at_once() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@3");
    let name = env.submit("Join me", &[]);
    env.live(&name, 3);
    let attached = env.start(&["attach", &name, "--json"]);
    env.ok(&["pause", &name, "--now"]);
    let attached = finish(attached);
    assert_eq!(attached.code, 5, "{}", attached.stderr);
    let stream = documents(&attached.stdout);
    let events = of_kind(&stream, "event");
    assert!(events.iter().all(|event| event["seq"].as_u64().unwrap() > 3), "{events:?}");
    assert!(events.iter().any(|event| event["kind"] == "paused"));
    assert!(of_kind(&stream, "turn").iter().all(|turn| turn["session"] == 3));
    assert_eq!(stream.last().unwrap()["data"]["outcome"], "needs_person");
    let again = env.run(&["attach", &name, "--json"]);
    let over = documents(&again.stdout);
    assert_eq!((again.code, over.len(), &over[0]["data"]["state"]), (5, 1, &"paused".into()), "{}", again.stderr);
}

#[test]
fn logs_are_turns_whatever_agent_printed_them() {
    let env = TestEnv::new().var("DEMO_FAULT", "says:hello world@1,garbage@2");
    assert_eq!(env.run(&["run", "Say something", "--check", "echo checked"]).code, PASSED);
    let turns = of_kind(&documents(&env.ok(&["logs", "--json"])), "turn");
    assert!(has_turn(&turns, 1, "session", "plan, started 20") && has_turn(&turns, 1, "text", "hello world"));
    let tool = turns.iter().find(|turn| turn["role"] == "tool").unwrap();
    assert!(tool["tool"].is_string(), "{tool}");
    assert!(has_turn(&turns, 2, "unknown", ""), "a line that nobody can read stays as it is: {turns:?}");
    let last = documents(&env.ok(&["logs", "--json", "--last", "2"]));
    assert_eq!(of_kind(&last, "turn"), turns[turns.len() - 2..], "a command and its output");
    assert_eq!(env.ok(&["logs", "-n", "1"]), "checked\n");
    assert_eq!(env.run(&["logs", "-n", "1", "--session", "9"]).code, 7);
}

#[test]
fn events_are_followed_until_the_task_settles() {
    let env = TestEnv::new().var("DEMO_PACE_MS", "50");
    let name = env.submit("Watch me", &[]);
    let (text, json) = (env.start(&["events", "-f", &name]), env.start(&["events", "-f", &name, "--json"]));
    let (text, json) = (finish(text), finish(json));
    assert_eq!((text.code, json.code), (0, 0), "{}{}", text.stderr, json.stderr);
    assert_eq!(env.state(&name), "done", "not before");
    assert_eq!(text.stdout, env.ok(&["events", &name]), "following loses and repeats nothing");
    let events = of_kind(&documents(&json.stdout), "event");
    assert_eq!(events.len(), env.events(&name).len());
    assert_eq!((&events[0]["kind"], &events[0]["actor"]["scope"]), (&"submitted".into(), &"person".into()));
}
