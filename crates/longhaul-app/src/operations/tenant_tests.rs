//! Two tenants in one home: whatever an operation is asked about another tenant's task, it answers as if there were no such task.
//! The operations come from the table, so that a new one is tested too. Tasks are created through the store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::names::TaskName;
use longhaul_core::task::{Actor, Event, Rights, Submission};
use longhaul_keeper::Environment;
use longhaul_store::{ApiKey, Change, Filter, Guard};
use serde_json::{Value, json};

use super::OPERATIONS;
use super::tests::{NoProcesses, table};
use crate::operation::{Entry, FrontEnd};
use crate::{
    App, AppError, Asked, BootService, Call, Caller, ErrorKind, Handover, NewWorker, Processes, Reply, System, Tenant,
    mint_task, now,
};

struct Scene {
    directory: tempfile::TempDir,
    app: Arc<App>,
}

/// No worker comes, whoever asks for one.
struct NoWorkers;

impl Processes for NoWorkers {
    fn start_worker(&self, _: &App, _: NewWorker) -> Result<u32, AppError> {
        Ok(1)
    }

    fn start_worker_for(&self, _: &App, _: &Handover) -> Result<Reply, AppError> {
        Err(AppError::new(ErrorKind::Failure, "no worker comes"))
    }

    fn ask(&self, _: &Path, _: &[&str], _: Duration) -> Asked {
        Asked::Unknown
    }

    fn boot_service(&self, _: &Environment) -> Result<Option<BootService>, AppError> {
        Ok(None)
    }
}

impl Scene {
    fn new() -> Scene {
        Scene::with(Arc::new(NoProcesses))
    }

    fn with(processes: Arc<dyn Processes>) -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        let projects = ["mine", "theirs"].map(|tenant| format!("{tenant}={}", directory.path().display())).join("\n");
        let environment = Environment::from(vec![
            ("LONGHAUL_HOME".into(), home.clone().into()),
            ("LONGHAUL_SERVE_PROJECTS".into(), projects.into()),
        ]);
        let app = App::new(&home, System { environment, clock: now, processes });
        app.create().unwrap();
        Scene { directory, app: Arc::new(app) }
    }

    fn call(&self, actor: Actor, tenant: &str) -> Call {
        let directory = self.directory.path().canonicalize().unwrap();
        let mut caller = Caller::new(actor, Ok(directory));
        caller.tenant = Tenant::new(tenant);
        Call::new(Arc::clone(&self.app), caller)
    }

    /// A caller with a key of this tenant that allows everything. Each tenant's key has the same name.
    fn with_key(&self, tenant: &str, front_end: FrontEnd) -> Call {
        let (id, name) = (format!("key of {tenant}"), "ci".to_owned());
        let (tenant, rights) = (Tenant::new(tenant), Rights::ALL);
        let key = ApiKey { id, tenant, name, rights, created: now(), expires: None, revoked: None };
        Call::new(Arc::clone(&self.app), Caller::of_key(key).through(front_end, rights))
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

fn operation(name: &str) -> &'static Entry {
    OPERATIONS.iter().find(|entry| entry.about.name == name).unwrap()
}

async fn answer(call: &Call, operation: &str, input: Value) -> String {
    match (self::operation(operation).perform)(call, input).await {
        Ok(document) => document,
        Err(error) => serde_json::to_string(&error).unwrap(),
    }
}

/// The inputs of the table, with this in every field that names a task.
fn inputs(asked: &str, workspace: &str) -> Vec<(&'static str, Value)> {
    let task_named = |(name, mut input, _): (&'static str, Value, _)| {
        let field = ["task", "run_id"].into_iter().find(|field| input.get(field).is_some())?;
        input[field] = asked.into();
        Some((name, input))
    };
    let submit = |name| {
        (
            name,
            json!({ "goal": "g", "after": asked, "in_place": true, "workspace": workspace, "settings": { "agent": "demo" } }),
        )
    };
    table().into_iter().filter_map(task_named).chain(["submit", "run"].map(submit)).collect()
}

#[tokio::test]
async fn another_tenants_task_is_answered_like_an_unknown_one() {
    let scene = Scene::new();
    let (theirs, unknown) = (scene.task("theirs", "hidden").await.to_string(), mint_task().to_string());
    scene.task("mine", "own").await;
    let (mine, owner) = (scene.call(Actor::person("ann"), "mine"), scene.call(Actor::person("ann"), "theirs"));
    let workspace = scene.directory.path().display().to_string();
    let callers = [mine.clone(), scene.with_key("mine", FrontEnd::Http), scene.with_key("mine", FrontEnd::Mcp)];
    let mut asked = 0;
    for (caller, (foreign, nobodys)) in callers.iter().flat_map(|caller| {
        let named = [(&*theirs, &*unknown), ("hidden", "absent"), (&theirs[..20], &unknown[..20])];
        named.map(|named| (caller, named))
    }) {
        for ((name, input), (_, absent)) in inputs(foreign, &workspace).into_iter().zip(inputs(nobodys, &workspace)) {
            if !operation(name).about.is_offered_by(caller.caller.channel) {
                continue;
            }
            let unknown = answer(caller, name, absent).await.replace(nobodys, "ASKED");
            assert_eq!(answer(caller, name, input).await.replace(foreign, "ASKED"), unknown, "{name}");
            let is_unknown = ["there is no task", "there is no run", "run_id is not an id"]
                .iter()
                .any(|said| unknown.contains(said));
            assert!(is_unknown, "{name}: {unknown}");
            asked += 1;
        }
    }
    assert!(asked > 150, "{asked}");
    let shown = answer(&owner, "show", json!({ "task": theirs })).await;
    assert!(shown.contains("hidden"), "control: {shown}");
    let listed = answer(&mine, "list", json!({ "all": true, "everywhere": true })).await;
    assert!(listed.contains("own") && !listed.contains("hidden"), "{listed}");
}

