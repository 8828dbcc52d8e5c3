//! The seven operations as servers perform them, from JSON to JSON, on real stores: the life of a run, refusals that leave no trace,
//! types, repeats, secrets, and many callers at once.

mod repeats;

use std::path::Path;
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::names::TaskName;
use longhaul_core::task::{Actor, Event, ReferenceKind, Rights, RunStatus, Submission};
use longhaul_keeper::Environment;
use longhaul_store::{Change, Filter, Guard};
use serde_json::{Value, json};

use crate::app::{App, Call};
use crate::caller::Caller;
use crate::error::AppError;
use crate::lookup;
use crate::operation::FrontEnd;
use crate::operations::tests::NoProcesses;
use crate::operations::{
    Cancel, CancelInput, Edit, OPERATIONS, Pause, Resume, ResumeInput, Retry, Submit, SubmitInput, Tell,
};
use crate::processes::System;

const SEVEN: [&str; 7] = ["start", "update", "checkpoint", "needs_help", "complete", "get", "list"];
const COMMIT: &str = "8b1a9953c4611296a827abf8c47804d7c0ffee11";

struct Scene {
    dir: tempfile::TempDir,
    call: Call,
}

impl Scene {
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let call = call_on(dir.path(), Actor::person("ann"));
        Scene { dir, call }
    }

    fn home(&self) -> std::path::PathBuf {
        self.dir.path().join("home")
    }

    /// The data of an answer, or the code of an error.
    async fn ask(&self, tool: &str, input: Value) -> Result<Value, &'static str> {
        Ok(self.document(tool, input).await.map_err(|error| error.code())?["data"].take())
    }

    async fn document(&self, tool: &str, input: Value) -> Result<Value, AppError> {
        perform(&self.call, tool, input).await
    }

    async fn start(&self, goal: &str) -> String {
        self.ask("start", json!({ "goal": goal })).await.unwrap()["task_run"]["run_id"].as_str().unwrap().to_owned()
    }

    async fn get(&self, run_id: &str) -> Value {
        let input = json!({ "run_id": run_id, "include_events": true, "include_checkpoint": true });
        self.ask("get", input).await.unwrap()
    }
}

impl Scene {
    /// A task of this project that Longhaul executes.
    async fn supervised(&self) -> TaskId {
        let (name, project) = (TaskName::new("ours").unwrap(), self.call.caller.project().unwrap().root);
        let submission = Submission::new("port it".into(), name, project.to_str().unwrap().into(), "demo".into());
        let (task, actor, at) = (crate::mint_task(), Actor::person("ann"), crate::now());
        let events = vec![Event::Submitted { submission: submission.into() }];
        let change = Change { task, guard: Guard::New, events, actor, at, key: None, claim: None, session_cap: None };
        self.call.store().unwrap().commit(change).await.unwrap();
        task
    }
}

fn call_on(dir: &Path, actor: Actor) -> Call {
    let variables = vec![
        ("LONGHAUL_HOME".into(), dir.join("home").into()),
        ("HOME".into(), dir.into()),
        ("API_TOKEN".into(), "hunter2-hunter2-hunter2".into()),
    ];
    let environment = Environment::from(variables);
    let system = System { environment, clock: crate::now, processes: Arc::new(NoProcesses) };
    let caller = Caller::new(actor, Ok(dir.to_owned())).through(FrontEnd::Mcp, Rights::ALL);
    Call::new(App::new(&dir.join("home"), system).into(), caller)
}

async fn perform(call: &Call, tool: &str, input: Value) -> Result<Value, AppError> {
    let name = format!("task_run_{tool}");
    let entry = OPERATIONS.iter().find(|entry| entry.about.name == name).expect("one of the seven");
    let text = (entry.perform)(call, input).await?;
    let document: Value = serde_json::from_str(&text).unwrap();
    let schema = (entry.view_schema)().to_value();
    let problem =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&document["data"]).next().map(|e| e.to_string());
    assert_eq!(problem, None, "{document}");
    Ok(document)
}

