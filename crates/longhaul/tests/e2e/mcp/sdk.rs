//! The official MCP clients. The one for TypeScript drives the server from its start to a verified task (`e2e/clients/drive.mjs`); it validates
//! every answer against the published schema, errors too, and complains about schemas that it cannot read. A program with the one for Python
//! keeps a run, is killed, and continues (`e2e/clients/python/crawl.py`).

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::client::MODERN;
use super::{READERS, RUNNERS, sorted};
use crate::env::{TestEnv, done, processes_with, wait_for};

#[test]
fn the_official_client_runs_a_task_to_its_verified_end() {
    let env = TestEnv::new();
    env.make_repository();
    let clients = longhaul_scripted_model::clients().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/clients/drive.mjs");
    let arguments = [script, clients.to_str().unwrap(), env!("CARGO_BIN_EXE_longhaul")];
    let node = done(&env.command_of(Path::new("node"), &arguments).output().unwrap());
    assert_eq!((node.code, node.stderr.as_str()), (0, ""), "{}", node.stdout);
    let found: Value = serde_json::from_str(&node.stdout).unwrap();
    assert_eq!((&found["server"], &found["tools"]), (&"longhaul".into(), &json!(sorted(&[READERS, RUNNERS]))));
    assert_eq!((&found["end"]["result"], &found["ran"]), (&"verified".into(), &"verified".into()), "{found}");
    assert_eq!((&found["refused"], &found["wrong"]), (&"forbidden".into(), &"invalid_argument".into()), "{found}");
}

/// Starts the Python program, which stops working after this page. What it prints is read line by line.
fn crawler(env: &TestEnv, mode: &str, stop_after: &str) -> (Child, impl Iterator<Item = Value>) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/clients/python/crawl.py");
    let arguments = [script, env!("CARGO_BIN_EXE_longhaul"), mode, stop_after];
    let mut command = env.command_of(Path::new("python3"), &arguments);
    command.env("PYTHONPATH", longhaul_scripted_model::python_packages().unwrap()).env("PYTHONDONTWRITEBYTECODE", "1");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()))
}

fn a_program_is_killed_and_continues(mode: &str, protocol: &str) {
    let env = TestEnv::new();
    let (mut child, mut said) = crawler(&env, mode, "page 2");
    let first = said.next().expect("it found or started its run");
    assert_eq!(
        (&first["protocol"], &first["done"], &first["checkpoint"]),
        (&json!(protocol), &json!([]), &Value::Null)
    );
    said.find(|line| line["crawled"] == "page 2").expect("it came that far");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "it was killed");
    let home = format!("LONGHAUL_HOME={}", env.home().display());
    wait_for("its server to end", || processes_with(&home).is_empty().then_some(()));

    let (mut child, mut said) = crawler(&env, mode, "none");
    let again = said.next().expect("it found its run");
    assert_eq!((&again["run_id"], &again["checkpoint"]), (&first["run_id"], &json!("page 2 is done")), "{again}");
    assert_eq!(again["done"], json!(["page 1", "page 2"]), "{again}");
    let rest: Vec<Value> = said.collect();
    let expected = json!([{ "crawled": "page 3" }, { "crawled": "page 4" },
        { "status": "COMPLETED", "late": "invalid_task_run_transition" }]);
    assert_eq!(json!(rest), expected);
    assert!(child.wait().unwrap().success());
    let run = env.json(&["show", "crawl-the-site"]);
    assert_eq!(run["task"]["outcome"], "done", "{run}");
}

#[test]
fn a_python_program_is_killed_and_continues_from_its_checkpoint() {
    a_program_is_killed_and_continues("auto", MODERN);
}

#[test]
fn an_older_python_program_does_too() {
    a_program_is_killed_and_continues("legacy", "2025-11-25");
}