/// Every text and every list of texts that an operation takes, and for each an input that has this there.
fn fields(entry: &Entry, base: &Value, asked: &str) -> Vec<(String, Value)> {
    let schema = (entry.input_schema)().to_value();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let filled = |(name, kind): (String, Value)| {
        let is = |wanted: &str| kind["type"].to_string().contains(&format!("\"{wanted}\""));
        let value = match () {
            () if is("string") => json!(asked),
            () if is("integer") || is("number") || is("boolean") || is("object") => return None,
            () if kind["items"]["type"] == "string" => json!([asked]),
            () => return None,
        };
        let mut input = base.clone();
        input[&name] = value;
        Some((format!("{}: {name}", entry.about.name), input))
    };
    properties.into_iter().filter_map(filled).collect()
}

/// Generated from the schemas, so that a new argument is tried too. Each question meets a world of its own, since some change it.
#[tokio::test]
async fn in_every_argument_a_foreign_id_means_what_an_unknown_one_means() {
    let mut asked = 0;
    for entry in OPERATIONS.iter().filter(|entry| entry.about.is_offered_by(FrontEnd::Http)) {
        let base = table().into_iter().find(|(name, ..)| *name == entry.about.name).expect("a row").1;
        for (at, (field, _)) in fields(entry, &base, "").into_iter().enumerate() {
            let answers = [true, false].map(async |is_foreign| {
                let scene = Scene::with(Arc::new(NoWorkers));
                let foreign = scene.task("theirs", "hidden").await.to_string();
                let own = scene.task("mine", "own").await.to_string();
                let id = if is_foreign { foreign } else { mint_task().to_string() };
                let mut base = base.clone();
                for name in ["task", "run_id"] {
                    if base.get(name).is_some() {
                        base[name] = own.as_str().into();
                    }
                }
                if ["submit", "run"].contains(&entry.about.name) {
                    base = json!({ "goal": "g", "in_place": true, "workspace": scene.directory.path(), "settings": { "agent": "demo" } });
                }
                let input = fields(entry, &base, &id).swap_remove(at).1;
                let mine = scene.with_key("mine", FrontEnd::Http);
                let here = scene.directory.path().display().to_string();
                let said = answer(&mine, entry.about.name, input).await;
                said.replace(&id, "ASKED").replace(&own, "OWN").replace(&here, "HERE")
            });
            let [foreign, unknown] = answers;
            let (foreign, unknown) = (without_times(&foreign.await), without_times(&unknown.await));
            assert_eq!(foreign, unknown, "{field}");
            assert!(!foreign.contains("hidden"), "{field}: {foreign}");
            asked += 1;
        }
    }
    assert!(asked > 60, "{asked}");
}

/// A text without what differs from one world to the next.
fn without_times(text: &str) -> String {
    let is_minted = |word: &str| word.chars().filter(|letter| *letter == '-').count() >= 4 || word.contains(':');
    text.split('"').filter(|word| !is_minted(word)).collect()
}

/// Two keys with the same name, one in each tenant: neither reaches what the other did under the same idempotency key, nor its runs, nor
/// its place in a list.
#[tokio::test]
async fn tenants_with_keys_of_one_name_share_no_idempotency_key_run_or_cursor() {
    let scene = Scene::new();
    let [mine, theirs] = ["mine", "theirs"].map(|tenant| scene.with_key(tenant, FrontEnd::Http));
    let start = json!({ "goal": "count", "key": "k" });
    let run_of = |document: &str| -> String {
        let document: Value = serde_json::from_str(document).unwrap();
        document["data"]["task_run"]["run_id"].as_str().unwrap_or_else(|| panic!("{document}")).to_owned()
    };
    let started = run_of(&answer(&theirs, "task_run_start", start.clone()).await);
    let repeated = answer(&theirs, "task_run_start", start.clone()).await;
    assert!(run_of(&repeated) == started && repeated.contains("\"repeated\":true"), "control: {repeated}");
    let own = answer(&mine, "task_run_start", start.clone()).await;
    assert!(run_of(&own) != started && !own.contains("\"repeated\":true"), "{own}");
    let conflict = json!({ "goal": "another goal", "key": "k" });
    assert!(answer(&theirs, "task_run_start", conflict).await.contains("idempotency key"), "control");
    let listed = answer(&mine, "task_run_list", json!({})).await;
    assert!(listed.contains(&run_of(&own)) && !listed.contains(&started), "{listed}");
    let asked = async |run: &str| {
        let got = answer(&mine, "task_run_get", json!({ "run_id": run, "include_events": true })).await;
        got.replace(run, "ASKED")
    };
    let unknown = asked(&mint_task().to_string()).await;
    assert!(unknown.contains("there is no run") && asked(&started).await == unknown, "{unknown}");
    scene.task("theirs", "one").await;
    scene.task("theirs", "two").await;
    let page = answer(&theirs, "list", json!({ "all": true, "limit": 1 })).await;
    let cursor = serde_json::from_str::<Value>(&page).unwrap()["data"]["next"].clone();
    assert!(cursor.is_string(), "{page}");
    let rest = answer(&mine, "list", json!({ "all": true, "after": cursor })).await;
    assert!(!rest.contains("one") && !rest.contains("two") && !rest.contains(&started), "{rest}");
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
