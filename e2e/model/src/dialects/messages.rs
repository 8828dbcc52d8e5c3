//! Anthropic's Messages, as claude speaks them.
//! Called by `dialects`; reads the list of messages, whose user side also carries tool results, and writes the events.
//! The system prompt is passed over.

use serde_json::{Value, json};

use super::{Entry, Offered, Side, Worded, list, offered, returned, string, text_of, typed_event};

/// Reads the conversation and the tools.
pub(super) fn read(body: &Value) -> (Vec<Entry>, Vec<Offered>) {
    let history = list(&body["messages"]).iter().flat_map(message_entries).collect();
    let tools = list(&body["tools"]).iter().filter_map(|tool| offered(&tool["name"], &tool["input_schema"]));
    (history, tools.collect())
}

fn message_entries(message: &Value) -> Vec<Entry> {
    // Claude also puts a system message between the others (2.1.325).
    let side = match message["role"].as_str() {
        Some("user") => Side::User,
        Some("assistant") => Side::Model,
        _ => return vec![],
    };
    match &message["content"] {
        Value::Array(blocks) => blocks.iter().flat_map(|block| block_entries(block, side)).collect(),
        text => side.entries(text),
    }
}

fn block_entries(block: &Value, side: Side) -> Vec<Entry> {
    match block["type"].as_str() {
        Some("text") => side.entries(block),
        Some("tool_result") => vec![returned(&block["tool_use_id"], text_of(&block["content"]))],
        Some("tool_use") => {
            let (id, name) = (string(&block["id"]), string(&block["name"]));
            vec![Entry::Called { id, name, arguments: block["input"].to_string() }]
        }
        _ => vec![],
    }
}

/// Writes an answer as a stream.
pub(super) fn events(answer: &Worded<'_>) -> Vec<String> {
    let mut message = document(answer);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in blocks(answer).iter().enumerate() {
        let (opened, delta) = opened_and_delta(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": opened}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop_reason(answer), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage(answer)}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(typed_event).collect()
}

/// Writes an answer as one document.
pub(super) fn document(answer: &Worded<'_>) -> Value {
    json!({"id": format!("msg_{}", answer.id), "type": "message", "role": "assistant", "model": answer.model,
        "content": blocks(answer), "stop_reason": stop_reason(answer), "stop_sequence": null, "usage": usage(answer)})
}

fn blocks(answer: &Worded<'_>) -> Vec<Value> {
    let text = answer.text.map(|text| json!({"type": "text", "text": text}));
    let call = answer.calls.iter();
    let calls = call.map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
    text.into_iter().chain(calls).collect()
}

fn opened_and_delta(block: &Value) -> (Value, Value) {
    let mut opened = block.clone();
    if block["type"] == "text" {
        opened["text"] = json!("");
        return (opened, json!({"type": "text_delta", "text": block["text"]}));
    }
    opened["input"] = json!({});
    (opened, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
}

fn stop_reason(answer: &Worded<'_>) -> &'static str {
    if answer.calls.is_empty() { "end_turn" } else { "tool_use" }
}

/// This vendor counts cached input apart.
fn usage(answer: &Worded<'_>) -> Value {
    let usage = answer.usage;
    json!({"input_tokens": usage.input.saturating_sub(usage.cached), "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": 0, "output_tokens": usage.output})
}
