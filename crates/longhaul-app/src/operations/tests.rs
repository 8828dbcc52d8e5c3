//! Every operation against every kind of caller, from one table. Whoever adds an operation adds a row.
//! Nothing is stored or started here: the home does not exist, and an operation that creates it for the wrong caller fails the test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::task::Actor;
use longhaul_keeper::Environment;
use serde_json::{Value, json};

use super::OPERATIONS;
use crate::operation::{Effect, Entry};
use crate::{App, AppError, Asked, BootService, Call, Caller, Handover, NewWorker, Processes, Reply, System};

/// A name, an input, and whether a person, a session, a worker and somebody unknown may: `+` or `-`.
pub(super) fn table() -> Vec<(&'static str, Value, &'static str)> {
    let task = || json!({ "task": "t" });
    vec![
        ("accept_plan", task(), "+---"),
        ("agents", json!({}), "++-+"),
        ("cancel", task(), "+---"),
        ("config", json!({}), "++-+"),
        ("config_path", json!({}), "++-+"),
        ("diff", task(), "++-+"),
        ("doctor", json!({}), "++-+"),
        ("doctor_bundle", json!({ "file": "/nowhere/bundle" }), "+--+"),
        ("edit", json!({ "task": "t", "priority": 1 }), "+---"),
        ("events", task(), "++-+"),
        ("gc", json!({}), "+---"),
        ("list", json!({}), "++-+"),
        ("logs", task(), "++-+"),
        ("pause", task(), "+---"),
        ("plan", task(), "++-+"),
        ("report", task(), "++-+"),
        ("resume", task(), "+---"),
        ("retry", task(), "+---"),
        ("show", task(), "++-+"),
        ("store_backup", json!({ "file": "/nowhere/copy" }), "+--+"),
        ("store_check", json!({}), "+--+"),
        ("submit", json!({ "goal": "g" }), "++--"),
        ("task_run_checkpoint", json!({ "run_id": "t", "summary": "s" }), "+---"),
        ("task_run_complete", json!({ "run_id": "t" }), "+---"),
        ("task_run_get", json!({ "run_id": "t" }), "++-+"),
        ("task_run_list", json!({}), "++-+"),
        ("task_run_needs_help", json!({ "run_id": "t", "reason": "r" }), "+---"),
        ("task_run_start", json!({ "goal": "g" }), "+---"),
        ("task_run_update", json!({ "run_id": "t" }), "+---"),
        ("tell", json!({ "task": "t", "text": "x" }), "+---"),
        ("trust", json!({ "path": "/nowhere" }), "+---"),
        ("trust_list", json!({}), "+--+"),
        ("trust_remove", json!({ "path": "/nowhere" }), "+---"),
        ("verify_history", task(), "++-+"),
        ("wait", task(), "++-+"),
        ("why", task(), "++-+"),
    ]
}

fn callers() -> [Actor; 4] {
    let session = crate::mint_session();
    [Actor::person("ann"), Actor::below(session), Actor::worker(), Actor::unknown("ann")]
}

/// Fails the test if anything is started.
pub(super) struct NoProcesses;

impl Processes for NoProcesses {
    fn start_worker(&self, _: &App, worker: NewWorker) -> Result<u32, AppError> {
        panic!("a worker was started: {worker:?}")
    }

    fn start_worker_for(&self, _: &App, handover: &Handover) -> Result<Reply, AppError> {
        panic!("a worker was started for {handover:?}")
    }

    fn ask(&self, _: &Path, _: &[&str], _: Duration) -> Asked {
        Asked::Unknown
    }

    fn boot_service(&self, _: &Environment) -> Result<Option<BootService>, AppError> {
        Ok(None)
    }
}

#[tokio::test]
async fn unknown_fields_are_named_and_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let system =
        System { environment: Environment::from(Vec::new()), clock: crate::now, processes: Arc::new(NoProcesses) };
    let app = App::new(&directory.path().join("home"), system);
    let call = Call::new(Arc::new(app), Caller::new(Actor::person("ann"), Ok(directory.path().to_owned())));
    let list = OPERATIONS.iter().find(|entry| entry.about.name == "list").unwrap();
    let answer = (list.perform)(&call, json!({ "all": true, "wait_for_previous": true })).await.unwrap();
    let document: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(document["warnings"], json!(["`list` has no field `wait_for_previous`"]), "{document}");
}

#[test]
fn the_table_has_every_operation_once() {
    let mut names: Vec<&str> = OPERATIONS.iter().map(|entry| entry.about.name).collect();
    names.sort_unstable();
    assert_eq!(names, table().iter().map(|(name, ..)| *name).collect::<Vec<_>>());
}

#[test]
fn operations_that_change_tasks_take_keys_and_no_others_do() {
    let takes_key =
        |entry: &&Entry| (entry.input_schema)().get("properties").is_some_and(|all| all.get("key").is_some());
    let names: Vec<&str> = OPERATIONS.iter().filter(takes_key).map(|entry| entry.about.name).collect();
    assert_eq!(names, ["accept_plan", "cancel", "edit", "pause", "resume", "retry", "submit", "tell"]);
    assert!(OPERATIONS.iter().filter(takes_key).all(|entry| entry.about.effect == Effect::Changes));
}

#[tokio::test]
async fn every_operation_and_every_caller() {
    let directory = tempfile::tempdir().unwrap();
    let (home, project) = (directory.path().join("home"), directory.path().join("project"));
    std::fs::create_dir(&project).unwrap();
    for (name, input, expected) in table() {
        let entry = OPERATIONS.iter().find(|entry| entry.about.name == name).expect("an operation of the table");
        for (actor, expected) in callers().into_iter().zip(expected.chars()) {
            let scope = actor.scope;
            let permitted = (entry.permit)(&actor, input.clone());
            assert_eq!(permitted.is_ok(), expected == '+', "{name} by {scope:?}: {permitted:?}");
            if actor == Actor::person("ann") {
                continue;
            }
            let environment = Environment::from(vec![("LONGHAUL_HOME".into(), home.clone().into())]);
            let app = App::new(&home, System { environment, clock: crate::now, processes: Arc::new(NoProcesses) });
            let call = Call::new(Arc::new(app), Caller::new(actor, Ok(project.clone())));
            let performed = (entry.perform)(&call, input.clone()).await;
            if let Err(refused) = permitted {
                assert_eq!(performed.unwrap_err().what, refused.what, "{name} by {scope:?}");
            }
            assert!(!home.exists(), "{name} by {scope:?} created something");
            assert_eq!(std::fs::read_dir(&project).unwrap().count(), 0, "{name} by {scope:?} wrote into the project");
        }
    }
}
