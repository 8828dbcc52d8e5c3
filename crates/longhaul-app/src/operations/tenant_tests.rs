//! Two tenants in one home: whatever an operation is asked about another tenant's task, it answers as if there were no such task.
//! The operations come from the table, so that a new one is tested too. Tasks are created through the store.

use std::sync::Arc;

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::names::TaskName;
use longhaul_core::task::{Actor, Event, Submission};
use longhaul_keeper::Environment;
use longhaul_store::{Change, Filter, Guard};
use serde_json::{Value, json};

use super::OPERATIONS;
use super::tests::{NoProcesses, table};
use crate::{App, Call, Caller, System, Tenant, mint_task, now};

struct Scene {
    directory: tempfile::TempDir,
    app: Arc<App>,
}

impl Scene {
    fn new() -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        let environment = Environment::from(vec![("LONGHAUL_HOME".into(), home.clone().into())]);
        let app = App::new(&home, System { environment, clock: now, processes: Arc::new(NoProcesses) });
        app.create().unwrap();
        Scene { directory, app: Arc::new(app) }
    }

    fn call(&self, actor: Actor, tenant: &str) -> Call {
        let directory = self.directory.path().canonicalize().unwrap();
        let mut caller = Caller::new(actor, Ok(directory));
        caller.tenant = Tenant::new(tenant);
        Call::new(Arc::clone(&self.app), caller)
    }

    /// A task that waits for nobody, in this project.
    async fn task(&self, tenant: &str, name: &str) -> TaskId {
        let call = self.call(Actor::person("ann"), tenant);
        let (project, name) = (call.caller.project().unwrap().root.display().to_string(), TaskName::new(name).unwrap());
        let submission = Submission::new("goal".into(), name, project, "demo".into());
        let (task, actor) = (mint_task(), Actor::person("ann"));
        let (guard, events) = (Guard::New, vec![Event::Submitted { submission: submission.into() }]);
        let change = Change { task, guard, events, actor, at: now(), key: None, claim: None, session_cap: None };
        call.store().unwrap().commit(change).await.unwrap();
        task
    }
}

async fn answer(call: &Call, operation: &str, input: Value) -> String {
    let entry = OPERATIONS.iter().find(|entry| entry.about.name == operation).unwrap();
    match (entry.perform)(call, input).await {
        Ok(document) => document,
        Err(error) => serde_json::to_string(&error).unwrap(),
    }
}

/// The inputs of the table, with this in every field that names a task.
fn inputs(asked: &str) -> Vec<(&'static str, Value)> {
    let task_named = |(name, mut input, _): (&'static str, Value, _)| {
        let field = input.get_mut("task")?;
        *field = asked.into();
        Some((name, input))
    };
    let submit = ("submit", json!({ "goal": "g", "after": asked, "in_place": true, "settings": { "agent": "demo" } }));
    table().into_iter().filter_map(task_named).chain([submit]).collect()
}

#[tokio::test]
async fn another_tenants_task_is_answered_like_an_unknown_one() {
    let scene = Scene::new();
    let (theirs, unknown) = (scene.task("theirs", "hidden").await.to_string(), mint_task().to_string());
    scene.task("mine", "own").await;
    let (mine, owner) = (scene.call(Actor::person("ann"), "mine"), scene.call(Actor::person("ann"), "theirs"));
    let mut asked = 0;
    for (foreign, nobodys) in [(&*theirs, &*unknown), ("hidden", "absent"), (&theirs[..20], &unknown[..20])] {
        for ((name, input), (_, absent)) in inputs(foreign).into_iter().zip(inputs(nobodys)) {
            let unknown = answer(&mine, name, absent).await.replace(nobodys, "ASKED");
            assert_eq!(answer(&mine, name, input).await.replace(foreign, "ASKED"), unknown, "{name}");
            assert!(unknown.contains("there is no task"), "{name}: {unknown}");
            asked += 1;
        }
    }
    assert!(asked > 45, "{asked}");
    let shown = answer(&owner, "show", json!({ "task": theirs })).await;
    assert!(shown.contains("hidden"), "control: {shown}");
    let listed = answer(&mine, "list", json!({ "all": true, "everywhere": true })).await;
    assert!(listed.contains("own") && !listed.contains("hidden"), "{listed}");
}

/// What an agent starts belongs to whom its task belongs, whatever else it says.
#[tokio::test]
async fn a_caller_below_a_session_has_the_tenant_of_its_task() {
    let scene = Scene::new();
    let own = scene.task("theirs", "own").await;
    scene.task("default", "other").await;
    std::fs::create_dir_all(scene.app.home.holds()).unwrap();
    std::fs::write(scene.app.home.hold(own), "").unwrap();
    let marker: SessionId = own.to_string().parse().unwrap();
    let call = scene.call(Actor::below(marker), "default");
    assert_eq!(call.load(own).await.unwrap().map(|stored| stored.task.id), Some(own));
    assert_eq!(call.store().unwrap().summaries(Filter::default()).await.unwrap().tasks.len(), 1);
}

#[tokio::test]
async fn operations_on_the_whole_home_see_every_tenant() {
    let scene = Scene::new();
    scene.task("mine", "one").await;
    scene.task("theirs", "two").await;
    let call = scene.call(Actor::person("ann"), "default");
    let checked: Value = serde_json::from_str(&answer(&call, "store_check", json!({})).await).unwrap();
    assert_eq!(checked["data"]["tasks"], 2, "{checked}");
    assert_eq!(call.summaries(Filter::default()).await.unwrap().tasks.len(), 0, "control");
}
