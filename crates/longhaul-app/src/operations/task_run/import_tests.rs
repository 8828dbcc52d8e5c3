//! A home of OpenChrome as its files are (`meta.json`, `events.jsonl`, `checkpoints/`), with everything wrong that can be wrong with them.
//! Imported twice, after an interruption, by two tenants, and only counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Rights};
use longhaul_keeper::Environment;
use longhaul_store::{Filter, Tenant};
use serde_json::{Value, json};

use super::{ImportOpenchrome, ImportOpenchromeInput, Imported};
use crate::operation::FrontEnd;
use crate::operations::tests::NoProcesses;
use crate::operations::{OPERATIONS, Show, TaskPageInput};
use crate::{App, Call, Caller, System, now};

const RUNNING: &str = "00112233445566aa";
const WAITING: &str = "00112233445566bb";
const FAILED: &str = "00112233445566cc";
const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

struct Scene {
    dir: tempfile::TempDir,
    app: Arc<App>,
}

impl Scene {
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let environment = Environment::from(vec![("LONGHAUL_HOME".into(), home.clone().into())]);
        let app = App::new(&home, System { environment, clock: now, processes: Arc::new(NoProcesses) });
        Scene { dir, app: Arc::new(app) }
    }

    fn call(&self, tenant: &str) -> Call {
        let mut caller = Caller::new(Actor::person("ann"), Ok(self.dir.path().to_owned()));
        caller.tenant = Tenant::new(tenant);
        Call::new(Arc::clone(&self.app), caller)
    }

    fn source(&self) -> PathBuf {
        self.dir.path().join("openchrome")
    }

    fn run(&self, id: &str) -> PathBuf {
        self.source().join("task-runs").join(id)
    }

    fn write(&self, id: &str, file: &str, text: &str) {
        let path = self.run(id).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn import(&self, tenant: &str, dry_run: bool) -> Imported {
        let input = ImportOpenchromeInput { directory: "openchrome".into(), dry_run };
        self.call(tenant).perform::<ImportOpenchrome>(input).await.unwrap().view
    }

    /// A run by its old id, as a client of TaskRun reads it.
    async fn get(&self, tenant: &str, id: &str) -> Value {
        let call = self.call(tenant);
        let call = Call::new(Arc::clone(&call.app), call.caller.through(FrontEnd::Mcp, Rights::ALL));
        let entry = OPERATIONS.iter().find(|entry| entry.about.name == "task_run_get").unwrap();
        let input = json!({ "run_id": id, "include_events": true, "include_checkpoint": true });
        match (entry.perform)(&call, input).await {
            Ok(document) => serde_json::from_str::<Value>(&document).unwrap()["data"].take(),
            Err(error) => json!(error.code()),
        }
    }

    /// Three sound runs: one goes on, one waits, one has ended.
    fn fill(&self) {
        self.write(RUNNING, "meta.json", &json!({
            "run_id": RUNNING, "status": "RUNNING", "goal": format!("crawl the site with {TOKEN}"),
            "success_criteria": ["all pages"], "session_id": "s1", "workflow_id": "w1", "ledger_task_ids": ["l1", "l2"],
            "progress_summary": "half of it", "completed_items": ["a", "b"], "completed_items_truncated": 7,
            "failed_items": [{ "item": "c", "reason": "timeout" }], "current_cursor": "page 3",
            "last_evidence": [{ "kind": "url", "ref": "https://a.example/3" }],
            "created_at": 1_700_000_000_000_i64, "updated_at": 1_700_000_009_000_i64,
        }).to_string());
        let events = [
            json!({ "ts": 1_700_000_000_000_i64, "kind": "started", "data": { "status": "RUNNING" } }),
            json!({ "ts": 1_700_000_001_000_i64, "kind": "needs_help", "data": { "reason": "a captcha", "resume_hint": "solve it" } }),
            json!({ "ts": 1_700_000_002_000_i64, "kind": "updated", "data": { "status": "RUNNING", "resume_reason": "solved" } }),
            json!({ "ts": 1_700_000_005_000_i64, "kind": "checkpointed", "data": { "checkpoint_id": "0123456789abcdef" } }),
        ];
        self.write(RUNNING, "events.jsonl", &events.map(|event| format!("{event}\n")).concat());
        self.write(RUNNING, "checkpoints/0123456789abcdef.json", &json!({
            "checkpoint_id": "0123456789abcdef", "run_id": RUNNING, "summary": "after page 2", "current_cursor": "page 2",
            "created_at": 1_700_000_005_000_i64,
        }).to_string());
        self.write(
            WAITING,
            "meta.json",
            &json!({
                "run_id": WAITING, "status": "NEEDS_HELP", "goal": "buy a ticket", "ledger_task_ids": [],
                "needs_help": { "reason": "which train?", "requested_at": 1_700_000_100_000_i64 },
                "created_at": 1_700_000_050_000_i64, "updated_at": 1_700_000_100_000_i64,
            })
            .to_string(),
        );
        self.write(FAILED, "meta.json", &json!({
            "run_id": FAILED, "status": "FAILED", "goal": "buy a ticket", "ledger_task_ids": [], "progress_summary": "sold out",
            "created_at": 1_600_000_000_000_i64, "updated_at": 1_600_000_003_000_i64, "completed_at": 1_600_000_004_000_i64,
        }).to_string());
    }
}