/// Whether an error names one of the words that say what to do.
fn says(error: &AppError, words: &str) -> bool {
    error.text().contains(words)
}

#[tokio::test]
async fn a_run_from_its_start_to_its_end() {
    let scene = Scene::new();
    let goal = json!({ "goal": "crawl the site", "success_criteria": ["all pages", " "], "session_id": " s1 ", "ledger_task_ids": ["l1", "l1"] });
    let run = scene.ask("start", goal).await.unwrap()["task_run"].take();
    let id = run["run_id"].as_str().unwrap().to_owned();
    assert_eq!((run["status"].as_str(), run["driver"].as_str()), (Some("RUNNING"), Some("external")));
    assert_eq!((&run["success_criteria"], &run["session_id"]), (&json!(["all pages"]), &json!("s1")));
    assert_eq!((&run["ledger_task_ids"], &run["created_at"]), (&json!(["l1"]), &run["updated_at"]));
    assert!(run.get("completed_items").is_none() && run.get("needs_help").is_none() && run["verified"] == false);
    let update = json!({
        "run_id": id, "progress_summary": "page 2", "completed_items": ["page 1"], "current_cursor": "page 2",
        "failed_items": [{ "item": "page 0", "reason": "404" }], "ledger_task_ids": ["l2"],
        "last_evidence": [{ "kind": "commit", "ref": COMMIT }],
    });
    let run = scene.ask("update", update).await.unwrap()["task_run"].take();
    assert_eq!((&run["completed_items"], &run["ledger_task_ids"]), (&json!(["page 1"]), &json!(["l1", "l2"])));
    assert_eq!(run["last_evidence"], json!([{ "kind": "commit", "ref": COMMIT }]));
    let checkpoint = scene.ask("checkpoint", json!({ "run_id": id, "summary": "one of nine" })).await.unwrap();
    let got = scene.get(&id).await;
    assert_eq!(got["checkpoint"], checkpoint["checkpoint"]);
    assert_eq!(got["checkpoint"]["source_event_range"], json!({ "from": 1, "to": 2 }));
    let help = json!({ "run_id": id, "reason": "no password", "resume_hint": "log in" });
    let run = scene.ask("needs_help", help).await.unwrap()["task_run"].take();
    assert_eq!(
        (run["status"].as_str(), run["needs_help"]["resume_hint"].as_str()),
        (Some("NEEDS_HELP"), Some("log in"))
    );
    let still = scene.document("update", json!({ "run_id": id, "progress_summary": "waiting" })).await.unwrap();
    assert_eq!(still["data"]["task_run"]["needs_help"], run["needs_help"]);
    assert!(still["warnings"][0].as_str().unwrap().contains("still waits for a person: no password"), "{still}");
    assert_eq!(
        scene.ask("update", json!({ "run_id": id, "status": "RUNNING" })).await,
        Err("invalid_task_run_transition")
    );
    let resumed = json!({ "run_id": id, "status": "RUNNING", "resume_reason": "found it" });
    let run = scene.ask("update", resumed).await.unwrap()["task_run"].take();
    assert_eq!((run["status"].as_str(), run.get("needs_help")), (Some("RUNNING"), None));
    let run = scene.ask("complete", json!({ "run_id": id, "progress_summary": "all nine" })).await.unwrap()["task_run"]
        .take();
    assert_eq!((run["status"].as_str(), &run["verified"]), (Some("COMPLETED"), &json!(false)));
    assert_eq!(run["completed_at"], run["updated_at"]);
    let got = scene.get(&id).await;
    let kinds: Vec<&str> =
        got["events"].as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["started", "updated", "checkpointed", "needs_help", "updated", "updated", "updated", "updated", "completed"]
    );
    assert_eq!(got["events"][2]["data"]["checkpoint_id"], got["checkpoint"]["checkpoint_id"]);
    for (tool, extra) in [
        ("update", json!({})),
        ("checkpoint", json!({ "summary": "s" })),
        ("needs_help", json!({ "reason": "r" })),
        ("complete", json!({ "status": "FAILED" })),
    ] {
        let mut input = extra;
        input["run_id"] = json!(id);
        assert_eq!(scene.ask(tool, input).await, Err("invalid_task_run_transition"), "{tool}");
    }
    assert_eq!(scene.get(&id).await, got, "a final run never changes");
}

