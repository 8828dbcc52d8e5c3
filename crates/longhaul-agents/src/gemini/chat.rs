//! Gemini's own record of a conversation, `chats/session-*.jsonl`: messages one by one, and sometimes all of them again.
//! Read only after the end. Gemini removes a failed turn and its prompt from the file, and the rest cannot be resumed.

use longhaul_core::task::Delivered;
use serde_json::Value;

use crate::mark;

/// What the program says in the user's name before the first prompt.
const CONTEXT: &str = "<session_context>";

/// Whether the prompt with this mark stands in the conversation as it is in the end.
pub(super) fn delivered(lines: &mut dyn Iterator<Item = &[u8]>, mark: &str) -> Delivered {
    let (mut messages, mut documents, mut unreadable) = (Vec::new(), 0, 0);
    for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
        let Ok(mut record) = serde_json::from_slice::<Value>(line) else {
            unreadable += 1;
            continue;
        };
        documents += 1;
        match record.pointer_mut("/$set/messages").map(Value::take) {
            Some(Value::Array(all)) => messages = all,
            _ if record["type"].is_string() => messages.push(record),
            _ => {}
        }
    }
    let carries = |text: &str| mark::carries(text, mark);
    match messages.iter().flat_map(user_texts).any(carries) {
        true => Delivered::Yes,
        // The prompt may stand in what could not be read.
        false if unreadable > 0 || documents == 0 => Delivered::Unknown,
        false if messages.iter().all(is_context) => Delivered::NoTranscript,
        false => Delivered::No,
    }
}

fn is_context(message: &Value) -> bool {
    message["type"] == "user" && user_texts(message).iter().all(|text| text.starts_with(CONTEXT))
}

fn user_texts(message: &Value) -> Vec<&str> {
    if message["type"] != "user" {
        return Vec::new();
    }
    let content = &message["content"];
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let in_parts = parts.iter().filter_map(|part| part["text"].as_str().or(part.as_str()));
    content.as_str().into_iter().chain(in_parts).collect()
}
