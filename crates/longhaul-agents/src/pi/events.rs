//! Pi's event stream, line by line, and what a session came to: by the message of the last failed call, or by exit code and stderr.
//! A turn is over with `agent_settled`, and succeeded if the last message of the assistant stopped normally; Pi may still retry
//! everything before it. The exit code alone proves nothing.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use longhaul_core::task::{Exit, Failure, Outcome, Usage};

use crate::json_line::{micros, number, object, text, tool_detail};
use crate::outcome::{CONTEXT_FULL, Sayings, by_sayings, by_status, judge, says};
use crate::reading::{Reader, Reading, Shown, TurnEnd};
use crate::text::{conversation_id, last_line, reason};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// The session line was read: it got past its command line.
    started: bool,
    /// The last message of the assistant stopped by itself.
    stopped: bool,
}

/// Lines that repeat or frame what other lines say.
const SAY_NOTHING: [&str; 9] = [
    "message_start",
    "message_update",
    "tool_execution_update",
    "tool_execution_end",
    "turn_end",
    "agent_end",
    "auto_retry_end",
    "compaction_end",
    "entry_appended",
];

pub(super) fn read(reader: &mut Reader, line: &[u8]) -> Reading {
    let Some(line) = object(line) else { return reader.unknown_line() };
    match text(&line, "/type").unwrap_or_default() {
        "session" => session(reader, &line),
        "agent_start" | "turn_start" => {
            (reader.verdict, reader.over) = (None, None);
            Reading::default()
        }
        "message_end" if line["message"]["role"] == "assistant" => answered(reader, &line["message"]),
        "message_end" => Reading::default(),
        "tool_execution_start" => Reading::showing(Shown::Tool {
            name: text(&line, "/toolName").unwrap_or("tool").to_owned(),
            detail: tool_detail(&line["args"]),
        }),
        "auto_retry_start" => Reading::showing(Shown::Notice(retry(&line))),
        "compaction_start" => Reading::showing(Shown::Notice("the conversation is being compacted".into())),
        "agent_settled" => settled(reader),
        kind if SAY_NOTHING.contains(&kind) => Reading::default(),
        _ => reader.unknown_line(),
    }
}

fn session(reader: &mut Reader, line: &Value) -> Reading {
    reader.remember(&Memory { started: true, stopped: false });
    Reading { conversation: text(line, "/id").and_then(conversation_id), ..Reading::default() }
}

fn answered(reader: &mut Reader, message: &Value) -> Reading {
    let mut memory: Memory = reader.recall();
    let stopped_by = text(message, "/stopReason").unwrap_or_default();
    memory.stopped = stopped_by == "stop";
    reader.remember(&memory);
    let mut shown = texts(message);
    reader.verdict = match stopped_by {
        "stop" | "toolUse" => None,
        "length" => {
            Some(Outcome::Failed(Failure::Retryable("the reply was cut off at the model's output limit".into())))
        }
        "error" => {
            let said = text(message, "/errorMessage").unwrap_or("an error without a message");
            shown.push(Shown::Notice(reason(said)));
            Some(Outcome::Failed(of_message(said)))
        }
        other => Some(Outcome::Failed(Failure::Retryable(format!("the model stopped with `{other}`")))),
    };
    Reading { usage: usage(&message["usage"]), shown, conversation: None }
}

fn texts(message: &Value) -> Vec<Shown> {
    let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = parts.iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
    texts.filter(|text| !text.trim().is_empty()).map(|text| Shown::Text(text.to_owned())).collect()
}

/// Input is reported without cache reads and writes. A message that used nothing at all was not counted by the provider.
fn usage(usage: &Value) -> Usage {
    let count = |pointer| number(usage, pointer).unwrap_or(0);
    let (input, output) = (count("/input") + count("/cacheRead") + count("/cacheWrite"), count("/output"));
    if input == 0 && output == 0 {
        return Usage::default();
    }
    Usage { input: Some(input), output: Some(output), cost_micros: micros(&usage["cost"]["total"]) }
}

fn retry(line: &Value) -> String {
    let count = |pointer| number(line, pointer).unwrap_or(0);
    let why = reason(text(line, "/errorMessage").unwrap_or("an error"));
    let seconds = count("/delayMs").div_ceil(1000);
    format!("retry {} of {} in {seconds} s: {why}", count("/attempt"), count("/maxAttempts"))
}

fn settled(reader: &mut Reader) -> Reading {
    reader.over = Some(TurnEnd::Done);
    if reader.recall::<Memory>().stopped && reader.verdict.is_none() {
        reader.verdict = Some(Outcome::Completed);
    }
    Reading::default()
}

/// What an `errorMessage` says.
const MESSAGES: &Sayings = &[
    (CONTEXT_FULL, |_| Failure::ContextFull),
    (&["insufficient_quota", "exceeded your current quota"], Failure::Exhausted),
    // The provider's filter would hold the same prompt back again.
    (&["content_filter"], Failure::Configuration),
];

/// The class of an `errorMessage`: mostly `<HTTP status>: <what the provider said>`. It never tells when a limit ends.
fn of_message(said: &str) -> Failure {
    let why = reason(said);
    let status = said.split_once(':').and_then(|(status, _)| status.trim().parse().ok());
    by_sayings(MESSAGES, said, &why).unwrap_or_else(|| by_status(status, None, why))
}

/// What the session came to.
pub(super) fn outcome(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    // It turns SIGTERM and SIGHUP into codes of its own.
    judge(reader, exit, &[143, 129], || match exit {
        Exit::Code(_) if !reader.recall::<Memory>().started => refused(exit, stderr_tail),
        Exit::Code(_) | Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown => {
            Failure::Crashed
        }
    })
}

/// It ended before its first line.
fn refused(exit: &Exit, stderr_tail: &str) -> Failure {
    // A conversation of another folder is met with a question, no answer, and exit code 0.
    const UNKNOWN_CONVERSATION: [&str; 2] = ["No session found matching", "Session found in different project"];
    const NOT_LOGGED_IN: [&str; 3] = ["No API key", "API key not found", "/login"];
    if says(stderr_tail, &UNKNOWN_CONVERSATION) {
        return Failure::BadConversation;
    }
    match (exit, last_line(stderr_tail)) {
        (Exit::Code(1), Some(line)) if says(stderr_tail, &NOT_LOGGED_IN) => Failure::Auth(line),
        (Exit::Code(1), Some(line)) => Failure::Configuration(line),
        _ => Failure::Crashed,
    }
}
