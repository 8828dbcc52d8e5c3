//! A program that executes its own run and reports it over MCP: through crashes of the server, help from a person, and to its end.

use serde_json::{Value, json};

use super::{connect, server};
use crate::env::TestEnv;
use crate::mcp::client::Client;
use crate::sight::kill_9;

fn start(client: &mut Client, goal: &str) -> String {
    let started = client.ok("task_run_start", json!({ "goal": goal, "success_criteria": ["every page"] }));
    started["task_run"]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_program_that_is_killed_continues_from_its_checkpoint() {
    let env = TestEnv::new();
    let mut first = connect(&env);
    let run_id = start(&mut first, "Crawl the site");
    first.ok("task_run_update", json!({ "run_id": run_id, "completed_items": ["page 1", "page 2"] }));
    first.ok(
        "task_run_checkpoint",
        json!({ "run_id": run_id, "summary": "page 3 is next", "current_cursor": "page 3" }),
    );
    kill_9(first.child.id().cast_signed());
    let mut second = connect(&env);
    let found =
        second.ok("task_run_get", json!({ "run_id": run_id, "include_checkpoint": true, "include_events": true }));
    assert_eq!(found["checkpoint"]["summary"], "page 3 is next", "{found}");
    assert_eq!(found["task_run"]["completed_items"], json!(["page 1", "page 2"]), "{found}");
    let kinds: Vec<&Value> = found["events"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["started", "updated", "checkpointed"], "{found}");
    let ended = second.ok("task_run_complete", json!({ "run_id": run_id, "completed_items": ["page 3"] }));
    assert_eq!((&ended["task_run"]["status"], &ended["task_run"]["verified"]), (&json!("COMPLETED"), &json!(false)));
    let actors = env
        .database()
        .unwrap()
        .prepare("SELECT DISTINCT actor FROM events")
        .unwrap()
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    assert!(
        actors.iter().all(|actor| actor.contains("\"channel\":\"mcp\"")),
        "history tells a client from its person: {actors:?}"
    );
    let late = second.error("task_run_update", json!({ "run_id": run_id, "progress_summary": "one more" }));
    assert_eq!(late["code"], "invalid_task_run_transition", "{late}");
}

#[test]
fn a_person_answers_a_request_for_help() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    let run_id = start(&mut client, "Buy the tickets");
    let waiting = client.ok("task_run_needs_help", json!({ "run_id": run_id, "reason": "the shop wants a login" }));
    assert_eq!(waiting["task_run"]["status"], "NEEDS_HELP", "{waiting}");
    assert!(env.ok(&["list"]).contains("NEEDS YOU"), "{}", env.ok(&["list"]));
    let name = waiting["task_run"]["name"].as_str().unwrap();
    assert_eq!(env.run(&["resume", name]).code, 2, "an answer needs a reason");
    env.ok(&["resume", name, "--reason", "logged in"]);
    let answered = client.ok("task_run_get", json!({ "run_id": run_id }));
    assert_eq!(
        (&answered["task_run"]["status"], &answered["task_run"]["resume_reason"]),
        (&json!("RUNNING"), &json!("logged in"))
    );
    client.ok("task_run_complete", json!({ "run_id": run_id, "status": "FAILED", "progress_summary": "sold out" }));
    assert_eq!(client.ok("task_run_list", json!({ "status": "FAILED" }))["task_runs"][0]["run_id"], run_id.as_str());
}

#[test]
fn a_supervised_task_is_read_and_not_reported_on() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Something", "-n", "t"]).code, 0);
    let id = env.json(&["show", "t"])["task"]["id"].as_str().unwrap().to_owned();
    let mut client = Client::connect(server(&env, &[]), "2025-06-18");
    let found = client.ok("task_run_get", json!({ "run_id": id }));
    assert_eq!(
        (&found["task_run"]["driver"], &found["task_run"]["status"]),
        (&json!("supervised"), &json!("COMPLETED"))
    );
    let refused = client.error("task_run_update", json!({ "run_id": id, "progress_summary": "mine now" }));
    assert_eq!(refused["code"], "invalid_task_run_transition", "{refused}");
}

/// One bad event must not take a run away from its program and its person; nothing is changed on top of it.
#[test]
fn a_run_with_a_damaged_event_is_still_read_and_the_damage_counted() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    let run_id = start(&mut client, "Crawl the site");
    client.ok("task_run_update", json!({ "run_id": run_id, "completed_items": ["page 1"] }));
    client.ok("task_run_update", json!({ "run_id": run_id, "completed_items": ["page 2"] }));
    client.close();
    let damage = "DROP TRIGGER events_are_not_changed; UPDATE events SET payload = '{}' WHERE seq = 2";
    rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap().execute_batch(damage).unwrap();
    let mut client = connect(&env);
    let (found, is_error) = client.call("task_run_get", json!({ "run_id": run_id, "include_events": true }));
    let data = &found["data"];
    assert!(!is_error && data["events_damaged"] == 1 && data["events"].as_array().unwrap().len() == 2, "{found}");
    assert_eq!(data["task_run"]["completed_items"], json!(["page 2"]), "the sound events count: {found}");
    assert!(found["warnings"][0].as_str().unwrap().contains("stored data is damaged"), "{found}");
    let refused = client.error("task_run_update", json!({ "run_id": run_id, "completed_items": ["page 3"] }));
    assert_eq!(refused["code"], "storage_damaged", "{refused}");
    let name = data["task_run"]["name"].as_str().unwrap();
    for verb in ["show", "why", "report"] {
        let shown = env.run(&[verb, name]);
        assert_eq!((shown.code, shown.stderr.contains("longhaul store check")), (0, true), "{verb}: {}", shown.stderr);
    }
}

/// What only a task of ours has is refused with one sentence, and the others speak of the program.
#[test]
fn a_persons_verbs_speak_of_the_program() {
    let env = TestEnv::new();
    let mut client = connect(&env);
    let run_id = start(&mut client, "Crawl");
    for verb in ["logs", "plan", "diff"] {
        let refused = env.run(&[verb, "crawl"]);
        assert!(refused.stderr.contains("crawl is executed by an outside program: it has no sessions"), "{verb}");
        assert!(refused.code != 0 && refused.stderr.contains("`longhaul show crawl`"), "{verb}: {}", refused.stderr);
    }
    assert!(env.ok(&["why", "crawl"]).starts_with("crawl is run by an outside program (since "));
    client.ok("task_run_needs_help", json!({ "run_id": run_id, "reason": "a login" }));
    let answered = env.run(&["resume", "crawl", "--reason", "it is on the desk"]);
    assert_eq!((answered.code, answered.stderr.contains("gets your answer")), (0, true), "{}", answered.stderr);
    let cancelled = env.run(&["cancel", "crawl"]);
    assert_eq!((cancelled.code, cancelled.stderr.contains("its next call")), (0, true), "{}", cancelled.stderr);
}
