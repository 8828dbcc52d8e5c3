//! Table, routes, document and page agree, in both directions.
//! `UPDATE_DOCS=1 cargo test -p longhaul-server` writes the page.

use std::collections::BTreeSet;

use longhaul_app::ErrorKind;
use longhaul_app::operation::FrontEnd;
use longhaul_app::operations::OPERATIONS;
use serde_json::{Value, json};

use super::openapi;
use super::refusal::status;
use super::routes::{BASE, routes};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/http.md");

/// The names in the braces of a path.
fn parameters(path: &str) -> Vec<&str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

#[test]
fn an_operation_has_a_route_if_and_only_if_http_offers_it() {
    let routed: BTreeSet<&str> = routes().map(|route| route.entry.about.name).collect();
    let offered = OPERATIONS.iter().filter(|entry| entry.about.is_offered_by(FrontEnd::Http));
    assert_eq!(routed, offered.map(|entry| entry.about.name).collect());
    assert!(routed.contains("submit") && !routed.contains("gc"));
    let places: BTreeSet<String> = routes().map(|route| format!("{} {}", route.method, route.path)).collect();
    assert_eq!(places.len(), routes().count(), "two operations have one method and path");
}

#[test]
fn parameters_of_a_path_are_texts_of_the_input() {
    let mut seen = 0;
    for route in routes() {
        let schema = (route.entry.input_schema)().to_value();
        for name in parameters(route.path) {
            let kind = &schema["properties"][name]["type"];
            assert!(kind.to_string().contains("string"), "{}: `{name}` is {kind}", route.path);
            seen += 1;
        }
    }
    assert!(seen > 20, "the test finds them");
}

#[test]
fn the_document_describes_every_route_and_no_other() {
    let document = openapi::document();
    let paths = document["paths"].as_object().unwrap();
    let described: BTreeSet<String> = paths
        .iter()
        .flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(move |method| format!("{method} {path}")))
        .collect();
    let offered = routes().map(|route| format!("{} {BASE}{}", route.method.as_str().to_lowercase(), route.path));
    assert_eq!(described, offered.collect());
    for (name, target) in references(&document) {
        assert!(document.pointer(&target[1..]).is_some(), "{name}: nothing is at {target}");
    }
    let submit = &paths[&format!("{BASE}/tasks")]["post"];
    assert_eq!(submit["requestBody"]["content"]["application/json"]["schema"]["required"], json!(["goal"]));
    let list = &paths[&format!("{BASE}/tasks")]["get"];
    assert!(list["parameters"].to_string().contains("\"limit\"") && list["requestBody"].is_null());
}

/// Every reference of the document.
fn references(document: &Value) -> Vec<(String, String)> {
    match document {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| match value.as_str() {
                Some(target) if name == "$ref" => vec![(name.clone(), target.to_owned())],
                _ => references(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// The document merges the definitions of all schemas by name.
#[test]
fn one_name_of_a_definition_is_one_type() {
    let mut known: std::collections::BTreeMap<String, Value> = std::collections::BTreeMap::new();
    for route in routes() {
        for schema in [(route.entry.input_schema)(), (route.entry.view_schema)()] {
            for (name, definition) in schema.to_value()["$defs"].as_object().into_iter().flatten() {
                let first = known.entry(name.clone()).or_insert_with(|| definition.clone());
                assert_eq!(first, definition, "two types are called {name}");
            }
        }
    }
    assert!(known.contains_key("TaskView") && !known.contains_key("Error"));
}

#[test]
fn the_page_is_fresh() {
    let mut page = String::from(
        "# HTTP\n\nA test writes this page from the table of operations (`UPDATE_DOCS=1 cargo test -p longhaul-server`). The [guide](../guide/http.md)\nexplains keys, requests and answers; `/api/v1/openapi.json` describes every field.\n\n## Routes\n\n| method | path | operation | right | answers |\n|---|---|---|---|---|\n",
    );
    let mut all: Vec<_> = routes().collect();
    all.sort_by_key(|route| (route.path, route.method.to_string()));
    for route in all {
        let about = &route.entry.about;
        page.push_str(&format!(
            "| {} | `{BASE}{}` | {} | {} | [{kind}](json/{kind}.schema.json) |\n",
            route.method,
            route.path,
            about.summary,
            about.right.word(),
            kind = route.entry.kind,
        ));
    }
    page.push_str("\n## Errors\n\n| kind | status |\n|---|---|\n");
    for kind in KINDS {
        page.push_str(&format!("| `{}` | {} |\n", json!(kind).as_str().unwrap(), status(kind).as_u16()));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(PAGE).unwrap_or_default(),
        page,
        "run UPDATE_DOCS=1 cargo test -p longhaul-server"
    );
}

const KINDS: [ErrorKind; 10] = [
    ErrorKind::Usage,
    ErrorKind::Forbidden,
    ErrorKind::NotFound,
    ErrorKind::Conflict,
    ErrorKind::NeedsPerson,
    ErrorKind::Waiting,
    ErrorKind::TimedOut,
    ErrorKind::Interrupted,
    ErrorKind::Damaged,
    ErrorKind::Failure,
];
