//! What goes wrong around declared agents: names nobody knows, programs that are not there, tables nobody trusts, and programs that
//! leave something behind.

use std::fs;

use super::{DIALECT, configure, launches, program, run, started, table, tell, world};
use crate::env::{TestEnv, processes_with};

#[test]
fn a_background_process_after_the_turn_keeps_nothing_alive() {
    let env = world(&table("mine"));
    tell(&env, "leave-behind", "");
    run(&env, &["--agent", "mine"]);
    assert_eq!(launches(&env).len(), 3, "the session that left it completed");
    env.wait_until_empty();
    let home = format!("LONGHAUL_HOME={}", env.home().display());
    assert_eq!(processes_with(&home), Vec::<i32>::new());
}

#[test]
fn a_program_that_stays_after_its_turn_is_ended_and_the_turn_counts() {
    let env = world(&table("mine")).var("LONGHAUL_SESSION_LINGER", "1s");
    tell(&env, "stay", "");
    run(&env, &["--agent", "mine"]);
    assert_eq!(launches(&env).len(), 3);
    let ended = env.events("t").into_iter().map(|event| event["event"].clone());
    let first = ended.into_iter().find(|event| event["kind"] == "session_ended").unwrap();
    assert_eq!((&first["ended"]["stopped_by"], &first["ended"]["outcome"]), (&"over".into(), &"completed".into()));
}

#[test]
fn an_unknown_agent_is_told_with_those_there_are() {
    let env = world(&table("mine"));
    for arguments in [&["run", "x", "--agent", "mime"][..], &["run", "x", "--agents", "demo,mime"]] {
        let done = env.run(arguments);
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains("`mime`") && done.stderr.contains("`mine`"), "{}", done.stderr);
    }
    assert!(
        env.run(&["run", "x", "--agent", "../x"]).code == 2 && env.json(&["list"])["tasks"] == serde_json::json!([])
    );
}

#[test]
fn a_mistake_in_a_table_stops_every_verb_that_needs_it_with_file_and_line() {
    let env = world("[agents.mine]\nargv = [\"x\"]\nresum = []\n");
    let done = env.run(&["run", "x"]);
    assert_eq!(done.code, 2);
    for words in ["config.toml` line 3", "`agents.mine.resum`", "did you mean `resume`?"] {
        assert!(done.stderr.contains(words), "{words}: {}", done.stderr);
    }
}

/// A table for a program that is not there.
fn missing() -> String {
    table("mine").replace("\"strict-agent\"", "\"late-agent\"")
}

#[test]
fn a_program_that_is_not_there_blocks_before_a_session_and_a_person_mends_it() {
    let env = world(&missing());
    let task = env.submit("Make files", &["--agent", "mine", "--no-preflight"]);
    assert_eq!(env.settle(&task), "blocked");
    let why = env.ok(&["why", &task]);
    assert!(why.contains("`late-agent` is not on PATH") && why.contains("`argv` in [agents.mine]"), "{why}");
    assert_eq!(started(&env, &task).len(), 0);
    program(&env, "late-agent", include_str!("strict-agent.sh"));
    env.ok(&["resume", &task]);
    assert_eq!(env.settle(&task), "done");
}

#[test]
fn a_changed_table_reaches_a_task_by_edit() {
    let env = world(&missing());
    let task = env.submit("Make files", &["--agent", "mine", "--no-preflight"]);
    assert_eq!(env.settle(&task), "blocked");
    configure(&env, &table("mine"));
    let told = env.run(&["edit", &task, "--agent", "mine"]);
    assert!(told.code == 0 && told.stderr.contains("configuration reloaded for mine"), "{}", told.stderr);
    env.ok(&["resume", &task]);
    assert_eq!(env.settle(&task), "done");
}

#[test]
fn an_agent_is_changed_for_a_declared_one_and_a_retry_takes_its_table_anew() {
    let env = world(&table("mine"));
    let task = env.submit("Make files", &["--once"]);
    assert_eq!(env.settle(&task), "paused");
    assert_eq!(env.run(&["edit", &task, "--agent", "nobody"]).code, 2);
    env.ok(&["edit", &task, "--agent", "mine"]);
    assert_eq!(env.task(&task)["submission"]["declared"].as_object().unwrap().len(), 1);
    env.ok(&["cancel", &task]);
    configure(&env, &table("mine").replace("version = [\"--version\"]", "summary = \"another\""));
    env.ok(&["retry", &task, "-d"]);
    let retried = env.json(&["list"])["tasks"][0]["name"].as_str().unwrap().to_owned();
    let declared = env.task(&retried)["submission"]["declared"]["mine"].clone();
    assert_eq!(declared["summary"], "another", "{declared}");
}

#[test]
fn a_table_of_an_untrusted_project_declares_nothing_until_it_is_trusted() {
    let env = world("");
    fs::write(env.workspace().join("longhaul.toml"), table("mine")).unwrap();
    let done = env.run(&["run", "Make files", "--agent", "mine"]);
    assert!(done.code == 2 && done.stderr.contains("`mine`"), "{}", done.stderr);
    let shown = env.run(&["config", "show"]);
    assert!(shown.stderr.contains("agents.mine") && !shown.stdout.contains("agents.mine"), "{}", shown.stderr);
    let trusted = env.ok(&["trust", "."]);
    assert!(trusted.contains("agents.mine.argv = [\"strict-agent\""), "{trusted}");
    let shown = env.ok(&["config", "show", "--origin"]);
    assert!(shown.contains("agents.mine.done = ") && shown.contains("longhaul.toml` line 2"), "{shown}");
    run(&env, &["--agent", "mine"]);
}

#[test]
fn a_model_that_an_agent_cannot_take_is_told() {
    let env =
        world(&format!("[agents.plain]\nargv = [\"strict-agent\"]\n{}", DIALECT.replace("id = \"/session/id\"\n", "")));
    let done = env.run(&["run", "Make files", "--agent", "plain", "--model", "small", "-d"]);
    assert!(done.code == 0 && done.stderr.contains("`plain` gets no model"), "{}", done.stderr);
    assert!(done.stderr.contains("Longhaul cannot restrict `plain`; only its own arguments can"), "{}", done.stderr);
}

#[test]
fn the_control_a_program_that_gets_an_argument_too_many_never_finishes() {
    let env: TestEnv = world(&table("mine").replace("\"--json\"", "\"--yaml\"")).var("LONGHAUL_LIMITS_ATTEMPTS", "2");
    let task = env.submit("Make files", &["--agent", "mine"]);
    assert_eq!(env.settle(&task), "needs_help");
    let why = env.ok(&["why", &task]);
    assert!(why.contains("unknown option --yaml"), "{why}");
}
