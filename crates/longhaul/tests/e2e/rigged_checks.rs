//! Checks that an agent made easy: tests that are skipped, build tools that find nothing to do, scripts and tests it rewrote.
//! Each lie has its honest twin. What cannot be proved wrong is named with the result, so that a person sees it.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::checker;
use crate::env::TestEnv;

/// A program that plans one step, and then runs `work` and ticks it.
const BOT: &str = r#"#!/bin/sh
prompt=$(cat); td=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p')
case $prompt in
*"Initializer Agent"*) printf '# H\n\n## Tasks\n\n- [ ] Task 1: x\n' >$td/task_list.md; echo p >$td/progress.md;;
*) . "$BOT_WORK"; sed -i 's/- \[ \]/- [x]/' $td/task_list.md;;
esac
echo '{"event":"done"}'
"#;

/// A repository with a check script and a bot that does this work.
pub(crate) fn world(work: &str) -> TestEnv {
    let env = TestEnv::new();
    let (bot, script, config) =
        (env.path().join("bot"), env.path().join("work.sh"), env.path().join("config/longhaul"));
    std::fs::write(&bot, BOT).unwrap();
    std::fs::set_permissions(&bot, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(&script, work).unwrap();
    std::fs::create_dir_all(&config).unwrap();
    let table =
        format!("[agents.bot]\nargv = [\"{}\"]\ndone = {{ when = {{ \"/event\" = \"done\" }} }}\n", bot.display());
    std::fs::write(config.join("config.toml"), table).unwrap();
    env.make_repository();
    env.put("answer", "0\n");
    env.put("verify", "test \"$(cat answer)\" = 42\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "more"]);
    env.var("BOT_WORK", &script.display().to_string()).var("LONGHAUL_AGENT", "bot")
}

/// Runs the task; returns its exit code and verdict.
pub(crate) fn run(env: &TestEnv, check: &str) -> (i32, Value) {
    let done = env.run(&["run", "Do it", "--name", "t", "--fix-attempts", "0", "--check", check]);
    checker::assert_clean(env);
    (done.code, env.task("t")["state"]["verdict"].clone())
}

#[test]
fn tests_that_are_all_skipped_fail_the_check() {
    let env = world("echo 'echo \"3 skipped in 0.01s\"' > verify");
    assert_eq!(run(&env, "sh verify").0, 3);
    assert_eq!(env.evidence("t")[0]["failure"], "passed without running any test");
}

#[test]
fn a_tool_that_had_nothing_to_do_verifies_nothing() {
    let env = world("mkdir -p built; echo 42 > answer");
    let (code, verdict) = run(&env, "echo \"make: 'test' is up to date.\"");
    assert_eq!(
        (code, verdict["not_verified"]["doubts"][0]["up_to_date"]["line"].as_str()),
        (10, Some("make: 'test' is up to date."))
    );
    for verb in ["show", "report", "why"] {
        let said = env.run(&[verb, "t"]).stdout;
        assert!(said.contains("not verified") && said.contains("make -B"), "{verb}: {said}");
    }
}

#[test]
fn a_rewritten_check_is_named_with_the_result() {
    let env = world("echo true > verify; mkdir tests; echo > tests/a.py; echo 42 > unrelated");
    let (code, verdict) = run(&env, "sh ./verify");
    assert_eq!(
        (code, &verdict["verified"]["remarks"]["check_files"]),
        (0, &json!({ "first": ["verify", "tests/a.py"], "total": 2 }))
    );
    for verb in ["show", "report"] {
        let said = env.ok(&[verb, "t"]);
        assert!(said.contains("2 changed files that define checks: verify, tests/a.py"), "{verb}: {said}");
    }
}

#[test]
fn the_control_an_honest_agent_changes_no_check() {
    let env = world("echo 42 > answer");
    let (code, verdict) = run(&env, "sh ./verify");
    assert_eq!((code, &verdict["verified"]["remarks"]["check_files"]), (0, &Value::Null));
}

#[test]
fn a_check_edited_after_the_first_session_is_named_with_who_did_it() {
    let env = world("echo 42 > answer; until test -e \"$BOT_WORK.go\"; do sleep 0.02; done");
    env.submit("Do it", &["--name", "t", "--check", "sh ./verify"]);
    env.reach("t", "working");
    env.ok(&["edit", "t", "--check", "true"]);
    std::fs::write(env.path().join("work.sh.go"), "").unwrap();
    env.settle("t");
    let shown = env.ok(&["show", "t"]);
    let by = format!("by uid {}", nix::unistd::Uid::current());
    assert!(shown.contains(&format!("`true` added {by}, `sh ./verify` removed {by}")), "{shown}");
}

#[test]
fn a_check_cannot_tell_from_its_environment_that_it_is_one() {
    let env = world("echo 'env | grep -q ^LONGHAUL_ && exit 0; test \"$(cat answer)\" = 42' > verify");
    let (code, _) = run(&env, "sh ./verify");
    let session = env.evidence("t")[0]["session"].as_str().unwrap().to_owned();
    assert_eq!(code == 3, env.group(&session).is_some(), "without a control group the marker stays");
}
