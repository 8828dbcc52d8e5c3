//! Every operation against every kind of caller, from one table. Whoever adds an operation adds a row.
//! Nothing is stored or started here: the home does not exist, and an operation that creates it for the wrong caller fails the test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::task::{Actor, Right, Rights};
use longhaul_keeper::Environment;
use serde_json::{Value, json};

use super::OPERATIONS;
use crate::operation::{Effect, Entry, FrontEnd};
use crate::{
    App, AppError, Asked, BootService, Call, Caller, ErrorKind, Handover, NewWorker, Processes, Reply, System,
};

/// A name, an input, and whether a person, a session, a worker and somebody unknown may: `+` or `-`.
pub(super) fn table() -> Vec<(&'static str, Value, &'static str)> {
    let task = || json!({ "task": "t" });
    vec![
        ("accept_plan", task(), "+---"),
        ("agents", json!({}), "++-+"),
        ("cancel", task(), "+---"),
        ("config", json!({}), "++-+"),
        ("config_change", json!({}), "+---"),
        ("config_path", json!({}), "++-+"),
        ("diff", task(), "++-+"),
        ("discard", json!({ "task": "t" }), "+---"),
        ("doctor", json!({}), "++-+"),
        ("doctor_bundle", json!({ "file": "/nowhere/bundle" }), "+--+"),
        ("edit", json!({ "task": "t", "priority": 1 }), "+---"),
        ("events", task(), "++-+"),
        ("gc", json!({}), "+---"),
        ("import_openchrome", json!({ "directory": "/nowhere" }), "+---"),
        ("keys_create", json!({ "name": "ci" }), "+---"),
        ("keys_list", json!({}), "+--+"),
        ("keys_revoke", json!({ "api_key": "ci" }), "+---"),
        ("land", json!({ "task": "t" }), "+---"),
        ("list", json!({}), "++-+"),
        ("logs", task(), "++-+"),
        ("notify_test", json!({}), "+---"),
        ("path", task(), "++-+"),
        ("pause", task(), "+---"),
        ("plan", task(), "++-+"),
        ("preview", json!({ "goal": "g" }), "++-+"),
        ("rename", json!({ "task": "t", "name": "u" }), "+---"),
        ("reopen", json!({ "task": "t", "goal": "g" }), "+---"),
        ("report", task(), "++-+"),
        ("resume", task(), "+---"),
        ("retry", task(), "+---"),
        ("run", json!({ "goal": "g" }), "++--"),
        ("setup", json!({}), "++-+"),
        ("show", task(), "++-+"),
        ("store_backup", json!({ "file": "/nowhere/copy" }), "+--+"),
        ("store_check", json!({}), "+--+"),
        ("submit", json!({ "goal": "g" }), "++--"),
        ("task_run_checkpoint", json!({ "run_id": "t", "summary": "s" }), "++--"),
        ("task_run_complete", json!({ "run_id": "t" }), "++--"),
        ("task_run_get", json!({ "run_id": "t" }), "++-+"),
        ("task_run_list", json!({}), "++-+"),
        ("task_run_needs_help", json!({ "run_id": "t", "reason": "r" }), "++--"),
        ("task_run_start", json!({ "goal": "g" }), "++--"),
        ("task_run_update", json!({ "run_id": "t" }), "++--"),
        ("tell", json!({ "task": "t", "text": "x" }), "+---"),
        ("trust", json!({ "path": "/nowhere" }), "+---"),
        ("trust_list", json!({}), "+--+"),
        ("trust_remove", json!({ "path": "/nowhere" }), "+---"),
        ("verify_history", task(), "++-+"),
        ("wait", task(), "++-+"),
        ("why", task(), "++-+"),
    ]
}

