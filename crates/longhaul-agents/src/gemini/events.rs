//! Gemini's event stream, line by line.
//! The only reliable sign of success is a `result` line that reports it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use longhaul_core::task::{Outcome, Usage};

use super::failure;
use crate::json_line::{number, object, text, tool_detail};
use crate::reading::{Reader, Reading, Shown, TurnEnd};
use crate::text::conversation_id;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// The first line was read: it got past its command line.
    pub(super) started: bool,
    /// What the last error said, as the program printed it.
    pub(super) error: Option<String>,
}

pub(super) fn read(reader: &mut Reader, line: &[u8]) -> Reading {
    let Some(line) = object(line) else { return reader.unknown_line() };
    match text(&line, "/type").unwrap_or_default() {
        "init" => init(reader, &line),
        "message" => said(&line),
        "tool_use" => Reading::showing(Shown::Tool {
            name: text(&line, "/tool_name").unwrap_or("tool").to_owned(),
            detail: tool_detail(&line["parameters"]),
        }),
        "tool_result" => Reading::default(),
        "error" => warned(reader, &line),
        "result" => result(reader, &line),
        _ => reader.unknown_line(),
    }
}

fn init(reader: &mut Reader, line: &Value) -> Reading {
    (reader.verdict, reader.over) = (None, None);
    reader.remember(&Memory { started: true, error: None });
    Reading { conversation: text(line, "/session_id").and_then(conversation_id), ..Reading::default() }
}

/// Pieces of a reply are shown as they come and never put together: a retried stream sends them again.
fn said(line: &Value) -> Reading {
    match (text(line, "/role"), text(line, "/content")) {
        (Some("assistant"), Some(said)) if !said.trim().is_empty() => Reading::showing(Shown::Text(said.to_owned())),
        _ => Reading::default(),
    }
}

fn warned(reader: &mut Reader, line: &Value) -> Reading {
    let said = text(line, "/message").unwrap_or("an error without a message");
    if text(line, "/severity") == Some("error") {
        note_error(reader, said);
    }
    Reading::showing(Shown::Notice(failure::plain(said)))
}

/// Kept as it is, because its second line and the JSON in it tell the class; but a reader stays small.
fn note_error(reader: &mut Reader, said: &str) {
    let memory = Memory { error: Some(said.chars().take(1500).collect()), ..reader.recall() };
    reader.remember(&memory);
}

fn result(reader: &mut Reader, line: &Value) -> Reading {
    let usage = usage(&line["stats"]);
    reader.over = Some(TurnEnd::Done);
    if text(line, "/status") == Some("success") {
        reader.verdict = Some(Outcome::Completed);
        return Reading { usage, ..Reading::default() };
    }
    let mut shown = Vec::new();
    if let Some(said) = text(line, "/error/message") {
        shown.push(Shown::Notice(failure::plain(said)));
        note_error(reader, said);
    }
    let said = reader.recall::<Memory>().error.unwrap_or_default();
    reader.verdict = Some(Outcome::Failed(failure::of_message(None, &said)));
    Reading { usage, shown, conversation: None }
}

/// Of this run alone, with what came from the cache in the input. A run that used nothing at all was not counted. No price is reported.
fn usage(stats: &Value) -> Usage {
    match (number(stats, "/input_tokens"), number(stats, "/output_tokens")) {
        (Some(0), Some(0)) => Usage::default(),
        (input, output) => Usage { input, output, cost_micros: None },
    }
}