#[tokio::test]
async fn what_is_refused_changes_nothing() {
    let scene = Scene::new();
    let id = scene.start("g").await;
    let before = scene.get(&id).await;
    for (status, code, tool) in [
        ("COMPLETED", "invalid_task_run_transition", "task_run_complete"),
        ("FAILED", "invalid_task_run_transition", "task_run_complete"),
        ("NEEDS_HELP", "invalid_task_run_transition", "task_run_needs_help"),
        ("PENDING", "invalid_task_run_transition", "PENDING"),
        ("SLEEPING", "invalid_argument", "SLEEPING"),
    ] {
        let error = scene.document("update", json!({ "run_id": id, "status": status })).await.unwrap_err();
        assert_eq!(error.code(), code, "{status}");
        assert!(says(&error, tool), "{status}: {}", error.text());
    }
    for (tool, extra, code) in [
        ("needs_help", json!({ "reason": " " }), "invalid_argument"),
        ("needs_help", json!({}), "invalid_argument"),
        ("checkpoint", json!({ "summary": "" }), "invalid_argument"),
        ("complete", json!({ "status": "RUNNING" }), "invalid_task_run_transition"),
        ("update", json!({ "last_evidence": [{ "kind": "url", "ref": " " }] }), "invalid_argument"),
        ("update", json!({ "last_evidence": [{ "kind": "rumour", "ref": "x" }] }), "invalid_argument"),
        ("update", json!({ "ledger_task_ids": "l1" }), "invalid_argument"),
        ("update", json!({ "ledger_task_ids": 7 }), "invalid_argument"),
        ("update", json!({ "completed_items": "page" }), "invalid_argument"),
        ("update", json!({ "failed_items": [{ "item": "x" }] }), "invalid_argument"),
        ("update", json!({ "progress_summary": 7 }), "invalid_argument"),
        ("get", json!({ "include_events": "yes" }), "invalid_argument"),
    ] {
        let mut input = extra.clone();
        input["run_id"] = json!(id);
        assert_eq!(scene.ask(tool, input).await, Err(code), "{tool} {extra}");
    }
    assert_eq!(scene.get(&id).await, before);
}

#[tokio::test]
async fn bad_input_leaves_not_even_a_home() {
    let scene = Scene::new();
    for goal in
        [json!({}), json!({ "goal": "" }), json!({ "goal": " \n" }), json!({ "goal": 7 }), json!({ "goal": null })]
    {
        assert_eq!(scene.ask("start", goal).await, Err("invalid_argument"));
    }
    let unknown = crate::mint_task().to_string();
    for (id, code) in [
        (unknown.as_str(), "task_run_not_found"),
        (&unknown.to_uppercase(), "invalid_argument"),
        ("../../etc/passwd", "invalid_argument"),
        ("0190a0b0-c0d0-7000-8000-00000000000\u{0}", "invalid_argument"),
        ("８", "invalid_argument"),
        ("", "invalid_argument"),
    ] {
        for (tool, mut input) in changes() {
            input["run_id"] = json!(id);
            assert_eq!(scene.ask(tool, input).await, Err(code), "{tool} {id:?}");
        }
        assert_eq!(scene.ask("get", json!({ "run_id": id })).await, Err(code), "{id:?}");
    }
    assert_eq!(scene.ask("list", json!({})).await.unwrap()["task_runs"], json!([]));
    assert!(!scene.home().exists());
}

