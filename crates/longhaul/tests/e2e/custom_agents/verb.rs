//! `longhaul agents` and `doctor` tell what is found, in which version, and what to do, for built-in and declared agents alike.

use serde_json::Value;

use super::{program, table, world};
use crate::env::TestEnv;

fn row(env: &TestEnv, name: &str) -> Value {
    let rows = env.json(&["agents"])["agents"].clone();
    rows.as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == name)
        .unwrap_or_else(|| panic!("no `{name}` in {rows}"))
        .clone()
}

#[test]
fn every_agent_is_listed_with_what_is_known_of_it() {
    let missing = "[agents.gone]\nargv = [\"no-such-agent\"]\n";
    let env = world(&format!("agent = \"mine\"\n{}{missing}", table("mine")));
    let mine = row(&env, "mine");
    assert_eq!((&mine["found"], &mine["version"]), (&true.into(), &"strict-agent v1.2.3".into()), "{mine}");
    assert_eq!((&mine["declared"], &mine["logged_in"]), (&true.into(), &"unknown".into()), "{mine}");
    let gone = row(&env, "gone");
    assert!(gone["found"] == false && gone["advice"].as_str().unwrap().contains("install `no-such-agent`"), "{gone}");
    assert_eq!(row(&env, "demo")["logged_in"], "not_needed");
    let shown = env.ok(&["agents"]);
    assert!(shown.starts_with("AGENT") && shown.contains("to do: install `no-such-agent`"), "{shown}");
    let help = env.ok(&["run", "--help"]);
    assert!(help.contains("codex") && help.contains("`longhaul agents`"), "{help}");
}

/// A program that tells its version, and its login by its exit code.
fn codex(env: &TestEnv, version: &str, login: &str) {
    let text = format!(
        "#!/bin/sh\ncase $1 in --version) echo 'codex-cli {version}' ;; login) exit {login} ;; *) exit 9 ;; esac\n"
    );
    program(env, "codex", &text);
}

#[test]
fn version_and_login_of_a_built_in_agent_are_asked_of_the_program() {
    let mut env = world("agent = \"codex\"\n");
    for name in ["CODEX_API_KEY", "OPENAI_API_KEY"] {
        env.set(name, "");
    }
    codex(&env, "0.166.0", "0");
    let found = row(&env, "codex");
    assert_eq!(
        (&found["known_good"], &found["logged_in"], &found["advice"]),
        (&true.into(), &"yes".into(), &Value::Null)
    );
    codex(&env, "9.9.9", "1");
    let found = row(&env, "codex");
    assert_eq!((&found["known_good"], &found["logged_in"]), (&false.into(), &"no".into()), "{found}");
    assert_eq!(found["advice"], "log in with `codex login`");
    env.set("CODEX_API_KEY", "sk-0123456789abcdef");
    let keyed = row(&env, "codex");
    assert_eq!((&keyed["logged_in"], &keyed["key_variable"]), (&"unknown".into(), &"CODEX_API_KEY".into()), "{keyed}");
    assert!(env.ok(&["agents"]).contains("unknown (CODEX_API_KEY is set)"));
    assert!(!env.ok(&["agents"]).contains("sk-0123456789abcdef"));
}

#[test]
fn doctor_uses_the_same_look() {
    let env = world("agent = \"gone\"\n[agents.gone]\nargv = [\"no-such-agent\"]\n");
    let done = env.run(&["doctor"]);
    assert_ne!(done.code, 0);
    assert!(
        done.stdout.contains("gone: not found") && done.stdout.contains("install `no-such-agent`"),
        "{}",
        done.stdout
    );
    let env = world(&format!("agent = \"mine\"\n{}", table("mine")));
    let done = env.run(&["doctor"]);
    assert!(done.stdout.contains("strict-agent v1.2.3; logged in: unknown"), "{}", done.stdout);
}

#[test]
fn doctor_tells_of_every_agent_and_blames_only_those_in_use() {
    let mut env = world("agent = \"demo\"\n");
    for name in ["CODEX_API_KEY", "OPENAI_API_KEY"] {
        env.set(name, "");
    }
    codex(&env, "9.9.9", "1");
    let of_codex = |env: &TestEnv| {
        let done = env.run(&["doctor", "--json"]);
        let document: Value = serde_json::from_str(&done.stdout).unwrap();
        let findings = document["data"]["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|row| row["facts"].as_str().unwrap().starts_with("codex: ")).unwrap()
    };
    let unused = of_codex(&env);
    assert_eq!(
        (&unused["verdict"], &unused["advice"]),
        (&"ok".into(), &"only to use it: log in with `codex login`".into())
    );
    let facts = unused["facts"].as_str().unwrap();
    assert!(facts.contains("codex-cli 9.9.9; not tested; logged in: no"), "{facts}");
    env.set("LONGHAUL_AGENT", "codex");
    assert_eq!(of_codex(&env)["verdict"], "warning");
}
