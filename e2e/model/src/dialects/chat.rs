//! OpenAI's Chat Completions, as opencode and pi speak them.
//! Called by `dialects`; reads the list of messages and writes the chunks.
//! System messages are passed over.

use serde_json::{Value, json};

use super::{Entry, Offered, Side, Worded, list, offered, returned, string, text_of, untyped_event};

/// Reads the conversation and the tools.
pub(super) fn read(body: &Value) -> (Vec<Entry>, Vec<Offered>) {
    let history = list(&body["messages"]).iter().flat_map(message_entries).collect();
    let tools = list(&body["tools"]).iter().map(|tool| &tool["function"]);
    (history, tools.filter_map(|tool| offered(&tool["name"], &tool["parameters"])).collect())
}

fn message_entries(message: &Value) -> Vec<Entry> {
    match message["role"].as_str() {
        Some("user") => Side::User.entries(&message["content"]),
        Some("tool") => vec![returned(&message["tool_call_id"], text_of(&message["content"]))],
        Some("assistant") => {
            let calls = list(&message["tool_calls"]).iter().map(|call| Entry::Called {
                id: string(&call["id"]),
                name: string(&call["function"]["name"]),
                arguments: string(&call["function"]["arguments"]),
            });
            Side::Model.entries(&message["content"]).into_iter().chain(calls).collect()
        }
        _ => vec![],
    }
}

/// Writes an answer as a stream.
pub(super) fn events(answer: &Worded<'_>) -> Vec<String> {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    deltas.extend(answer.text.map(|text| json!({"content": text})));
    deltas.extend(calls(answer).into_iter().enumerate().map(|(index, mut call)| {
        call["index"] = json!(index);
        json!({"tool_calls": [call]})
    }));
    let choice = |delta: &Value, reason: Value| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    let mut chunks: Vec<Value> = deltas.iter().map(|delta| chunk(answer, &choice(delta, Value::Null))).collect();
    chunks.push(chunk(answer, &choice(&json!({}), json!(finish_reason(answer)))));
    let mut last = chunk(answer, &json!([]));
    last["usage"] = usage(answer);
    chunks.push(last);
    chunks.iter().map(untyped_event).chain(["data: [DONE]\n\n".to_owned()]).collect()
}

/// Writes an answer as one document.
pub(super) fn document(answer: &Worded<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.text});
    if !answer.calls.is_empty() {
        message["tool_calls"] = json!(calls(answer));
    }
    json!({"id": answer.id, "object": "chat.completion", "created": 0, "model": answer.model, "usage": usage(answer),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(answer)}]})
}

fn chunk(answer: &Worded<'_>, choices: &Value) -> Value {
    json!({"id": answer.id, "object": "chat.completion.chunk", "created": 0, "model": answer.model, "choices": choices})
}

fn calls(answer: &Worded<'_>) -> Vec<Value> {
    let function = |name: &str, arguments: &Value| json!({"name": name, "arguments": arguments.to_string()});
    let call = answer.calls.iter();
    call.map(|call| json!({"id": call.id, "type": "function", "function": function(&call.name, &call.arguments)}))
        .collect()
}

fn finish_reason(answer: &Worded<'_>) -> &'static str {
    if answer.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(answer: &Worded<'_>) -> Value {
    let usage = answer.usage;
    json!({"prompt_tokens": usage.input, "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens": usage.output, "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output})
}
