//! The JSON contract, from the table of operations: schemas and the page of operations in docs/reference are fresh, one kind is one shape,
//! every shape is noted on the version page, and every example on the JSON page is a valid document.
//! `UPDATE_DOCS=1 cargo test -p longhaul-app` writes schemas and operations; notes are for people to write.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use longhaul_app::operation::{Effect, Entry, FrontEnd};
use longhaul_app::operations::{OPERATIONS, STREAMED};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn page(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../docs/reference", name].iter().collect()
}

/// The schema of each kind of document, from every operation that answers with it.
fn schemas() -> BTreeMap<&'static str, Value> {
    let answered = OPERATIONS.iter().map(|entry| (entry.kind, entry.view_schema));
    let mut schemas = BTreeMap::new();
    for (kind, schema) in answered.chain(STREAMED.iter().copied()) {
        let schema = schema().to_value();
        let known = schemas.entry(kind).or_insert_with(|| schema.clone());
        assert_eq!(*known, schema, "two shapes have the kind `{kind}`");
    }
    schemas
}

fn assert_fresh(name: &str, text: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(page(name).parent().expect("a page lies in a directory")).expect("docs are writable");
        fs::write(page(name), text).expect("docs are writable");
    }
    let found = fs::read_to_string(page(name)).unwrap_or_default();
    assert_eq!(found, text, "docs/reference/{name} is stale: run UPDATE_DOCS=1 cargo test -p longhaul-app");
}

#[test]
fn every_kind_has_a_fresh_schema_and_no_other_file_is_left() {
    let mut names: Vec<String> = Vec::new();
    for (kind, schema) in schemas() {
        let name = format!("{kind}.schema.json");
        assert_fresh(&format!("json/{name}"), &format!("{schema:#}\n"));
        names.push(name);
    }
    let listed = fs::read_dir(page("json")).expect("the directory exists").flatten();
    let strangers: Vec<String> = listed
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".schema.json") && !names.contains(name))
        .collect();
    assert!(strangers.is_empty(), "no operation has these kinds any more, remove them: {strangers:?}");
}

/// The named fields of a schema, wherever they are.
fn fields<'a>(schema: &'a Value, name: &str) -> Vec<&'a Value> {
    let own = schema.pointer(&format!("/properties/{name}"));
    let inner = match schema {
        Value::Object(parts) => parts.values().flat_map(|part| fields(part, name)).collect(),
        Value::Array(parts) => parts.iter().flat_map(|part| fields(part, name)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    own.into_iter().chain(inner).collect()
}

#[test]
fn a_name_means_the_same_in_every_document() {
    let mut seen = 0;
    for (kind, schema) in schemas() {
        for task in fields(&schema, "task") {
            assert_eq!(task["$ref"], "#/$defs/TaskView", "{kind}: `task` is the one task object, not {task}");
            seen += 1;
        }
        for (name, is) in [("session", "integer"), ("session_id", "string"), ("task_id", "string")] {
            for field in fields(&schema, name) {
                assert!(field["type"].to_string().contains(is), "{kind}: `{name}` is no {is}: {field}");
            }
        }
        for next in fields(&schema, "next") {
            let text = next["description"].as_str().unwrap_or_default();
            assert!(text.contains("`after`"), "{kind}: `next` is where a list continues: {next}");
        }
    }
    assert!(seen >= 5, "the test finds the fields");
}

#[test]
fn the_page_of_operations_is_fresh() {
    let mut text = String::from(
        "# Operations\n\nA test writes this page from the table of operations (`UPDATE_DOCS=1 cargo test -p longhaul-app`). Each operation answers\nwith one kind of [JSON document](json.md).\n\n| operation | purpose | needs | at worst | offered by | answers |\n|---|---|---|---|---|---|\n",
    );
    for entry in OPERATIONS {
        let about = &entry.about;
        let offered: Vec<&str> =
            FrontEnd::ALL.into_iter().filter(|front_end| about.is_offered_by(*front_end)).map(name_of).collect();
        let effect = match about.effect {
            Effect::Reads => "reads",
            Effect::Changes => "changes",
            Effect::Destroys => "destroys",
            Effect::RunsAgents => "runs agents",
        };
        text.push_str(&format!(
            "| {} | {} | {} | {effect} | {} | [{}](json/{}.schema.json) |\n",
            about.name,
            about.summary,
            about.right.word(),
            offered.join(", "),
            entry.kind,
            entry.kind,
        ));
    }
    assert_fresh("operations.md", &text);
}

fn name_of(front_end: FrontEnd) -> &'static str {
    match front_end {
        FrontEnd::CommandLine => "command line",
        FrontEnd::Mcp => "MCP",
        FrontEnd::Http => "HTTP",
    }
}

