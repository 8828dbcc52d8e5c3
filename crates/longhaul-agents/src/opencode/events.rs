//! OpenCode's event stream, line by line, and what a session came to: by error events with a name and an HTTP status, or by exit code
//! and stderr. There is no first and no last line: a turn is over when a step finishes with `stop`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use longhaul_core::task::{Exit, Failure, Outcome, Usage};
use longhaul_core::time::Time;

use crate::json_line::{micros, number, object, text, tool_detail};
use crate::outcome::{CONTEXT_FULL, by_status, judge, says};
use crate::reading::{Moment, Reader, Reading, Shown, TurnEnd};
use crate::text::{conversation_id, last_line, reason, result};

/// If a stream ends without a reason, it retries at once and forever; Longhaul stops it after this many in a row.
const HOPELESS_FINISHES: u32 = 3;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// The conversation's id was reported.
    told: bool,
    /// An error was printed; no later step makes it a success.
    failed: bool,
    /// Steps in a row that finished for no reason.
    unknown_finishes: u32,
}

pub(super) fn read(reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Reading {
    let Some(line) = object(line) else { return reader.unknown_line() };
    let mut memory: Memory = reader.recall();
    let mut reading = event(reader, &mut memory, moment, &line);
    if !memory.told {
        reading.conversation = text(&line, "/sessionID").and_then(conversation_id);
        memory.told = reading.conversation.is_some();
    }
    reader.remember(&memory);
    reading
}

fn event(reader: &mut Reader, memory: &mut Memory, moment: &Moment<'_>, line: &Value) -> Reading {
    match text(line, "/type") {
        Some("step_start") => step_started(reader, memory),
        Some("text") => said(line),
        Some("tool_use") => tool_used(reader, line),
        Some("step_finish") => step_finished(reader, memory, line),
        Some("error") => failed(reader, memory, moment, line),
        Some("reasoning") => Reading::default(),
        _ => reader.unknown_line(),
    }
}

fn step_started(reader: &mut Reader, memory: &Memory) -> Reading {
    if reader.over == Some(TurnEnd::Done) {
        reader.over = None;
    }
    if !memory.failed && memory.unknown_finishes == 0 {
        reader.verdict = None;
    }
    Reading::default()
}

fn said(line: &Value) -> Reading {
    text(line, "/part/text").map(|said| Reading::showing(Shown::Text(said.into()))).unwrap_or_default()
}

fn tool_used(reader: &mut Reader, line: &Value) -> Reading {
    let name = text(line, "/part/tool").unwrap_or("tool").to_owned();
    let detail = tool_detail(&line["part"]["state"]["input"]);
    let refused = text(line, "/part/state/error").is_some_and(is_refusal);
    if refused {
        let what = format!("{name}: {detail}");
        reader.verdict = Some(Outcome::Failed(Failure::Permission(format!("refused {what}"))));
        reader.note_refusal(&what);
    }
    let state = &line["part"]["state"];
    let failed = text(state, "/error").map(|error| (error, Some("failed")));
    let (output, failure) = failed.unwrap_or_else(|| (text(state, "/output").unwrap_or_default(), None));
    let shown = [Some(Shown::Tool { name, detail }), result(output, failure)];
    Reading { shown: shown.into_iter().flatten().collect(), ..Reading::default() }
}

/// Refused because nobody was there to ask, or by a rule of the configuration. The first ends the turn; whether the second does is
/// seen by whether another step starts.
fn is_refusal(error: &str) -> bool {
    error.contains("rejected permission") || error.contains("has specified a rule which prevents")
}

fn step_finished(reader: &mut Reader, memory: &mut Memory, line: &Value) -> Reading {
    let reason = text(line, "/part/reason").unwrap_or("unknown");
    memory.unknown_finishes = if reason == "unknown" { memory.unknown_finishes + 1 } else { 0 };
    match reason {
        "stop" if memory.failed => {}
        "stop" => {
            reader.verdict = Some(Outcome::Completed);
            reader.over = Some(TurnEnd::Done);
        }
        // More is to come, unless a tool was refused.
        "tool-calls" => {}
        "length" => reader.verdict = retryable("the reply was cut off at the model's output limit"),
        "content-filter" => reader.verdict = Some(Outcome::Failed(filtered())),
        "unknown" => {
            reader.verdict = retryable("the model's stream ended without a finish reason");
            if memory.unknown_finishes >= HOPELESS_FINISHES {
                reader.over = Some(TurnEnd::Unrecoverable);
            }
        }
        other => reader.verdict = retryable(&format!("the model finished with `{other}`")),
    }
    Reading { usage: usage(&line["part"]), ..Reading::default() }
}

fn retryable(why: &str) -> Option<Outcome> {
    Some(Outcome::Failed(Failure::Retryable(why.to_owned())))
}

/// Counted per step. Input is reported without cache reads and writes, output without reasoning. A step that used nothing at
/// all was not counted by the provider, and a price of nothing is a price that is not configured.
fn usage(part: &Value) -> Usage {
    let count = |pointer| number(part, pointer).unwrap_or(0);
    let input = count("/tokens/input") + count("/tokens/cache/read") + count("/tokens/cache/write");
    let output = count("/tokens/output") + count("/tokens/reasoning");
    if input == 0 && output == 0 {
        return Usage::default();
    }
    let cost_micros = micros(&part["cost"]);
    Usage { input: Some(input), output: Some(output), cost_micros }
}

fn failed(reader: &mut Reader, memory: &mut Memory, moment: &Moment<'_>, line: &Value) -> Reading {
    memory.failed = true;
    let error = &line["error"];
    reader.verdict = Some(Outcome::Failed(of_error(moment, error)));
    Reading::showing(Shown::Notice(message(error)))
}

/// The class of an `error` event.
fn of_error(moment: &Moment<'_>, error: &Value) -> Failure {
    let said = message(error);
    let body = text(error, "/data/responseBody").unwrap_or_default();
    match text(error, "/name").unwrap_or_default() {
        "ContextOverflowError" => return Failure::ContextFull,
        "ContentFilterError" => return filtered(),
        "ProviderAuthError" => return Failure::Auth(said),
        "ProviderModelNotFoundError" | "ProviderInitError" => return Failure::Configuration(said),
        // What it says of an unknown provider or model; all its other unknown errors are torn streams and time-outs.
        "UnknownError" if said.starts_with("Unexpected server error") => return Failure::Configuration(said),
        _ => {}
    }
    if says(body, CONTEXT_FULL) || says(&said, CONTEXT_FULL) {
        return Failure::ContextFull;
    }
    if body.contains("insufficient_quota") {
        return Failure::Exhausted(said);
    }
    by_status(number(error, "/data/statusCode"), limited_until(moment, error), said)
}

/// The class of a reply that the provider's filter held back: the same prompt would meet it again.
fn filtered() -> Failure {
    Failure::Configuration("the reply was blocked by the provider's content filter".into())
}

/// What an `error` event says, for people.
fn message(error: &Value) -> String {
    let said = text(error, "/data/message").or_else(|| text(error, "/name"));
    reason(said.unwrap_or("an error without a message"))
}

fn limited_until(moment: &Moment<'_>, error: &Value) -> Option<Time> {
    let told = text(error, "/data/responseHeaders/retry-after")?.trim();
    if let Ok(seconds) = told.parse::<u32>() {
        return Some(moment.now.after(std::time::Duration::from_secs(seconds.into())));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(told).ok()?;
    Some(Time(date.as_microsecond()))
}

/// What the session came to.
pub(super) fn outcome(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    let started = reader.recall::<Memory>().told;
    judge(reader, exit, &[], || match exit {
        // Exit code 0 says only that it left by itself: a second run of the same session ends the turn like this.
        Exit::Code(0) if started => Failure::Retryable("the program ended before its turn was over".into()),
        Exit::Code(_) if !started => refused(stderr_tail),
        Exit::Code(_) | Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown => {
            Failure::Crashed
        }
    })
}

/// It printed nothing but stderr.
fn refused(stderr_tail: &str) -> Failure {
    const PERMANENT: [&str; 5] = [
        "You must provide a message",
        "Unknown argument",
        "Not enough arguments following",
        "Invalid values",
        "Configuration is invalid",
    ];
    let stderr = without_colours(stderr_tail);
    if stderr.contains("Session not found") {
        return Failure::BadConversation;
    }
    let permanent = stderr.lines().find(|line| says(line, &PERMANENT));
    match (permanent, last_line(&stderr)) {
        (Some(line), _) => Failure::Configuration(reason(line)),
        (None, Some(line)) => Failure::Retryable(line),
        (None, None) => Failure::Crashed,
    }
}

/// Its stderr is coloured even when it is a file.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = rest.strip_prefix('m').unwrap_or(rest);
    }
    plain.push_str(rest);
    plain
}
