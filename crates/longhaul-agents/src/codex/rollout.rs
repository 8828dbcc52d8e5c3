//! Codex' own record of a thread, `rollout-*.jsonl`: the structured cause of a failure, the tokens used, and what the user said.
//! Read only after the end; only records of this session's failed turn count.

use longhaul_core::task::{Outcome, Usage};
use serde_json::Value;

use super::events::{Memory, count_recorded};
use super::failure;
use crate::json_line::{number, object, text};
use crate::reading::{Moment, Reader};

/// Sharpens the verdict of a failed turn, and returns the tokens that the stream did not report. Anything else the transcript says may be
/// of an older turn.
pub(super) fn read(reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Usage {
    let event = object(line).filter(|event| text(event, "/type") == Some("event_msg"));
    let Some(payload) = event.as_ref().and_then(|event| event.get("payload")) else { return Usage::default() };
    match text(payload, "/type") {
        Some("task_started") => reader.change(|memory: &mut Memory| memory.resets_at = None),
        Some("token_count") => {
            let resets_at = payload.get("rate_limits").and_then(exhausted_until);
            reader.change(|memory: &mut Memory| memory.resets_at = resets_at.or(memory.resets_at));
            let recorded = payload.pointer("/info/total_token_usage");
            return recorded.map(|recorded| count_recorded(reader, recorded)).unwrap_or_default();
        }
        Some("task_complete") => task_complete(reader, moment, payload),
        _ => {}
    }
    Usage::default()
}

/// When the windows that are used up are full again: the last of them, or the only window there is.
fn exhausted_until(limits: &Value) -> Option<u64> {
    let windows: Vec<&Value> = ["primary", "secondary"]
        .iter()
        .filter_map(|name| limits.get(name))
        .filter(|window| window.is_object())
        .collect();
    let used_up =
        |window: &&&Value| window.get("used_percent").and_then(Value::as_f64).is_some_and(|used| used >= 100.0);
    let until = windows.iter().filter(used_up).filter_map(|window| number(window, "/resets_at")).max();
    until.or_else(|| windows.first().filter(|_| windows.len() == 1).and_then(|window| number(window, "/resets_at")))
}

fn task_complete(reader: &mut Reader, moment: &Moment<'_>, payload: &Value) {
    if !matches!(reader.verdict, Some(Outcome::Failed(_))) {
        return;
    }
    let (Some(cause), Some(message)) = (payload.pointer("/error/codex_error_info"), text(payload, "/error/message"))
    else {
        return;
    };
    let failure = failure::of_cause(cause, message, reader.recall::<Memory>().resets_at, moment);
    reader.verdict = Some(Outcome::Failed(failure));
}

/// What the user said on this line.
pub(super) fn user_texts(line: &Value) -> Vec<&str> {
    let payload = &line["payload"];
    let content = match (text(line, "/type"), text(payload, "/type")) {
        (Some("response_item"), Some("message")) if text(payload, "/role") == Some("user") => &payload["content"],
        (Some("event_msg"), Some("item_completed")) if text(payload, "/item/type") == Some("UserMessage") => {
            &payload["item"]["content"]
        }
        (Some("event_msg"), Some("user_message")) => return text(payload, "/message").into_iter().collect(),
        _ => return Vec::new(),
    };
    content.as_array().into_iter().flatten().filter_map(|part| text(part, "/text")).collect()
}