fn changes() -> [(&'static str, Value); 4] {
    [
        ("update", json!({})),
        ("checkpoint", json!({ "summary": "s" })),
        ("needs_help", json!({ "reason": "r" })),
        ("complete", json!({})),
    ]
}

#[tokio::test]
async fn a_thousand_changes_of_unknown_runs_leave_no_row_and_no_file() {
    let scene = Scene::new();
    scene.start("the only one").await;
    let files = || {
        let mut names: Vec<_> =
            std::fs::read_dir(scene.home()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (before, database) = (files(), std::fs::metadata(scene.home().join("longhaul.db")).unwrap().len());
    for number in 0..250 {
        for (tool, mut input) in changes() {
            input["run_id"] = json!(crate::mint_task().to_string());
            input["key"] = json!(format!("{tool}-{number}"));
            assert_eq!(scene.ask(tool, input).await, Err("task_run_not_found"));
        }
    }
    assert_eq!(files(), before);
    assert_eq!(std::fs::metadata(scene.home().join("longhaul.db")).unwrap().len(), database);
    assert_eq!(scene.call.list(Filter::default()).await.unwrap().tasks.len(), 1);
}

/// Twenty-five callers at once, on one store and on two of one home: nobody's item is lost, and the order has no gap.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_updates_are_all_kept() {
    for stores in [1, 2] {
        let scene = Scene::new();
        let id = scene.start("count").await;
        let other = call_on(scene.dir.path(), Actor::person("bea"));
        let barrier = Arc::new(tokio::sync::Barrier::new(25));
        let tasks: Vec<_> = (0..25)
            .map(|number| {
                let call = if number % stores == 0 { scene.call.clone() } else { other.clone() };
                let (id, barrier) = (id.clone(), Arc::clone(&barrier));
                tokio::spawn(async move {
                    barrier.wait().await;
                    let item = format!("item {number}");
                    perform(&call, "update", json!({ "run_id": id, "completed_items": [item] })).await.unwrap();
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let got = scene.get(&id).await;
        let mut items: Vec<String> = serde_json::from_value(got["task_run"]["completed_items"].clone()).unwrap();
        items.sort();
        let mut expected: Vec<String> = (0..25).map(|number| format!("item {number}")).collect();
        expected.sort();
        assert_eq!(items, expected, "{stores}");
        let seqs: Vec<u64> =
            got["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=26).collect::<Vec<u64>>());
    }
}

#[tokio::test]
async fn secrets_are_masked_and_ids_are_not() {
    let scene = Scene::new();
    let secret = "hunter2-hunter2-hunter2";
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let started =
        scene.document("start", json!({ "goal": format!("use {secret}"), "session_id": secret })).await.unwrap();
    assert!(started["warnings"][0].as_str().unwrap().contains("masked"), "{started}");
    let id = started["data"]["task_run"]["run_id"].as_str().unwrap();
    let update = json!({
        "run_id": id, "progress_summary": format!("with {token} at {COMMIT}"), "completed_items": [secret],
        "failed_items": [{ "item": token, "reason": secret }], "current_cursor": format!("x{secret}"),
        "last_evidence": [{ "kind": "url", "ref": format!("https://x/?password={secret}"), "summary": secret }],
        "ledger_task_ids": [secret], "workflow_id": secret,
    });
    scene.ask("update", update).await.unwrap();
    scene.ask("needs_help", json!({ "run_id": id, "reason": secret, "resume_hint": token })).await.unwrap();
    scene.ask("checkpoint", json!({ "run_id": id, "summary": format!("{secret} and {id}") })).await.unwrap();
    let got = scene.get(id).await;
    assert!(got["checkpoint"]["summary"].as_str().unwrap().ends_with(id), "{got}");
    assert!(got["events"][1]["text"].as_str().unwrap().contains(COMMIT), "{got}");
    let mut everything = got.to_string().into_bytes();
    for file in
        std::fs::read_dir(scene.home()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        everything.extend(std::fs::read(file).unwrap());
    }
    let holds = |text: &str| everything.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds(COMMIT), "the control");
    assert!(!holds(secret) && !holds(&token));
}

#[tokio::test]
async fn a_person_answers_and_cancels_and_nothing_else() {
    let scene = Scene::new();
    let id = scene.start("crawl").await;
    let resume =
        |reason: &str| ResumeInput { task: Some(id.clone()), reason: Some(reason.into()), ..ResumeInput::default() };
    assert_eq!(scene.call.perform::<Resume>(resume("x")).await.unwrap_err().code(), "conflict");
    scene.ask("needs_help", json!({ "run_id": id, "reason": "no password" })).await.unwrap();
    scene.call.perform::<Resume>(resume("it is on the desk")).await.unwrap();
    let run = scene.get(&id).await["task_run"].take();
    assert_eq!((run["status"].as_str(), run["resume_reason"].as_str()), (Some("RUNNING"), Some("it is on the desk")));
    assert_eq!(run["resumed_by"], "ann");
    let input = json!({ "task": id });
    let edit = json!({ "task": id, "priority": 3 });
    let tell = json!({ "task": id, "text": "x" });
    let refused = [
        scene.call.perform::<Pause>(serde_json::from_value(input.clone()).unwrap()).await.unwrap_err(),
        scene.call.perform::<Edit>(serde_json::from_value(edit).unwrap()).await.unwrap_err(),
        scene.call.perform::<Tell>(serde_json::from_value(tell).unwrap()).await.unwrap_err(),
        scene.call.perform::<Retry>(serde_json::from_value(input).unwrap()).await.unwrap_err(),
    ];
    for error in refused {
        assert!(says(&error, "outside program executes it") && error.code() == "conflict", "{error:?}");
    }
    let cancel = CancelInput { task: Some(id.clone()), reason: Some("too slow".into()), ..CancelInput::default() };
    scene.call.perform::<Cancel>(cancel).await.unwrap();
    assert_eq!(scene.get(&id).await["task_run"]["status"], "CANCELLED");
    assert_eq!(scene.ask("update", json!({ "run_id": id })).await, Err("invalid_task_run_transition"));
}

#[tokio::test]
async fn a_supervised_task_is_shown_and_not_changed() {
    let scene = Scene::new();
    let run = scene.start("mine").await;
    let task = scene.supervised().await;
    let shown = scene.get(&task.to_string()).await["task_run"].take();
    assert_eq!((shown["status"].as_str(), shown["driver"].as_str()), (Some("PENDING"), Some("supervised")));
    for (tool, mut input) in changes() {
        input["run_id"] = json!(task.to_string());
        let error = scene.document(tool, input).await.unwrap_err();
        assert_eq!(error.code(), "invalid_task_run_transition", "{tool}");
        assert!(says(&error, "`longhaul tell`, `longhaul resume` or `longhaul cancel`"), "{tool}: {}", error.text());
    }
    let of = async |input: Value| {
        let page = scene.ask("list", input).await.unwrap();
        let ids = page["task_runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<String>>()
    };
    let ours = task.to_string();
    assert_eq!(of(json!({ "driver": "supervised" })).await, [ours.as_str()]);
    assert_eq!(of(json!({ "driver": "external" })).await, [run.as_str()]);
    assert_eq!(of(json!({ "status": "PENDING" })).await, [ours.as_str()]);
    assert_eq!(of(json!({})).await, [ours.as_str(), run.as_str()], "newest first");
    assert_eq!(scene.ask("list", json!({ "driver": "alien" })).await, Err("invalid_argument"));
}

#[tokio::test]
async fn lists_have_pages_with_clamped_limits() {
    let scene = Scene::new();
    let mut runs = Vec::new();
    for number in 0..45 {
        runs.push(scene.start(&format!("run {number}")).await);
    }
    runs.reverse();
    let mut found: Vec<String> = Vec::new();
    let mut cursor = Value::Null;
    let mut pages = 0;
    loop {
        let page = scene.ask("list", json!({ "limit": 20.9, "after": cursor })).await.unwrap();
        found
            .extend(page["task_runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()));
        cursor = page["next"].clone();
        pages += 1;
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((found, pages), (runs.clone(), 3));
    for (limit, expected) in [(json!(0), 1), (json!(-5), 1), (json!(1e9), 45), (Value::Null, 45), (json!(40), 40)] {
        let page = scene.ask("list", json!({ "limit": limit, "since": 0 })).await.unwrap();
        assert_eq!(page["task_runs"].as_array().unwrap().len(), expected, "{limit}");
        assert_eq!(page["next"].is_null(), expected == 45, "{limit}");
    }
    let newest = scene.get(&runs[0]).await["task_run"]["created_at"].as_u64().unwrap();
    let later = scene.ask("list", json!({ "since": newest + 1 })).await.unwrap();
    assert_eq!(later["task_runs"], json!([]));
    for bad in
        [json!({ "limit": "many" }), json!({ "since": "today" }), json!({ "after": "x" }), json!({ "status": "x" })]
    {
        assert_eq!(scene.ask("list", bad).await, Err("invalid_argument"));
    }
}

#[tokio::test]
async fn the_events_of_a_run_have_a_bound_in_bytes() {
    let scene = Scene::new();
    let id = scene.start("g").await;
    let long = "x".repeat(2_000);
    for number in 0..250 {
        let help = json!({ "run_id": id, "reason": format!("{number} {long}"), "resume_hint": long });
        scene.ask("needs_help", help).await.unwrap();
    }
    let got = scene.get(&id).await;
    let events = got["events"].as_array().unwrap();
    assert!((100..250).contains(&events.len()) && got.to_string().len() < 1_200_000, "{}", events.len());
    assert_eq!((&events.last().unwrap()["seq"], &got["events_truncated"]), (&json!(251), &json!(251 - events.len())));
}

/// Outside programs start runs when they like, and that must not change what a person means.
#[tokio::test]
async fn a_run_is_meant_only_by_its_name() {
    let scene = Scene::new();
    scene.start("a run").await;
    let nothing = lookup::find(&scene.call, None).await.unwrap_err();
    assert_eq!(nothing.what, "no unfinished task in this project");
    let ours = scene.supervised().await;
    scene.start("another run").await;
    assert_eq!(lookup::find(&scene.call, None).await.unwrap().task.id, ours);
}

#[tokio::test]
async fn a_task_cannot_wait_for_a_run() {
    let scene = Scene::new();
    let id = scene.start("crawl").await;
    let settings = [("agent".into(), "demo".into())].into();
    let after = SubmitInput { goal: "g".into(), after: Some(id), in_place: true, settings, ..SubmitInput::default() };
    let refused = scene.call.perform::<Submit>(after).await.unwrap_err();
    assert_eq!((refused.code(), says(&refused, "crawl is executed by an outside program")), ("conflict", true));
}

/// A page of large records ends early, and nothing is lost between pages.
#[tokio::test]
async fn a_page_has_a_bound_in_bytes() {
    let scene = Scene::new();
    for number in 0..4 {
        let id = scene.start(&format!("large {number}")).await;
        let items: Vec<String> = (0..500).map(|item| format!("{item} {}", "x".repeat(1_000))).collect();
        let failed: Vec<Value> = items.iter().map(|item| json!({ "item": item, "reason": item })).collect();
        scene.ask("update", json!({ "run_id": id, "failed_items": failed })).await.unwrap();
    }
    let first = scene.document("list", json!({})).await.unwrap();
    let (runs, next) = (first["data"]["task_runs"].as_array().unwrap().len(), &first["data"]["next"]);
    assert!(runs < 4 && !next.is_null(), "{runs}");
    assert!(first.to_string().len() < 3_000_000);
    let rest = scene.ask("list", json!({ "after": next })).await.unwrap();
    assert_eq!(runs + rest["task_runs"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_session_reports_on_no_run_but_its_own() {
    let scene = Scene::new();
    let id = scene.start("g").await;
    let below = call_on(scene.dir.path(), Actor::below(crate::mint_session()));
    let before = scene.get(&id).await;
    for (tool, mut input) in changes() {
        input["run_id"] = json!(id);
        assert_eq!(perform(&below, tool, input).await.unwrap_err().code(), "task_run_not_found", "{tool}");
    }
    let refused = perform(&below, "start", json!({ "goal": "g" })).await.unwrap_err();
    assert!(refused.code() == "forbidden" && says(&refused, "only the agent of a session"), "{refused:?}");
    assert_eq!(scene.get(&id).await, before);
    let foreign = perform(&below, "get", json!({ "run_id": id })).await.unwrap_err();
    let unknown = perform(&below, "get", json!({ "run_id": crate::mint_task().to_string() })).await.unwrap_err();
    assert_eq!((foreign.code(), foreign.text()), ("task_run_not_found", unknown.text()));
}

/// What a schema promises is what the operation takes: required fields, and every value of every list of values.
#[tokio::test]
async fn schemas_and_behaviour_agree() {
    let schema = |tool: &str| {
        let name = format!("task_run_{tool}");
        (OPERATIONS.iter().find(|entry| entry.about.name == name).unwrap().input_schema)().to_value()
    };
    for tool in SEVEN {
        let schema = schema(tool);
        assert_eq!(schema["required"].is_null(), tool == "list", "{tool}: {schema}");
    }
    let scene = Scene::new();
    for status in schema("list")["properties"]["status"]["enum"].as_array().unwrap() {
        scene.ask("list", json!({ "status": status })).await.unwrap();
    }
    for status in schema("complete")["properties"]["status"]["enum"].as_array().unwrap() {
        let id = scene.start("g").await;
        scene.ask("complete", json!({ "run_id": id, "status": status })).await.unwrap();
    }
    let id = scene.start("g").await;
    for status in schema("update")["properties"]["status"]["enum"].as_array().unwrap() {
        scene.ask("update", json!({ "run_id": id, "status": status })).await.unwrap();
    }
    for kind in ReferenceKind::WORDS {
        let evidence = json!([{ "kind": kind, "ref": "x" }]);
        let run = scene.ask("update", json!({ "run_id": id, "last_evidence": evidence })).await.unwrap();
        assert_eq!(run["task_run"]["last_evidence"], evidence);
    }
    for status in RunStatus::ALL {
        assert_eq!(serde_json::to_value(status).unwrap(), status.word());
    }
}

/// Each operation once, as it answers; the page is written on request, and the contract test holds its examples to the schemas.
#[tokio::test]
async fn every_kind_has_an_example() {
    let scene = Scene::new();
    let goal = json!({ "goal": "Crawl the site", "success_criteria": ["every page is stored"] });
    let started = scene.document("start", goal).await.unwrap();
    let id = started["data"]["task_run"]["run_id"].as_str().unwrap();
    let evidence = json!([{ "kind": "file", "ref": "pages/2.html", "summary": "the second page" }]);
    let report =
        json!({ "run_id": id, "completed_items": ["page 1"], "current_cursor": "page 2", "last_evidence": evidence });
    scene.ask("update", report).await.unwrap();
    let checkpoint = scene.document("checkpoint", json!({ "run_id": id, "summary": "1 of 9 pages" })).await.unwrap();
    let help = json!({ "run_id": id, "reason": "page 3 wants a password", "resume_hint": "log in" });
    let asked = scene.document("needs_help", help).await.unwrap();
    let whole = json!({ "run_id": id, "include_events": true, "include_checkpoint": true });
    let got = scene.document("get", whole).await.unwrap();
    let listed = scene.document("list", json!({ "status": "NEEDS_HELP" })).await.unwrap();
    let documents = [asked, checkpoint, got, listed];
    let kinds: Vec<&str> = documents.iter().map(|document| document["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["task_run", "task_run_checkpoint", "task_run_details", "task_runs"]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/task-runs.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (intro, _) = page.split_once("## Examples\n").unwrap();
        let examples =
            kinds.iter().zip(&documents).map(|(kind, text)| format!("\n### {kind}\n\n```json\n{text:#}\n```\n"));
        std::fs::write(path, format!("{intro}## Examples\n{}", examples.collect::<String>())).unwrap();
    }
}