/// The right that each operation needs, and whether it is a tool for assistants.
const RIGHTS: &[(Right, &[&str], &[&str])] = &[
    (
        Right::Read,
        &[
            "agents",
            "diff",
            "list",
            "logs",
            "path",
            "plan",
            "preview",
            "report",
            "show",
            "task_run_get",
            "task_run_list",
            "wait",
            "why",
        ],
        &["events", "verify_history"],
    ),
    (
        Right::Run,
        &[
            "cancel",
            "pause",
            "rename",
            "resume",
            "retry",
            "run",
            "submit",
            "task_run_checkpoint",
            "task_run_complete",
            "task_run_needs_help",
            "task_run_start",
            "task_run_update",
            "tell",
        ],
        &[],
    ),
    (Right::Approve, &["accept_plan", "discard", "edit", "land", "reopen"], &[]),
    (
        Right::Admin,
        &[],
        &[
            "config",
            "config_change",
            "config_path",
            "doctor",
            "doctor_bundle",
            "gc",
            "import_openchrome",
            "keys_create",
            "keys_list",
            "keys_revoke",
            "notify_test",
            "setup",
            "store_backup",
            "store_check",
            "trust",
            "trust_list",
            "trust_remove",
        ],
    ),
];

fn callers() -> [Actor; 4] {
    let session = crate::mint_session();
    [Actor::person("ann"), Actor::below(session), Actor::worker(), Actor::unknown("ann")]
}

/// Fails the test if anything is started.
pub(crate) struct NoProcesses;

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
    let has_key = |entry: &Entry| (entry.input_schema)().get("properties").is_some_and(|all| all.get("key").is_some());
    // `preview` takes what `submit` takes.
    let takes_key = |entry: &&Entry| entry.about.name != "preview" && has_key(entry);
    let names: Vec<&str> = OPERATIONS.iter().filter(takes_key).map(|entry| entry.about.name).collect();
    let changing: Vec<&str> =
        table().into_iter().filter(|(name, ..)| changes_a_task(name)).map(|(name, ..)| name).collect();
    assert_eq!(names, changing);
    assert!(OPERATIONS.iter().filter(takes_key).all(|entry| entry.about.effect != Effect::Reads));
}

fn changes_a_task(name: &str) -> bool {
    let needs = |right: &Right| matches!(right, Right::Run | Right::Approve);
    RIGHTS.iter().any(|(right, tools, _)| needs(right) && tools.contains(&name))
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
            let caller = Caller::new(actor.clone(), Ok(project.clone()));
            let offered = FrontEnd::ALL.into_iter().find(|front_end| entry.about.is_offered_by(*front_end));
            let caller = caller.through(offered.expect("a front end"), Rights::ALL);
            let permitted = (entry.permit)(&caller, input.clone());
            assert_eq!(permitted.is_ok(), expected == '+', "{name} by {scope:?}: {permitted:?}");
            if actor == Actor::person("ann") {
                continue;
            }
            let environment = Environment::from(vec![("LONGHAUL_HOME".into(), home.clone().into())]);
            let app = App::new(&home, System { environment, clock: crate::now, processes: Arc::new(NoProcesses) });
            let call = Call::new(Arc::new(app), caller);
            let performed = (entry.perform)(&call, input.clone()).await;
            if let Err(refused) = permitted {
                assert_eq!(performed.unwrap_err().what, refused.what, "{name} by {scope:?}");
            }
            assert!(!home.exists(), "{name} by {scope:?} created something");
            assert_eq!(std::fs::read_dir(&project).unwrap().count(), 0, "{name} by {scope:?} wrote into the project");
        }
    }
}

/// Every operation through every channel with every single right: refused unless both allow it, and by the same function that `perform` asks.
#[test]
fn every_operation_every_channel_and_every_right() {
    let listed = RIGHTS.iter().map(|(_, tools, others)| tools.len() + others.len()).sum::<usize>();
    assert_eq!(listed, OPERATIONS.len(), "RIGHTS has every operation once");
    for (needed, tools, others) in RIGHTS {
        for (name, is_tool) in tools.iter().map(|name| (name, true)).chain(others.iter().map(|name| (name, false))) {
            let entry = operation(name);
            let input = table().into_iter().find(|(row, ..)| row == name).expect("a row").1;
            for given in ["", "read", "run", "approve", "admin"] {
                let rights: Rights = given.parse().unwrap();
                let may = |channel| permitted(entry, channel, rights, &input);
                let has_verb = !["run", "task_run_start", "task_run_get", "task_run_list"].contains(name);
                assert_eq!(may(FrontEnd::CommandLine), has_verb && rights.include(*needed), "{name} with `{given}`");
                assert_eq!(may(FrontEnd::Mcp), is_tool && rights.include(*needed), "{name} as a tool with `{given}`");
            }
        }
    }
}

