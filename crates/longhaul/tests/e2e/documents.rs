//! Every JSON document that a command prints in any test fits the published schema of its kind (docs/reference/json).
//! Called by the harness for each command with `--json`. The page of examples is written from a real task, on request.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Kinds that no operation answers with: they belong to what only the command line has.
const OF_THE_BINARY: [&str; 3] = ["service", "skills", "tools"];

fn reference(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../docs/reference", name].iter().collect()
}

/// Fails if a line is not a document of a published shape.
pub(crate) fn assert_published(args: &[&str], stdout: &str) {
    for line in stdout.lines() {
        let document: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{args:?}: {error}: {line}"));
        assert_eq!(document["v"], 1, "{args:?}: {line}");
        let kind = document["kind"].as_str().unwrap_or_else(|| panic!("{args:?}: no kind: {line}"));
        let body = if kind == "error" { &document["error"] } else { &document["data"] };
        let problem = problem_of(kind, body);
        assert!(problem.is_none(), "{args:?}: {}: {line}", problem.unwrap_or_default());
    }
}

fn problem_of(kind: &str, body: &Value) -> Option<String> {
    if OF_THE_BINARY.contains(&kind) {
        return None;
    }
    let Ok(schema) = fs::read_to_string(reference(&format!("json/{kind}.schema.json"))) else {
        return Some(format!("the kind `{kind}` has no published schema"));
    };
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(body)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    (!errors.is_empty()).then(|| errors.join("; "))
}

#[test]
fn a_document_of_another_shape_is_found() {
    assert!(
        problem_of("error", &json!({ "code": "c", "kind": "usage", "what": "w", "because": [], "hints": [] }))
            .is_none()
    );
    assert!(problem_of("error", &json!({ "kind": "usage" })).is_some());
    assert!(problem_of("no-such-kind", &json!({})).is_some());
}

#[test]
fn every_command_answers_with_a_published_document() {
    let env = TestEnv::new().var("DEMO_STEPS", "2");
    env.make_repository();
    env.put("longhaul.toml", "model = \"m\"\n");
    let mut documents = vec![env.run(&["run", "Write a small program", "-n", "t", "--check", "true", "--json"]).stdout];
    let steps = env.path().join("steps.md");
    fs::write(&steps, "# Plan\n\n## Tasks\n- [ ] Task 1: greet\n").unwrap();
    let (steps, copy) = (steps.display().to_string(), env.path().join("copy.db").display().to_string());
    env.submit("Write another program", &["-n", "later", "--after", "t", "--hours", "03:00-03:01"]);
    env.ok(&["pause", "later"]);
    let commands: [&[&str]; 28] = [
        &["show", "t"],
        &["why", "t"],
        &["events", "t"],
        &["events", "t", "--verify"],
        &["plan", "t"],
        &["plan", "later", "--accept", &steps],
        &["logs", "t"],
        &["report", "t"],
        &["diff", "t"],
        &["diff", "t", "--stat"],
        &["wait", "t"],
        &["tell", "later", "be brief"],
        &["edit", "later", "--priority", "1"],
        &["cancel", "later"],
        &["list"],
        &["agents"],
        &["config", "show"],
        &["config", "path"],
        &["config", "set", "limits.attempts", "4"],
        &["setup"],
        &["run", "Write a third program", "--dry-run"],
        &["trust", "."],
        &["trust", "--list"],
        &["trust", "--remove", "."],
        &["gc", "--dry-run"],
        &["store", "check"],
        &["store", "backup", &copy],
        &["doctor"],
    ];
    for words in commands {
        let done = env.run(&[words, &["--json"]].concat());
        assert!(!done.stdout.is_empty() && !done.stdout.contains("\"kind\":\"error\""), "{words:?}: {}", done.stdout);
        documents.push(done.stdout);
    }
    for bad in [&["show", "no-such-task", "--json"][..], &["show", "--no-such-flag", "--json"]] {
        assert!(env.run(bad).stdout.contains("\"kind\":\"error\""), "{bad:?}");
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        write_page(&documents.concat(), &env);
    }
}

/// The first document of each kind, shortened, without what belongs to this machine.
fn write_page(documents: &str, env: &TestEnv) {
    let mut examples = BTreeMap::new();
    for line in documents.lines() {
        let here = line.replace(&env.path().display().to_string(), "/home/ann");
        let mut document: Value = serde_json::from_str(&here).unwrap();
        shorten(&mut document);
        let kind = document["kind"].as_str().unwrap().to_owned();
        examples.entry(kind).or_insert(document);
    }
    let page = fs::read_to_string(reference("json.md")).unwrap();
    let (intro, _) = page.split_once("## Examples\n").unwrap();
    let mut page = format!("{intro}## Examples\n");
    for (kind, document) in examples {
        page.push_str(&format!("\n### {kind}\n\n```json\n{document:#}\n```\n"));
    }
    fs::write(reference("json.md"), page).unwrap();
}

/// At most two items of every list, and at most 200 characters of every text.
fn shorten(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.truncate(2);
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(200) {
                text.truncate(end);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