#[tokio::test]
async fn runs_keep_what_they_say_their_times_and_their_old_ids() {
    let scene = Scene::new();
    scene.fill();
    let imported = scene.import("default", false).await;
    assert_eq!((imported.imported, imported.known, imported.skipped.len()), (3, 0, 0), "{imported:?}");
    let running = scene.get("default", RUNNING).await;
    let run = &running["task_run"];
    assert_eq!(run["run_id"], TaskId::of_alias("default", RUNNING).to_string());
    assert_eq!(
        (&run["status"], &run["created_at"], &run["updated_at"]),
        (&json!("RUNNING"), &json!(1_700_000_000_000_i64), &json!(1_700_000_009_000_i64))
    );
    for (field, value) in [
        ("progress_summary", json!("half of it")),
        ("completed_items", json!(["a", "b"])),
        ("completed_items_truncated", json!(7)),
        ("failed_items", json!([{ "item": "c", "reason": "timeout" }])),
        ("current_cursor", json!("page 3")),
        ("session_id", json!("s1")),
        ("workflow_id", json!("w1")),
        ("ledger_task_ids", json!(["l1", "l2"])),
        ("success_criteria", json!(["all pages"])),
        ("resume_reason", json!("solved")),
    ] {
        assert_eq!(run[field], value, "{field}");
    }
    assert!(!running.to_string().contains(TOKEN) && run["goal"].as_str().unwrap().contains("redacted"), "{run}");
    assert_eq!(
        (&running["checkpoint"]["summary"], &running["checkpoint"]["created_at"]),
        (&json!("after page 2"), &json!(1_700_000_005_000_i64))
    );
    let times: Vec<i64> =
        running["events"].as_array().unwrap().iter().map(|event| event["ts"].as_i64().unwrap()).collect();
    assert_eq!(times.first(), Some(&1_700_000_000_000));
    assert!(times.is_sorted() && times.contains(&1_700_000_001_000), "{times:?}");
    let waiting = scene.get("default", WAITING).await;
    assert_eq!(waiting["task_run"]["status"], "NEEDS_HELP");
    assert_eq!(
        waiting["task_run"]["needs_help"],
        json!({ "reason": "which train?", "requested_at": 1_700_000_100_000_i64 })
    );
    let failed = scene.get("default", FAILED).await;
    assert_eq!(
        (&failed["task_run"]["status"], &failed["task_run"]["completed_at"]),
        (&json!("FAILED"), &json!(1_600_000_004_000_i64))
    );
    let shown = scene
        .call("default")
        .perform::<Show>(TaskPageInput { task: Some(FAILED.into()), ..TaskPageInput::default() })
        .await
        .unwrap()
        .view;
    assert_eq!((shown.task.id, shown.task.is_finished), (TaskId::of_alias("default", FAILED).to_string(), true));
}

