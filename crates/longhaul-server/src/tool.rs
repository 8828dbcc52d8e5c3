//! What MCP clients see of an operation: its schemas and annotations, and its answers and errors as results.
//! Everything follows from the row in the table of operations. A result has the same JSON as text and as structured content, because each
//! client shows its model only one of them.

use longhaul_app::operation::{Effect, Entry, FrontEnd};
use longhaul_app::operations::OPERATIONS;
use longhaul_app::{AppError, Caller, ErrorKind};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// The operation behind a tool.
pub(crate) fn operation(name: &str) -> Option<&'static Entry> {
    let is_tool = |entry: &&Entry| entry.about.is_offered_by(FrontEnd::Mcp);
    OPERATIONS.iter().filter(is_tool).find(|entry| entry.about.name == name)
}

/// The tools that this caller may call, with this prefix in front of their names.
pub fn tools(caller: &Caller, prefix: &str) -> Vec<Tool> {
    OPERATIONS.iter().filter(|entry| entry.about.permit(caller).is_ok()).map(|entry| tool(entry, prefix)).collect()
}

fn tool(entry: &Entry, prefix: &str) -> Tool {
    Tool::new(format!("{prefix}{}", entry.about.name), entry.about.summary, input_schema(entry))
        .with_raw_output_schema(output_schema(entry).into())
        .with_annotations(annotations(entry.about.effect))
}

/// The worst case, with every hint set: codex refuses a tool that leaves one out.
fn annotations(effect: Effect) -> ToolAnnotations {
    let (reads, destroys, open_world) = match effect {
        Effect::Reads => (true, false, false),
        Effect::Changes => (false, false, false),
        Effect::Destroys => (false, true, false),
        Effect::RunsAgents => (false, true, true),
    };
    ToolAnnotations::new().read_only(reads).destructive(destroys).idempotent(reads).open_world(open_world)
}

/// The schema of the input. Models often leave out a field that is only listed as required, so its description repeats it.
fn input_schema(entry: &Entry) -> JsonObject {
    let mut schema = object(standard((entry.input_schema)().to_value()));
    let required = schema.get("required").cloned().unwrap_or_default();
    let fields = schema.entry("properties").or_insert_with(|| json!({}));
    for name in required.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some(text) = fields.pointer_mut(&format!("/{name}/description")) {
            *text = format!("REQUIRED. {}", text.as_str().unwrap_or_default()).into();
        }
    }
    schema
}

/// The schema of every answer, errors included: some clients validate those too.
fn output_schema(entry: &Entry) -> JsonObject {
    let mut view = object(standard((entry.view_schema)().to_value()));
    view.remove("$schema");
    let definitions = view.remove("$defs");
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let mut schema = object(json!({
        "type": "object",
        "properties": {
            "v": { "type": "integer" },
            "kind": { "type": "string" },
            "data": view,
            "notes": texts,
            "warnings": texts,
            "repeated": { "type": "boolean", "description": "The same request was carried out before; nothing was done now." },
            "deduplicated": { "type": "boolean", "description": "That it was the same is a guess; pass a new `key` to start another task." },
            "error": {
                "type": "object",
                "properties": {
                    "code": { "type": "string" },
                    "message": { "type": "string" },
                    "hints": texts,
                },
                "required": ["code", "message", "hints"],
            },
        },
        "anyOf": [{ "required": ["v", "kind", "data"] }, { "required": ["error"] }],
    }));
    schema.extend(definitions.map(|definitions| ("$defs".to_owned(), definitions)));
    schema
}

/// The schema without formats of numbers, which JSON Schema does not know: the official client prints a warning about each.
fn standard(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, value)| name != "format" || !value.is_string());
            fields.map(|(name, value)| (name, standard(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(standard).collect(),
        other => other,
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(fields) = value { fields } else { Map::new() }
}

/// The answer of an operation, as the document that the command line prints too.
pub(crate) fn answer(document: String) -> CallToolResult {
    result(document, false)
}

/// An error as a tool result: protocol errors do not reach the model.
pub(crate) fn error(error: &AppError) -> CallToolResult {
    let value = json!({ "code": error.code(), "message": error.sentence(), "hints": error.hints });
    result(longhaul_app::text::safe_json(&json!({ "error": value }).to_string()), true)
}

/// The answer to a call of a tool whose arguments are no object; none if it is no such call.
pub(crate) fn misshapen(params: &Value, prefix: &str) -> Option<CallToolResult> {
    let name = operation(params["name"].as_str()?.strip_prefix(prefix)?)?.about.name;
    let is_misshapen = !matches!(params["arguments"], Value::Object(_) | Value::Null);
    let what = || format!("the arguments of `{name}` must be an object, with a field for each argument");
    is_misshapen.then(|| error(&AppError::new(ErrorKind::Usage, what())))
}

fn result(document: String, is_error: bool) -> CallToolResult {
    let structured = serde_json::from_str(&document).ok();
    let mut result = CallToolResult::success(vec![ContentBlock::text(document)]);
    result.structured_content = structured;
    result.is_error = Some(is_error);
    result
}
