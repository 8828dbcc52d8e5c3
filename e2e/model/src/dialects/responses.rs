//! OpenAI's Responses, as codex speaks them.
//! Called by `dialects`; reads the list of input items and writes the events codex waits for.
//! Reasoning items are passed over. Codex groups the tools of an MCP server in a namespace, and shows them only after a search.

use serde_json::{Value, json};

use super::{Entry, Offered, Side, Worded, list, offered, returned, string, text_of, typed_event};
use crate::tools::{CODEX_SEARCH, WireCall};

/// Between a namespace and a tool.
const SEPARATOR: &str = "__";

/// Reads the conversation and the tools.
pub(super) fn read(body: &Value) -> (Vec<Entry>, Vec<Offered>) {
    let history = match &body["input"] {
        Value::String(text) => vec![Entry::from_user(text)],
        items => list(items).iter().flat_map(item_entries).collect(),
    };
    let found = list(&body["input"]).iter().flat_map(|item| list(&item["tools"]));
    let tools = list(&body["tools"]).iter().chain(found).flat_map(tools);
    (history, tools.collect())
}

/// A tool, or those of a namespace under the names that other agents have for them.
fn tools(tool: &Value) -> Vec<Offered> {
    match tool["type"].as_str() {
        Some("namespace") => {
            let space = string(&tool["name"]);
            let name = |tool: &Value| json!(format!("{space}{SEPARATOR}{}", string(&tool["name"])));
            list(&tool["tools"]).iter().filter_map(|tool| offered(&name(tool), &tool["parameters"])).collect()
        }
        Some(CODEX_SEARCH) => offered(&tool["type"], &tool["parameters"]).into_iter().collect(),
        _ => offered(&tool["name"], &tool["parameters"]).into_iter().collect(),
    }
}

fn item_entries(item: &Value) -> Vec<Entry> {
    let name = match item["namespace"].as_str() {
        Some(space) => format!("{space}{SEPARATOR}{}", string(&item["name"])),
        None => string(&item["name"]),
    };
    let called = |arguments: &Value| Entry::Called {
        id: string(&item["call_id"]),
        name: name.clone(),
        arguments: string(arguments),
    };
    match item["type"].as_str().unwrap_or("message") {
        "message" => match item["role"].as_str() {
            Some("user") => Side::User.entries(&item["content"]),
            Some("assistant") => Side::Model.entries(&item["content"]),
            _ => vec![],
        },
        "function_call" => vec![called(&item["arguments"])],
        "custom_tool_call" => vec![called(&item["input"])],
        "tool_search_call" => {
            let (id, name) = (string(&item["call_id"]), CODEX_SEARCH.to_owned());
            vec![Entry::Called { id, name, arguments: item["arguments"].to_string() }]
        }
        "tool_search_output" => vec![returned(&item["call_id"], item["tools"].to_string())],
        "function_call_output" | "custom_tool_call_output" => {
            vec![returned(&item["call_id"], text_of(&item["output"]))]
        }
        _ => vec![],
    }
}

/// Writes an answer as a stream.
pub(super) fn events(answer: &Worded<'_>) -> Vec<String> {
    let begun = json!({"type": "response.created", "response": {"id": answer.id, "status": "in_progress"}});
    let mut events = vec![typed_event(&begun)];
    for (index, item) in items(answer).iter().enumerate() {
        let added = json!({"type": "response.output_item.added", "output_index": index, "item": opened(item)});
        events.push(typed_event(&added));
        if item["type"] == "message" {
            let delta = json!({"type": "response.output_text.delta", "item_id": item["id"], "output_index": index,
                "content_index": 0, "delta": answer.text});
            events.push(typed_event(&delta));
        }
        let done = json!({"type": "response.output_item.done", "output_index": index, "item": item});
        events.push(typed_event(&done));
    }
    events.push(typed_event(&json!({"type": "response.completed", "response": document(answer)})));
    events
}

/// Writes an answer as one document.
pub(super) fn document(answer: &Worded<'_>) -> Value {
    let usage = answer.usage;
    json!({"id": answer.id, "object": "response", "status": "completed", "model": answer.model,
        "output": items(answer), "usage": {
            "input_tokens": usage.input, "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output}})
}

/// Writes a failure inside a stream.
pub(super) fn failed(code: &str, message: &str) -> Vec<String> {
    let begun = json!({"type": "response.created", "response": {"id": "answer_failed", "status": "in_progress"}});
    let error = json!({"code": code, "message": message});
    let response = json!({"id": "answer_failed", "status": "failed", "error": error});
    vec![typed_event(&begun), typed_event(&json!({"type": "response.failed", "response": response}))]
}

fn items(answer: &Worded<'_>) -> Vec<Value> {
    let text = answer.text.map(|text| {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        json!({"type": "message", "id": format!("{}_text", answer.id), "role": "assistant", "status": "completed",
            "content": content})
    });
    text.into_iter().chain(answer.calls.iter().map(call_item)).collect()
}

fn call_item(call: &WireCall) -> Value {
    let mut item = json!({"id": format!("item_{}", call.id), "call_id": call.id, "status": "completed"});
    if call.name == CODEX_SEARCH {
        item["type"] = json!("tool_search_call");
        item["execution"] = json!("client");
        item["arguments"] = call.arguments.clone();
        return item;
    }
    item["type"] = json!("function_call");
    item["arguments"] = json!(call.arguments.to_string());
    match call.name.rsplit_once(SEPARATOR) {
        Some((space, name)) => (item["namespace"], item["name"]) = (json!(space), json!(name)),
        None => item["name"] = json!(call.name),
    }
    item
}

/// An item as it is announced, before its content.
fn opened(item: &Value) -> Value {
    let mut item = item.clone();
    item["status"] = json!("in_progress");
    match item["type"] == "message" {
        true => item["content"] = json!([]),
        false => item["arguments"] = json!(""),
    }
    item
}
