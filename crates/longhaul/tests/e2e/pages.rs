//! Long answers come in pages that follow each other without a gap or a repeat, as servers read them: through the table of operations.
//! The tasks are real ones of the built binary; only the reading happens in this process.

use longhaul_app::{AppError, Caller};
use longhaul_core::task::Actor;
use serde_json::{Value, json};

use crate::env::{PASSED, TestEnv};
use crate::in_process;

/// The document that an operation answers a person with.
fn perform(env: &TestEnv, name: &str, input: Value) -> Result<Value, AppError> {
    let caller = Caller::new(Actor::person("ann"), Ok(env.workspace()));
    let document = in_process::perform(env, caller, name, input)?;
    assert_eq!(document.get("warnings"), None, "{document}");
    Ok(document)
}

/// The pages of an operation that takes this input, up to its end.
fn pages(env: &TestEnv, name: &str, input: &Value) -> Vec<Value> {
    let mut pages: Vec<Value> = Vec::new();
    loop {
        let mut input = input.clone();
        if let Some(last) = pages.last() {
            input["after"] = last["next"].clone();
        }
        pages.push(perform(env, name, input).unwrap()["data"].take());
        let last = &pages[pages.len() - 1];
        if last["at_end"].as_bool().unwrap_or(last["next"].is_null()) {
            return pages;
        }
    }
}

/// What all pages have in one of their lists.
fn joined(pages: &[Value], list: &str) -> Vec<Value> {
    pages.iter().flat_map(|page| page.pointer(list).unwrap().as_array().unwrap().clone()).collect()
}

#[test]
fn pages_of_logs_make_the_whole_log() {
    let env = TestEnv::new().var("DEMO_FAULT", "says:hello world@1,garbage@2");
    let check = "printf 'one\\ntwo\\nthree'; echo oops >&2";
    assert_eq!(env.run(&["run", "Say much", "-n", "t", "--check", check]).code, PASSED);
    let whole = joined(&pages(&env, "logs", &json!({ "task": "t" })), "/turns");
    assert!(whole.iter().any(|turn| turn["text"] == "three") && whole.len() > 12, "{whole:?}");
    for input in [json!({ "limit": 1 }), json!({ "limit": 3 }), json!({ "max_bytes": 60 })] {
        let mut input = input.clone();
        input["task"] = json!("t");
        let pages = pages(&env, "logs", &input);
        assert!(pages.len() > 3, "{input}");
        let texts = |turns: &[Value]| -> Vec<String> {
            turns.iter().map(|turn| turn["text"].as_str().unwrap().chars().take(60).collect()).collect()
        };
        assert_eq!(texts(&joined(&pages, "/turns")), texts(&whole), "{input}");
    }
    let last = perform(&env, "logs", json!({ "task": "t", "last": 5 })).unwrap();
    assert_eq!(last["data"]["turns"].as_array().unwrap()[..], whole[whole.len() - 5..]);
    assert_eq!(last.get("notes"), None, "all five are there");
    let cut = perform(&env, "logs", json!({ "task": "t", "last": 5, "max_bytes": 8 })).unwrap();
    assert!(cut["notes"][0].as_str().unwrap().starts_with("only the last "), "{cut}");
    assert!(perform(&env, "logs", json!({ "task": "t", "after": "nonsense" })).is_err());
}

#[test]
fn a_log_is_continued_where_it_ended_while_the_task_runs() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Go on", &[]);
    env.live(&name, 2);
    let first = perform(&env, "logs", json!({ "task": name })).unwrap()["data"].take();
    assert_eq!(first["at_end"], true);
    let again = perform(&env, "logs", json!({ "task": name, "after": first["next"] })).unwrap()["data"].take();
    let seen = [first, again.clone()];
    env.set("DEMO_FAULT", "");
    env.ok(&["pause", &name, "--now"]);
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
    let rest = pages(&env, "logs", &json!({ "task": name, "after": again["next"] }));
    let whole = joined(&pages(&env, "logs", &json!({ "task": name })), "/turns");
    assert_eq!([joined(&seen, "/turns"), joined(&rest, "/turns")].concat(), whole);
    assert!(joined(&rest, "/turns").len() > 3, "{rest:?}");
}

#[test]
fn pages_of_every_other_list_make_the_whole_list() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "List it", "-n", "t"]).code, 0);
    env.wait_until_empty();
    for name in ["one", "two", "three"] {
        std::fs::create_dir_all(env.home().join("sessions").join(name)).unwrap();
    }
    let task = json!({ "task": "t" });
    for (operation, input, list) in [
        ("events", &task, "/events"),
        ("show", &task, "/sessions"),
        ("report", &task, "/sessions"),
        ("gc", &json!({ "dry_run": true }), "/left"),
    ] {
        let whole = pages(&env, operation, input);
        assert_eq!(whole.len(), 1, "{operation}");
        let whole = joined(&whole, list);
        assert!(whole.len() >= 3, "{operation}: {whole:?}");
        let mut input = input.clone();
        input["limit"] = json!(2);
        let pages = pages(&env, operation, &input);
        assert!(pages.len() > 1 && pages.iter().all(|page| page.pointer(list).unwrap().as_array().unwrap().len() <= 2));
        assert_eq!(joined(&pages, list), whole, "{operation}");
    }
    let told = env.run(&["show", "t", "--limit", "1"]);
    assert!(told.stderr.contains("add `--after 1`"), "{}", told.stderr);
}

/// One check reads everything, so it has no second page.
#[test]
fn a_check_says_how_much_it_omits() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Count them"]).code, 0);
    for number in 0..1_003 {
        std::fs::create_dir_all(env.home().join(format!("sessions/stray-{number}"))).unwrap();
    }
    let found = env.json(&["store", "check"]);
    assert_eq!((found["strays"].as_array().unwrap().len(), &found["omitted"]), (1_000, &json!(3)));
    assert!(env.run(&["store", "check"]).stderr.contains("3 more findings are not shown"));
}

#[test]
fn a_task_without_sessions_says_so_on_standard_error() {
    let env = TestEnv::new();
    env.submit("Later", &["-n", "t", "--hours", "03:00-03:01"]);
    env.ok(&["pause", "t"]);
    for (verb, sentence) in [("logs", "no session has started yet"), ("plan", "no plan has been accepted yet")] {
        let shown = env.run(&[verb, "t"]);
        assert_eq!((shown.code, shown.stdout.as_str(), shown.stderr.trim()), (0, "", sentence), "{verb}");
    }
}