fn operation(name: &str) -> &'static Entry {
    OPERATIONS.iter().find(|entry| entry.about.name == name).unwrap_or_else(|| panic!("no operation {name}"))
}

fn permitted(entry: &Entry, channel: FrontEnd, rights: Rights, input: &Value) -> bool {
    let caller = Caller::new(Actor::person("ann"), Err("nowhere".to_owned())).through(channel, rights);
    let answer = (entry.permit)(&caller, input.clone());
    assert_eq!(
        answer.is_ok(),
        entry.about.permit(&caller).is_ok(),
        "{} does not depend on this input",
        entry.about.name
    );
    if let Err(refused) = &answer {
        assert_eq!(refused.kind, ErrorKind::Forbidden, "{refused:?}");
        let names_a_verb = refused.hints.iter().any(|hint| hint.starts_with("ask a person to run `longhaul "));
        assert_eq!(names_a_verb, !entry.about.name.starts_with("task_run_"), "{refused:?}");
    }
    answer.is_ok()
}

#[test]
fn terms_that_protect_a_person_need_another_right() {
    let person = || Caller::new(Actor::person("ann"), Err("nowhere".to_owned()));
    let run = person().through(FrontEnd::Mcp, "run".parse().unwrap());
    let approve = person().through(FrontEnd::Mcp, "run,approve".parse().unwrap());
    let (settings, goal) = (|key: &str| json!({ key: "true" }), "g");
    for (name, input) in [
        ("submit", json!({ "goal": goal, "in_place": true })),
        ("submit", json!({ "goal": goal, "settings": settings("sandbox") })),
        ("submit", json!({ "goal": goal, "settings": settings("network") })),
        ("submit", json!({ "goal": goal, "settings": settings("workspace.in_place") })),
        ("submit", json!({ "goal": goal, "settings": settings("notify.command") })),
        ("submit", json!({ "goal": goal, "settings": settings("verify.commands") })),
        ("submit", json!({ "goal": goal, "settings": settings("limits.max_cost") })),
        ("submit", json!({ "goal": goal, "settings": settings("env.only") })),
        ("reopen", json!({ "task": "t", "goal": goal })),
        ("retry", json!({ "task": "t", "checks": [] })),
        ("retry", json!({ "task": "t", "settings": settings("network") })),
        ("resume", json!({ "task": "t", "settings": settings("limits.max_sessions") })),
        ("resume", json!({ "task": "t", "checks": [] })),
    ] {
        let entry = operation(name);
        let refused = (entry.permit)(&run, input.clone()).unwrap_err();
        assert!(
            refused.what.contains("`approve`") && refused.hints[0].contains("`longhaul "),
            "{name} {input}: {refused:?}"
        );
        assert!((entry.permit)(&approve, input.clone()).is_ok(), "{name} {input}");
    }
    assert!((operation("submit").permit)(&run, json!({ "goal": goal, "settings": settings("agent") })).is_ok());
}

/// What may be said to an approval dialog: the worst case.
#[test]
fn the_worst_case_of_every_tool() {
    for (effect, names) in [
        (Effect::Reads, &["agents", "diff", "list", "logs", "path", "plan", "report", "show", "why"][..]),
        (Effect::Changes, &["accept_plan", "edit", "pause", "rename", "tell", "wait"]),
        (Effect::Destroys, &["cancel"]),
        (Effect::RunsAgents, &["reopen", "resume", "retry", "run", "submit"]),
    ] {
        names.iter().for_each(|name| assert_eq!(operation(name).about.effect, effect, "{name}"));
    }
}
