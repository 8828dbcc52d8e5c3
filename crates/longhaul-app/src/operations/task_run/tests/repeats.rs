//! Requests that come again under their key, because their caller got no answer: each is carried out once, and a repeat is answered as the
//! first one was, as far as that is still true.

use std::sync::Arc;

use longhaul_core::task::{Actor, Rights};
use serde_json::json;

use super::{Scene, changes, perform};
use crate::operation::FrontEnd;
use crate::{Call, Caller};

#[tokio::test]
async fn a_repeat_under_its_key_is_answered_once() {
    let scene = Scene::new();
    let start = json!({ "goal": "g", "key": "k" });
    let first = scene.document("start", start.clone()).await.unwrap();
    let again = scene.document("start", start).await.unwrap();
    assert_eq!((first.get("repeated"), &again["repeated"]), (None, &json!(true)));
    assert_eq!(first["data"], again["data"]);
    assert_eq!(scene.ask("start", json!({ "goal": "other", "key": "k" })).await, Err("conflict"));
    let id = first["data"]["task_run"]["run_id"].as_str().unwrap();
    for (number, (tool, mut input)) in changes().into_iter().enumerate() {
        input["run_id"] = json!(id);
        input["key"] = json!(format!("key {number}"));
        let first = scene.document(tool, input.clone()).await.unwrap();
        let again = scene.document(tool, input).await.unwrap();
        assert_eq!((&again["repeated"], &again["data"]), (&json!(true), &first["data"]), "{tool}");
    }
    assert_eq!(scene.get(id).await["events"].as_array().unwrap().len(), 5, "each was carried out once");
    assert_ne!(scene.start("g").await, scene.start("g").await, "without a key nobody guesses");
}

/// A program may be started again by another server, in another directory.
#[tokio::test]
async fn a_repeat_may_come_from_another_directory() {
    let scene = Scene::new();
    let start = json!({ "goal": "g", "key": "k" });
    let first = scene.document("start", start.clone()).await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let caller = Caller::new(Actor::person("ann"), Ok(elsewhere.path().to_owned())).through(FrontEnd::Mcp, Rights::ALL);
    let again = perform(&Call::new(Arc::clone(&scene.call.app), caller), "start", start).await.unwrap();
    assert_eq!((&again["repeated"], &again["data"]), (&json!(true), &first["data"]));
}

#[tokio::test]
async fn a_repeated_checkpoint_answers_with_itself() {
    let scene = Scene::new();
    let id = scene.start("g").await;
    let checkpoint = async |key: &str| {
        let input = json!({ "run_id": id, "summary": format!("summary {key}"), "key": key });
        scene.document("checkpoint", input).await.unwrap()
    };
    scene.ask("update", json!({ "run_id": id, "completed_items": ["a"] })).await.unwrap();
    let first = checkpoint("one").await;
    scene.ask("update", json!({ "run_id": id, "completed_items": ["b"] })).await.unwrap();
    let second = checkpoint("two").await;
    for (key, made) in [("one", first), ("two", second)] {
        let again = checkpoint(key).await;
        assert_eq!((&again["repeated"], &again["data"]), (&json!(true), &made["data"]), "{key}");
    }
}

#[tokio::test]
async fn a_repeat_warns_that_the_run_still_waits() {
    let scene = Scene::new();
    let id = scene.start("g").await;
    let help = json!({ "run_id": id, "reason": "no password", "key": "h" });
    let update = json!({ "run_id": id, "progress_summary": "waiting", "key": "u" });
    for _ in 0..2 {
        for (tool, input) in [("needs_help", &help), ("update", &update)] {
            let answer = scene.document(tool, input.clone()).await.unwrap();
            assert!(answer["warnings"][0].as_str().unwrap().contains("still waits for a person"), "{answer}");
        }
    }
    let resumed = json!({ "run_id": id, "status": "RUNNING", "resume_reason": "found it" });
    scene.ask("update", resumed).await.unwrap();
    assert_eq!(scene.document("update", update).await.unwrap().get("warnings"), None, "the control");
}
