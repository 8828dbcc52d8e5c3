//! OpenAI's Responses, as codex speaks them.
//! Called by `dialects`; reads the list of input items and writes the events codex waits for.
//! Reasoning items are passed over.

use serde_json::{Value, json};

use super::{Entry, Offered, Side, Worded, list, offered, returned, string, text_of, typed_event};

/// Reads the conversation and the tools.
pub(super) fn read(body: &Value) -> (Vec<Entry>, Vec<Offered>) {
    let history = match &body["input"] {
        Value::String(text) => vec![Entry::from_user(text)],
        items => list(items).iter().flat_map(item_entries).collect(),
    };
    let tools = list(&body["tools"]).iter().filter_map(|tool| offered(&tool["name"], &tool["parameters"]));
    (history, tools.collect())
}

fn item_entries(item: &Value) -> Vec<Entry> {
    let called = |arguments: &Value| Entry::Called {
        id: string(&item["call_id"]),
        name: string(&item["name"]),
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
    let calls = answer.calls.iter().map(|call| {
        json!({"type": "function_call", "id": format!("item_{}", call.id), "call_id": call.id, "name": call.name,
            "arguments": call.arguments.to_string(), "status": "completed"})
    });
    text.into_iter().chain(calls).collect()
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
