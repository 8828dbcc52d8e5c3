//! The OpenAPI document, from the routes and the schemas of the table. A crate that derives it from handlers would need a second set of
//! types and descriptions beside those of the operations, and the two could disagree.

use longhaul_app::operation::{Effect, Entry};
use longhaul_app::operations::STREAMED;
use serde_json::{Map, Value, json};

use super::routes::{BASE, Route, routes};

/// The document for all routes.
pub(super) fn document() -> Value {
    let mut definitions = Map::new();
    let mut paths = Map::new();
    for route in routes() {
        let operation = operation(&route, &mut definitions);
        let methods = paths.entry(format!("{BASE}{}", route.path)).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = operation;
    }
    let error = STREAMED.iter().find(|(kind, _)| *kind == "error").map(|(_, schema)| schema().to_value());
    let error = hoisted(error.unwrap_or_default(), &mut definitions);
    definitions.insert("Error".to_owned(), envelope("error", "error", error));
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Longhaul", "version": env!("CARGO_PKG_VERSION") },
        "security": [{ "key": [] }],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer", "description": "An API key from `longhaul keys create`." } },
        },
    })
}

fn operation(Route { entry, path, .. }: &Route, definitions: &mut Map<String, Value>) -> Value {
    let mut input = hoisted((entry.input_schema)().to_value(), definitions);
    let in_path: Vec<&str> = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    let mut parameters: Vec<Value> =
        in_path.iter().map(|name| parameter(name, "path", &take_field(&mut input, name))).collect();
    let body = match entry.about.effect {
        Effect::Reads => {
            let fields = input["properties"].as_object().cloned().unwrap_or_default();
            parameters.extend(fields.iter().map(|(name, schema)| parameter(name, "query", schema)));
            Value::Null
        }
        Effect::Changes | Effect::Destroys | Effect::RunsAgents => {
            json!({ "required": true, "content": { "application/json": { "schema": input } } })
        }
    };
    let mut operation = json!({
        "operationId": entry.about.name,
        "summary": entry.about.summary,
        "description": format!("Needs the right `{}`.", entry.about.right.word()),
        "parameters": parameters,
        "responses": responses(entry, definitions),
    });
    if !body.is_null() {
        operation["requestBody"] = body;
    }
    operation
}

fn responses(entry: &Entry, definitions: &mut Map<String, Value>) -> Value {
    let view = hoisted((entry.view_schema)().to_value(), definitions);
    let answer = envelope(entry.kind, "data", view);
    let content = |schema: Value| json!({ "application/json": { "schema": schema } });
    json!({
        "200": { "description": "The answer, as the command line prints it with `--json`.", "content": content(answer) },
        "default": { "description": "An error.", "content": content(json!({ "$ref": "#/components/schemas/Error" })) },
    })
}

/// A document of this kind.
fn envelope(kind: &str, field: &str, content: Value) -> Value {
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let mut properties = json!({ "v": { "const": 1 }, "kind": { "const": kind } });
    properties[field] = content;
    if field == "data" {
        properties["notes"] = texts();
        properties["warnings"] = texts();
        properties["repeated"] = json!({ "type": "boolean" });
    }
    json!({ "type": "object", "required": ["v", "kind", field], "properties": properties })
}

fn parameter(name: &str, place: &str, schema: &Value) -> Value {
    let mut parameter = json!({ "name": name, "in": place, "required": place == "path", "schema": schema });
    if place == "path" {
        // In a path it cannot be absent.
        parameter["schema"] = json!({ "type": "string", "minLength": 1 });
    }
    if let Some(text) = schema.get("description") {
        parameter["description"] = text.clone();
    }
    parameter
}

/// Takes a field out of the schema of an input.
fn take_field(input: &mut Value, name: &str) -> Value {
    if let Some(required) = input.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|field| field != name);
    }
    input["properties"].as_object_mut().and_then(|fields| fields.remove(name)).unwrap_or_default()
}

/// The schema with its definitions moved to the components of the document. One name is one type of ours.
fn hoisted(mut schema: Value, definitions: &mut Map<String, Value>) -> Value {
    let Some(fields) = schema.as_object_mut() else { return schema };
    fields.remove("$schema");
    if let Some(Value::Object(own)) = fields.remove("$defs") {
        definitions.extend(own.into_iter().map(|(name, definition)| (name, with_moved_references(definition))));
    }
    with_moved_references(schema)
}

fn with_moved_references(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let moved = |(name, value): (String, Value)| match value {
                Value::String(target) if name == "$ref" => {
                    (name, target.replace("#/$defs/", "#/components/schemas/").into())
                }
                value => (name, with_moved_references(value)),
            };
            fields.into_iter().map(moved).collect()
        }
        Value::Array(items) => items.into_iter().map(with_moved_references).collect(),
        other => other,
    }
}