#[tokio::test]
async fn importing_again_changes_nothing_and_an_interrupted_import_is_completed() {
    let scene = Scene::new();
    scene.fill();
    assert_eq!(scene.import("default", true).await.imported, 3);
    assert!(!scene.dir.path().join("home").exists(), "counting writes nothing");
    scene.import("default", false).await;
    let before = scene.get("default", RUNNING).await;
    let again = scene.import("default", false).await;
    assert_eq!((again.imported, again.known), (0, 3));
    assert_eq!(scene.get("default", RUNNING).await, before);
    let call = scene.call("other");
    let whole = scene.call("default");
    let events = whole.store().unwrap().events(TaskId::of_alias("default", RUNNING), 0, 100).await.unwrap();
    assert!(events.len() > 4, "{events:?}");
    // The first commits of an import by another tenant, as a kill leaves them.
    let task = TaskId::of_alias("other", RUNNING);
    for (at, event) in events.iter().take(2).enumerate() {
        let guard = if at == 0 { longhaul_store::Guard::New } else { longhaul_store::Guard::Version(at as u64) };
        let (events, actor, at) = (vec![event.event.clone()], event.actor.clone(), event.at);
        let change =
            longhaul_store::Change { task, guard, events, actor, at, key: None, claim: None, session_cap: None };
        call.store().unwrap().commit(change).await.unwrap();
    }
    assert_eq!(scene.get("other", RUNNING).await["task_run"]["status"], "NEEDS_HELP");
    assert_eq!(scene.import("other", false).await.imported, 3);
    let (mut completed, mut expected) = (scene.get("other", RUNNING).await, before);
    for run in [&mut completed, &mut expected] {
        let text = run.to_string();
        *run =
            serde_json::from_str(&text.replace(&run["task_run"]["run_id"].as_str().unwrap().to_owned(), "ID")).unwrap();
    }
    assert_eq!(completed, expected);
    assert_eq!(call.summaries(Filter::default()).await.unwrap().tasks.len(), 3, "each tenant has its own");
    scene.write(
        RUNNING,
        "meta.json",
        &fs::read_to_string(scene.run(RUNNING).join("meta.json")).unwrap().replace("RUNNING", "COMPLETED"),
    );
    assert_eq!(scene.import("default", false).await.known, 3, "what was imported is left alone");
    assert_eq!(scene.get("default", RUNNING).await["task_run"]["status"], "RUNNING");
}

#[tokio::test]
async fn what_cannot_be_read_is_counted_by_kind_and_hides_nothing() {
    let scene = Scene::new();
    scene.fill();
    let meta = |id: &str, more: Value| {
        let mut meta = json!({ "run_id": id, "status": "RUNNING", "goal": "g", "created_at": 1, "updated_at": 2 });
        meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        meta.to_string()
    };
    for name in ["short", "00112233445566aaff", "zz112233445566aa", "..x"] {
        scene.write(name, "meta.json", &meta(name, json!({})));
    }
    for (id, text) in [
        ("1000000000000001", "not json".to_owned()),
        ("1000000000000002", meta("2000000000000002", json!({}))),
        ("1000000000000003", "[]".to_owned()),
        ("1000000000000004", meta("1000000000000004", json!({ "goal": "  " }))),
        (
            "1000000000000005",
            meta(
                "1000000000000005",
                json!({ "status": "ODD", "page_url": "x", "completed_items": [1, "a"], "current_cursor": 7, "last_evidence": [{ "kind": "odd", "ref": "r" }] }),
            ),
        ),
    ] {
        scene.write(id, "meta.json", &text);
    }
    fs::create_dir_all(scene.run("1000000000000006")).unwrap();
    std::os::unix::fs::symlink(scene.run(RUNNING), scene.run("1000000000000007")).unwrap();
    let known = fs::read_to_string(scene.run(RUNNING).join("events.jsonl")).unwrap();
    let odd = json!({ "ts": 1_700_000_006_000_i64, "kind": "auto_session_snapshot", "data": {} });
    scene.write(RUNNING, "events.jsonl", &format!("{known}nonsense\n{odd}\n{{\"ts\":1,\"ki"));
    scene.write(RUNNING, "checkpoints/bad.json", "{");
    let imported = scene.import("default", false).await;
    assert_eq!(imported.imported, 4, "{imported:?}");
    let counted =
        |what: &str| imported.skipped.iter().find(|skipped| skipped.what == what).map_or(0, |skipped| skipped.count);
    for (what, count) in [
        ("not the directory of a run", 5),
        ("unreadable record", 4),
        ("run without a goal", 1),
        ("torn or malformed event", 2),
        ("event of unknown kind `auto_session_snapshot`", 1),
        ("unreadable checkpoint", 1),
        ("unknown field `page_url` of a record", 1),
        ("field `current_cursor` of the wrong type", 1),
        ("entry of `completed_items` that cannot be read", 1),
        ("entry of `last_evidence` that cannot be read", 1),
        ("record with unknown status `ODD`", 1),
    ] {
        assert_eq!(counted(what), count, "{what}: {imported:?}");
    }
    assert_eq!(imported.skipped.len(), 11, "{imported:?}");
    assert_eq!(scene.get("default", "1000000000000005").await["task_run"]["completed_items"], json!(["a"]));
    assert_eq!(scene.get("default", "1000000000000001").await, "task_run_not_found");
    assert_eq!(scene.get("other", RUNNING).await, "task_run_not_found", "an alias is its tenant's");
    assert!(Path::new(&scene.source()).exists());
}
