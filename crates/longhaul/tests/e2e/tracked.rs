//! Runs of outside programs as people see them: the reading verbs, the two that change something, and the refusals of all others.
//! A program's calls are performed on the table of operations, as a server does.

use longhaul_app::operation::FrontEnd;
use longhaul_app::{AppError, Caller};
use longhaul_core::task::{Actor, Rights};
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::in_process::perform;

/// One call of an outside program that works in the workspace.
fn program(env: &TestEnv, tool: &str, input: Value) -> Result<Value, AppError> {
    let caller = Caller::new(Actor::person("crawler"), Ok(env.workspace())).through(FrontEnd::Mcp, Rights::ALL);
    Ok(perform(env, caller, tool, input)?["data"].take())
}

fn started(env: &TestEnv, goal: &str) -> String {
    let run = program(env, "task_run_start", json!({ "goal": goal, "success_criteria": ["all pages"] })).unwrap();
    run["task_run"]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn the_reading_verbs_show_what_the_program_reported() {
    let env = TestEnv::new();
    let id = started(&env, "Crawl it");
    let report = json!({
        "run_id": id, "progress_summary": "page 2\u{1b}[31m", "completed_items": ["page 1"], "current_cursor": "page 2",
        "failed_items": [{ "item": "page 0", "reason": "404" }], "last_evidence": [{ "kind": "url", "ref": "http://x" }],
    });
    program(&env, "task_run_update", report).unwrap();
    program(&env, "task_run_checkpoint", json!({ "run_id": id, "summary": "1 of 9" })).unwrap();
    let list = env.ok(&["list"]);
    assert!(list.contains("crawl-it  tracked, last report ") && list.contains(" ago: 1 of 9"), "{list}");
    let show = env.ok(&["show", "crawl-it"]);
    for words in
        ["by an outside program", "1 completed, 1 failed", "page 0: 404", "url http://x", "1 of 9", "all pages"]
    {
        assert!(show.contains(words), "{words}: {show}");
    }
    assert!(!show.contains("sandbox") && !show.contains("workspace"), "{show}");
    let why = env.ok(&["why", "crawl-it"]);
    assert!(why.contains("started as `crawl-it` by an outside program") && why.contains("ago: 1 of 9"), "{why}");
    let events = env.ok(&["events", "crawl-it"]);
    assert!(events.contains("reported: page 2") && !events.contains('\u{1b}'), "{events}");
    assert_eq!(env.kinds("crawl-it"), ["submitted", "reported", "checkpointed"]);
    let page = env.ok(&["report", "crawl-it"]);
    for words in ["## Reported by the program", "### Completed: 1", "page 0", "References, not verified", "all pages"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("## Sessions") && !page.contains('\u{1b}'), "{page}");
    for verb in ["show", "why", "events", "report", "list"] {
        let task: &[&str] = if verb == "list" { &[] } else { &["crawl-it"] };
        assert_eq!(env.run(&[&[verb], task, &["--json"]].concat()).code, 0, "{verb}");
    }
    let task = env.json(&["list"])["tasks"][0].take();
    assert_eq!((task["driver"].as_str(), task["agent"].as_str()), (Some("external"), Some("")));
    assert!(task["reported"].is_string() && task["has_worker"].is_null(), "{task}");
    assert_eq!(env.json(&["events", "crawl-it", "--verify"])["events"], 3);
}

#[test]
fn a_person_answers_its_request_for_help() {
    let env = TestEnv::new();
    let id = started(&env, "Crawl it");
    program(&env, "task_run_needs_help", json!({ "run_id": id, "reason": "no password" })).unwrap();
    let list = env.ok(&["list"]);
    assert!(list.starts_with("NEEDS YOU\n! crawl-it  no password  "), "{list}");
    assert!(env.ok(&["why", "crawl-it"]).contains("longhaul resume crawl-it --reason"));
    assert_eq!(env.run(&["wait", "crawl-it"]).code, 5);
    assert_eq!(env.run(&["resume", "crawl-it"]).code, 2, "a reason is needed");
    env.ok(&["resume", "crawl-it", "--reason", "it is on the desk"]);
    let run = program(&env, "task_run_get", json!({ "run_id": id })).unwrap()["task_run"].take();
    assert_eq!((run["status"].as_str(), run["resume_reason"].as_str()), (Some("RUNNING"), Some("it is on the desk")));
    assert!(run["resumed_by"].is_string(), "{run}");
    let again = env.run(&["resume", "crawl-it", "--reason", "once more"]);
    assert!(again.code == 8 && again.stderr.contains("has not asked for help"), "{}", again.stderr);
    assert!(env.ok(&["show", "crawl-it"]).contains("it is on the desk"));
}

#[test]
fn other_verbs_are_refused_and_cancel_ends_it() {
    let env = TestEnv::new();
    let id = started(&env, "Crawl it");
    let refused: [&[&str]; 5] = [
        &["pause", "crawl-it"],
        &["tell", "crawl-it", "faster"],
        &["edit", "crawl-it", "--priority", "3"],
        &["retry", "crawl-it"],
        &["resume", "crawl-it", "--reason", "x", "--max-sessions", "3"],
    ];
    for words in refused {
        let done = env.run(words);
        assert!(done.code == 8 && done.stderr.contains("an outside program executes it"), "{words:?}: {}", done.stderr);
    }
    for words in [&["takeover", "crawl-it"][..], &["diff", "crawl-it"]] {
        assert_ne!(env.run(words).code, 0, "{words:?}");
    }
    assert_eq!(env.kinds("crawl-it"), ["submitted"], "nothing was changed");
    env.ok(&["cancel", "crawl-it", "--reason", "too slow"]);
    let late = program(&env, "task_run_update", json!({ "run_id": id })).unwrap_err();
    assert_eq!(late.code(), "invalid_task_run_transition");
    assert_eq!(env.run(&["wait", "crawl-it"]).code, 4);
}

#[test]
fn its_end_is_the_programs_word_and_nothing_is_verified() {
    let env = TestEnv::new();
    let end = |goal: &str, status: &str| {
        let id = started(&env, goal);
        let input = json!({ "run_id": id, "status": status, "progress_summary": "the disk is full" });
        program(&env, "task_run_complete", input).unwrap();
    };
    end("Fails", "FAILED");
    end("Works", "COMPLETED");
    assert_eq!((env.state("fails").as_str(), env.state("works").as_str()), ("failed", "done"));
    assert!(env.ok(&["show", "fails"]).contains("failed: the disk is full"));
    assert!(env.ok(&["why", "fails"]).contains("fails has failed (since "));
    assert!(env.ok(&["report", "fails"]).contains("**Not done**"));
    assert!(env.ok(&["report", "works"]).contains("was not checked by Longhaul"));
    assert_eq!((env.run(&["wait", "fails"]).code, env.run(&["wait", "works"]).code), (1, 0));
    assert!(env.ok(&["list", "--state", "failed"]).contains("fails"));
    let shown = env.json(&["show", "works"]);
    assert_eq!(
        (shown["task"]["result"].as_str(), shown["task"]["outcome"].as_str()),
        (Some("no_checks"), Some("done"))
    );
    assert_eq!(env.json(&["show", "fails"])["task"]["outcome"], "failed");
    env.ok(&["gc", "--dry-run"]);
    env.ok(&["store", "check"]);
}
