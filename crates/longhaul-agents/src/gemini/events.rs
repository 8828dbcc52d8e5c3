//! Gemini's event stream, line by line, and what a session came to: by the message of its `result`, the HTTP status in the exit code, or
//! stderr if there is no stream. The only reliable sign of success is a `result` line that reports it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use longhaul_core::task::{Exit, Failure, Outcome, Usage};

use crate::json_line::{number, object, text, tool_detail};
use crate::outcome::{CONTEXT_FULL, Sayings, by_sayings, by_status, by_verdict, crashed, says};
use crate::reading::{Reader, Reading, Shown, TurnEnd};
use crate::text::{conversation_id, last_line, reason};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// The first line was read: it got past its command line.
    started: bool,
    /// What the last error said, as the program printed it.
    error: Option<String>,
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
    Reading::showing(Shown::Notice(plain(said)))
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
        shown.push(Shown::Notice(plain(said)));
        note_error(reader, said);
    }
    let said = reader.recall::<Memory>().error.unwrap_or_default();
    reader.verdict = Some(Outcome::Failed(of_message(None, &said)));
    Reading { usage, shown, conversation: None }
}

/// Of this run alone, with what came from the cache in the input. A run that used nothing at all was not counted. No price is reported.
fn usage(stats: &Value) -> Usage {
    match (number(stats, "/input_tokens"), number(stats, "/output_tokens")) {
        (Some(0), Some(0)) => Usage::default(),
        (input, output) => Usage { input, output, cost_micros: None },
    }
}

/// What errors say.
const MESSAGES: &Sayings = &[
    (CONTEXT_FULL, |_| Failure::ContextFull),
    // A wrong key is answered with status 400.
    (&["API key not valid", "API_KEY_INVALID"], Failure::Auth),
    // A day's quota comes back; when, nobody tells.
    (&["exhausted your daily quota", "Please wait and try again later"], |_| Failure::Limited(None)),
    // The same prompt would be blocked again.
    (&["safety", "SAFETY", "PROHIBITED_CONTENT"], Failure::Configuration),
];

/// The class of what a `result` or `error` line said. The status is the one of the exit code; the message's own comes first.
fn of_message(status: Option<u64>, said: &str) -> Failure {
    let why = plain(said);
    by_sayings(MESSAGES, said, &why).unwrap_or_else(|| by_status(status_within(said).or(status), None, why))
}

/// What an error says, for people: the provider's own message where it is wrapped in JSON.
fn plain(said: &str) -> String {
    match answer_within(said).as_ref().and_then(|answer| answer.pointer("/error/message")?.as_str()) {
        Some(message) => reason(message),
        None if said.is_empty() => "the model gave no usable reply".into(),
        None => reason(said),
    }
}

fn status_within(said: &str) -> Option<u64> {
    number(&answer_within(said)?, "/error/code")
}

/// `[API Error: {...}]`
fn answer_within(said: &str) -> Option<Value> {
    let (start, end) = (said.find('{')?, said.rfind('}')?);
    serde_json::from_str(said.get(start..=end)?).ok()
}

/// What the session came to.
pub(super) fn outcome(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    let memory: Memory = reader.recall();
    let verdict = by_verdict(reader, exit, &[]);
    if let (Exit::Code(code), None | Some(Outcome::Failed(_))) = (exit, &verdict)
        && let Some(failure) = by_code(*code, &memory, stderr_tail)
    {
        return Outcome::Failed(failure);
    }
    verdict.unwrap_or_else(crashed)
}

fn by_code(code: i32, memory: &Memory, stderr_tail: &str) -> Option<Failure> {
    let last_words = || last_line(stderr_tail).unwrap_or_else(|| format!("refused with exit code {code}"));
    let said = memory.error.clone().unwrap_or_else(last_words);
    match code {
        41 => Some(Failure::Auth(last_words())),
        42 if says(stderr_tail, UNKNOWN_CONVERSATION) => Some(Failure::BadConversation),
        42 | 55 => Some(Failure::Configuration(last_words())),
        1 if !memory.started && stderr_tail.contains("Unknown argument") => Some(Failure::Configuration(last_words())),
        1 if !memory.started && !stderr_tail.trim().is_empty() => Some(Failure::Retryable(last_words())),
        _ => http_status(code).map(|status| of_message(Some(status), &said)),
    }
}

/// Exit codes above 127 are no signals here: they are the HTTP status modulo 256.
fn http_status(code: i32) -> Option<u64> {
    let status = u64::try_from(code).ok()?.checked_add(256)?;
    (400..=511).contains(&status).then_some(status)
}

const UNKNOWN_CONVERSATION: &[&str] = &["Invalid session identifier", "No previous sessions found", "already exists"];
