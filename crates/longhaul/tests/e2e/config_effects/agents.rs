//! What the keys about agents, their modes, their conversations and their limits do to a real task.

use serde_json::{Value, json};

use super::keys::run;
use crate::env::wait_for;
use crate::prompt_files::WORK;
use crate::rounds::one_step;
use crate::usage_limits::{CLOSED, OPEN, hours};

/// An agent besides the built-in one, as `run --help` lists them.
fn another() -> Option<String> {
    let help = one_step().ok(&["run", "--help"]);
    let listed = help.lines().skip_while(|line| *line != "Agents:").skip(1).take_while(|line| line.starts_with("  "));
    let mut names = listed.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.find(|name| name != "demo")
}

#[test]
pub(super) fn fallbacks() {
    let env = one_step().var("LONGHAUL_FALLBACKS", "demo");
    env.submit("Do it", &["--name", "alone"]);
    assert_eq!(env.task("alone")["submission"]["fallbacks"], Value::Null, "nobody stands in for himself");
    let Some(other) = another() else { return };
    // Without any program on PATH the other agent cannot start and is left out; that it was its turn is what counts.
    let env = one_step()
        .var("LONGHAUL_FALLBACKS", &format!("demo,{other}"))
        .var("LONGHAUL_SESSION_ON_LIMIT", "switch")
        .var("DEMO_FAULT", "limit@1")
        .var("PATH", "/nowhere");
    env.submit("Do it", &["--name", "t"]);
    assert_eq!(env.task("t")["submission"]["fallbacks"], json!([other]));
    let told =
        wait_for("the other agent's turn", || Some(env.told("t", "agent_limited")).filter(|told| told.len() == 2));
    assert_eq!((&told[0]["agent"], &told[1]["agent"]), (&json!("demo"), &json!(other)));
    assert!(told[0]["gone"].is_null() && told[1]["gone"].as_str().is_some_and(|why| why.contains("PATH")), "{told:?}");
}

#[test]
pub(super) fn sandbox() {
    let (plain, _) = run(&[], &[]);
    let (full, _) = run(&[("LONGHAUL_SANDBOX", "full")], &[]);
    assert!(!plain.ok(&["logs", "t"]).contains("Sandbox"), "the control");
    assert!(full.ok(&["logs", "t"]).contains("Sandbox full."), "{}", full.ok(&["logs", "t"]));
}

#[test]
pub(super) fn network() {
    let (plain, _) = run(&[], &[]);
    let (open, _) = run(&[("LONGHAUL_NETWORK", "true")], &[]);
    let (closed, _) = run(&[("LONGHAUL_NETWORK", "true")], &["--no-network"]);
    let says = |env: &crate::env::TestEnv| env.ok(&["logs", "t"]).contains("Network open.");
    assert_eq!((says(&plain), says(&open), says(&closed)), (false, true, false));
}

#[test]
pub(super) fn session_context() {
    let resumed = |how: &str| {
        let (env, code) = run(&[("LONGHAUL_SESSION_CONTEXT", how)], &[]);
        assert_eq!(code, 0);
        env.sessions("t")[1]["run"]["resumes"].is_string()
    };
    assert_eq!((resumed("auto"), resumed("resume")), (false, true));
}

#[test]
pub(super) fn session_on_limit() {
    let (env, code) = run(&[("LONGHAUL_SESSION_ON_LIMIT", "stop"), ("DEMO_FAULT", "limit@1")], &[]);
    assert_eq!((code, &env.task("t")["state"]["reached"]["limit"]), (6, &json!("usage")));
}

#[test]
pub(super) fn limits_longest_wait() {
    let (env, code) = run(&[("LONGHAUL_LIMITS_LONGEST_WAIT", "1h"), ("DEMO_FAULT", "limit:+7200000@1")], &[]);
    let reason = &env.task("t")["state"]["reason"]["limit_too_long"];
    assert_eq!((code, &reason["longest_ms"]), (5, &json!(3_600_000)), "{reason}");
}

#[test]
pub(super) fn session_hours() {
    let env = one_step().var("TZ", "UTC").var("LONGHAUL_SESSION_HOURS", &hours(CLOSED));
    env.submit("Do it", &["--name", "t"]);
    env.reach("t", "waiting");
    assert_eq!(env.task("t")["state"]["why"], "hours");
    let (_, code) = run(&[("TZ", "UTC"), ("LONGHAUL_SESSION_HOURS", &hours(OPEN))], &[]);
    assert_eq!(code, 0, "the control: within them nothing is waited for");
}

#[test]
pub(super) fn session_linger() {
    let (env, code) = run(&[("LONGHAUL_SESSION_LINGER", "1s"), ("DEMO_FAULT", "linger@1")], &[]);
    let ended = env.sessions("t")[0]["ended"].clone();
    assert_eq!((code, &ended["stopped_by"], &ended["outcome"]), (0, &json!("over"), &json!("completed")), "{ended}");
    let lasted = ended["lasted_ms"].as_u64().unwrap();
    assert!((1_000..30_000).contains(&lasted), "{lasted}");
}

#[test]
pub(super) fn prompts_project() {
    let prompt = |variables: &[(&str, &str)]| {
        let mut env = one_step();
        variables.iter().for_each(|(name, value)| env.set(name, value));
        std::fs::create_dir_all(env.workspace().join(".longhaul/prompts")).unwrap();
        env.put(".longhaul/prompts/work.md", WORK);
        assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
        env.prompt("t", 2)
    };
    assert!(!prompt(&[]).contains("House rules"), "the control: a stranger's template is not used");
    assert!(prompt(&[("LONGHAUL_PROMPTS_PROJECT", "true")]).contains("House rules"));
}