#[test]
fn every_operation_has_its_own_name_and_a_front_end() {
    let mut names: Vec<&str> = OPERATIONS.iter().map(|entry| entry.about.name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
    let is_offered = |entry: &Entry| FrontEnd::ALL.into_iter().any(|front_end| entry.about.is_offered_by(front_end));
    assert!(OPERATIONS.iter().all(|entry| is_offered(entry) && !entry.about.summary.is_empty()));
}

/// Only the shape: texts in a schema may improve without a note.
fn digest(schema: &Value) -> String {
    let hash = Sha256::digest(shape(schema).to_string());
    hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn shape(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let told = |name: &str, value: &Value| matches!(name, "description" | "title") && value.is_string();
            fields
                .iter()
                .filter(|(name, value)| !told(name, value))
                .map(|(name, value)| (name.clone(), shape(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(shape).collect(),
        other => other.clone(),
    }
}

#[test]
fn every_shape_is_noted_on_the_version_page() {
    let noted = fs::read_to_string(page("json/versions.md")).unwrap_or_default();
    let missing: Vec<String> = schemas()
        .iter()
        .map(|(kind, schema)| format!("| {kind} | `{}` |", digest(schema)))
        .filter(|row| !noted.contains(row))
        .collect();
    assert!(
        missing.is_empty(),
        "add these rows to docs/reference/json/versions.md and say what changed:\n{}",
        missing.join("\n")
    );
}

#[test]
fn the_shape_of_a_schema_ignores_texts_and_nothing_else() {
    let schema = |field: &str, text: &str| serde_json::json!({ "description": text, "properties": { field: { "type": "string" } } });
    assert_eq!(digest(&schema("a", "one")), digest(&schema("a", "two")));
    assert_ne!(digest(&schema("a", "one")), digest(&schema("b", "one")));
    assert_ne!(digest(&schema("description", "one")), digest(&schema("a", "one")), "a field may have that name");
}

/// Errors have their own place on the page. Pages are what servers send of the streams that the command line prints, and a status line is
/// printed only while a task waits in line.
const NO_EXAMPLE: [&str; 4] = ["error", "events", "status", "turns"];

#[test]
fn every_kind_has_an_example_and_every_example_is_valid() {
    // What only servers answer with has its own page.
    let text = ["json.md", "task-runs.md"].map(|name| fs::read_to_string(page(name)).unwrap_or_default()).concat();
    let mut schemas = schemas();
    NO_EXAMPLE.iter().for_each(|kind| drop(schemas.remove(kind)));
    for block in text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let document: Value = serde_json::from_str(block).expect("an example is JSON");
        let kind = document["kind"].as_str().expect("an example has a kind").to_owned();
        if let Some(schema) = schemas.remove(kind.as_str()) {
            let errors: Vec<String> = jsonschema::validator_for(&schema)
                .expect("a schema")
                .iter_errors(&document["data"])
                .map(|error| error.to_string())
                .collect();
            assert!(errors.is_empty(), "{kind}: {errors:?}");
        }
    }
    assert!(schemas.is_empty(), "kinds without an example on docs/reference/json.md: {:?}", schemas.keys());
}
