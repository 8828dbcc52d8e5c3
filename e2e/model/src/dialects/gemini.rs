//! Google's generateContent, as gemini speaks it.
//! Called by `dialects`; reads the list of contents and writes chunks that are whole responses each.
//! The system instruction is passed over.

use serde_json::{Value, json};

use super::{Entry, Offered, Side, Worded, list, offered, returned, string, untyped_event};

/// Reads the conversation and the tools.
pub(super) fn read(body: &Value) -> (Vec<Entry>, Vec<Offered>) {
    let history = list(&body["contents"]).iter().flat_map(content_entries).collect();
    let declared = list(&body["tools"]).iter().flat_map(|tool| list(&tool["functionDeclarations"]));
    let tools = declared.filter_map(|tool| {
        let schema =
            if tool["parametersJsonSchema"].is_null() { &tool["parameters"] } else { &tool["parametersJsonSchema"] };
        offered(&tool["name"], schema)
    });
    (history, tools.collect())
}

fn content_entries(content: &Value) -> Vec<Entry> {
    let side = if content["role"] == "model" { Side::Model } else { Side::User };
    list(&content["parts"]).iter().flat_map(|part| part_entries(part, side)).collect()
}

fn part_entries(part: &Value, side: Side) -> Vec<Entry> {
    let (call, response) = (&part["functionCall"], &part["functionResponse"]);
    if call.is_object() {
        let (id, name) = (string(&call["id"]), string(&call["name"]));
        return vec![Entry::Called { id, name, arguments: call["args"].to_string() }];
    }
    if response.is_object() {
        let output = &response["response"];
        let text = output["output"].as_str().or_else(|| output["error"].as_str()).map(str::to_owned);
        return vec![returned(&response["id"], text.unwrap_or_else(|| output.to_string()))];
    }
    side.entries(part)
}

/// Writes an answer as a stream.
pub(super) fn events(answer: &Worded<'_>) -> Vec<String> {
    let mut parts = parts(answer);
    let last: Vec<Value> = parts.pop().into_iter().collect();
    let mut chunks: Vec<Value> = parts.into_iter().map(|part| chunk(answer, &[part], Value::Null)).collect();
    // An empty first chunk gives a cut or a hang a place before the last one.
    chunks.insert(0, chunk(answer, &[json!({"text": ""})], Value::Null));
    chunks.push(chunk(answer, &last, json!("STOP")));
    chunks.iter().map(untyped_event).collect()
}

/// Writes an answer as one document.
pub(super) fn document(answer: &Worded<'_>) -> Value {
    chunk(answer, &parts(answer), json!("STOP"))
}

fn parts(answer: &Worded<'_>) -> Vec<Value> {
    let text = answer.text.map(|text| json!({"text": text}));
    let call = answer.calls.iter();
    let calls = call.map(|call| json!({"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}));
    text.into_iter().chain(calls).collect()
}

fn chunk(answer: &Worded<'_>, parts: &[Value], finish_reason: Value) -> Value {
    let usage = answer.usage;
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if !finish_reason.is_null() {
        candidate["finishReason"] = finish_reason;
    }
    json!({"candidates": [candidate], "modelVersion": answer.model, "responseId": answer.id, "usageMetadata": {
        "promptTokenCount": usage.input, "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning), "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output}})
}
