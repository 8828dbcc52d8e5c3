//! Who works and what they may: `--agents`, `--sandbox`, `--network`, `--context`, `--on-limit`, `--hours` on every verb that takes
//! them, refused where they make no sense and before anything is made.

use serde_json::json;

use crate::env::TestEnv;
use crate::rounds::one_step;

#[track_caller]
fn refused(env: &TestEnv, args: &[&str], words: &[&str]) {
    let done = env.run(args);
    assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
    for word in words {
        assert!(done.stderr.contains(word), "{args:?} lacks {word}: {}", done.stderr);
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_made() {
    let env = TestEnv::new();
    let run = |more: &[&'static str]| [&["run", "Do it"], more].concat();
    refused(&env, &run(&["--agents", "demo,demo"]), &["names `demo` twice", "hint: name each agent once"]);
    refused(&env, &run(&["--agents", "demmo"]), &["`demmo`", "closest match first: `demo`"]);
    refused(&env, &run(&["--agents", "demo", "--agent", "demo"]), &["cannot be used with"]);
    refused(&env, &run(&["--on-limit", "switch"]), &["`demo` is the task's only agent", "--agents demo,OTHER"]);
    refused(&env, &run(&["--on-limit", "panic"]), &["wait", "switch", "ask", "stop"]);
    refused(&env, &run(&["--sandbox", "none"]), &["read-only", "workspace", "full"]);
    refused(&env, &run(&["--context", "old"]), &["fresh", "resume", "auto"]);
    refused(&env, &run(&["--hours", "22-7"]), &["`--hours` cannot be `22-7`", "`22:00-07:00`"]);
    refused(&env, &run(&["--network", "--no-network"]), &["cannot be used with"]);
    assert!(!env.home().exists());
}

#[test]
fn to_switch_by_configuration_without_others_is_a_warning() {
    let env = one_step().var("LONGHAUL_SESSION_ON_LIMIT", "switch");
    let done = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("warning: a usage limit should switch agents"), "{}", done.stderr);
    let quiet = env.run(&["run", "Do it", "--name", "u", "--on-limit", "wait", "--agent", "demo"]);
    assert!(!quiet.stderr.contains("warning"), "the control: {}", quiet.stderr);
}

#[test]
fn every_choice_reaches_the_task_and_the_agent_and_can_be_changed() {
    let env = one_step();
    let flags =
        ["--sandbox", "full", "--network", "--context", "resume", "--on-limit", "ask", "--hours", "00:00-23:59"];
    let done = env.run(&[&["run", "Do it", "--name", "t", "--once", "--agents", "demo"], &flags[..]].concat());
    assert_eq!(done.code, 5, "{}", done.stderr);
    let submission = env.task("t")["submission"].clone();
    let chosen = ["sandbox", "network", "context", "on_limit", "hours"].map(|key| submission[key].clone());
    assert_eq!(chosen, [json!("full"), json!(true), json!("resume"), json!("ask"), json!("00:00-23:59")]);
    let show = env.ok(&["show", "t"]);
    assert!(
        show.contains("sandbox    full\n") && show.contains("context    resume; at a usage limit: ask\n"),
        "{show}"
    );
    assert!(show.contains("network    --network for demo: uses none"), "{show}");
    assert!(env.ok(&["report", "t"]).contains("- Sandbox: full; context resume"));
    assert!(env.ok(&["logs", "t"]).contains("Sandbox full."));
    let told =
        env.run(&["edit", "t", "--sandbox", "read-only", "--no-network", "--context", "fresh", "--hours", "none"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stderr.contains("network restricted by the sandbox, sandbox read-only, context fresh, at any hour"),
        "{}",
        told.stderr
    );
    env.ok(&["resume", "t", "--on-limit", "wait"]);
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    assert!(env.ok(&["logs", "t", "--session", "2"]).contains("Sandbox read-only."), "every session is told");
    assert_eq!(env.sessions("t")[1]["run"]["resumes"], serde_json::Value::Null);
    let again = env.run(&["retry", "t", "--sandbox", "workspace"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(env.task("t-2")["submission"]["sandbox"], "workspace");
}

#[test]
fn an_edit_that_contradicts_the_task_changes_nothing() {
    let env = one_step();
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--once"]).code, 5);
    refused(&env, &["edit", "t", "--on-limit", "switch"], &["`demo` is the task's only agent"]);
    refused(&env, &["resume", "t", "--on-limit", "switch"], &["`demo` is the task's only agent"]);
    refused(&env, &["edit", "t", "--agents", "demo,demo"], &["twice"]);
    assert_eq!(env.task("t")["submission"]["on_limit"], "wait");
}

#[test]
fn the_variables_that_are_needed_follow_the_agent() {
    let env = one_step().var("LONGHAUL_ENV_NEED", "MY_THING").var("MY_THING", "here").var("OPENAI_API_KEY", "sk-abc");
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--once"]).code, 5);
    assert_eq!(env.task("t")["submission"]["needs_env"], json!(["MY_THING"]));
    env.ok(&["edit", "t", "--agent", "codex"]);
    assert_eq!(env.task("t")["submission"]["needs_env"], json!(["OPENAI_API_KEY", "MY_THING"]));
    env.ok(&["edit", "t", "--agent", "demo"]);
    assert_eq!(env.task("t")["submission"]["needs_env"], json!(["MY_THING"]), "what was asked for stays");
}

#[test]
fn a_cost_that_the_agent_does_not_tell_cannot_be_limited() {
    let env = one_step();
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--once", "--max-cost", "5"]).code, 5);
    let told = env.run(&["edit", "t", "--agent", "codex"]);
    assert!(told.stderr.contains("codex does not report costs, so --max-cost cannot stop it"), "{}", told.stderr);
    let quiet = env.run(&["edit", "t", "--agent", "demo", "--max-cost", "6"]);
    assert!(!quiet.stderr.contains("does not report costs"), "the control: {}", quiet.stderr);
}
