//! What a claude session came to: from its last result, its exit and its stderr.
//! Classes as measured with 2.1.325. After SIGINT it exits with success, so an exit alone is never one.

use longhaul_core::task::{Exit, Failure, Outcome};
use longhaul_core::time::Time;
use serde_json::Value;

use super::events::{Memory, Trouble, memory};
use crate::clock_text::{from_epoch, time_after};
use crate::json_line::text;
use crate::reading::{Moment, Reader, TurnEnd};
use crate::text::{last_line, reason};

/// The class of the whole session.
pub(super) fn outcome(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    match (&reader.verdict, exit) {
        (Some(Outcome::Failed(failure)), _) => Outcome::Failed(failure.clone()),
        (Some(Outcome::Completed), Exit::Code(0)) => Outcome::Completed,
        // Stopped while it waited for something left in the background: the turn itself was over.
        (Some(Outcome::Completed), Exit::Code(143 | 129) | Exit::Signal(_)) if reader.over == Some(TurnEnd::Done) => {
            Outcome::Completed
        }
        (Some(Outcome::Completed), _) => Outcome::Failed(Failure::Crashed),
        (None, exit) => Outcome::Failed(without_verdict(&memory(reader), exit, stderr_tail)),
    }
}

fn without_verdict(memory: &Memory, exit: &Exit, stderr_tail: &str) -> Failure {
    match (&memory.trouble, exit) {
        (Some(trouble), _) => match of_trouble(trouble, memory.resets_at.and_then(from_epoch)) {
            // It was about to send the request again.
            Failure::Auth(said) if trouble.retried => Failure::Retryable(said),
            failure => failure,
        },
        (None, Exit::Code(1)) if !memory.started => refused_at_start(stderr_tail),
        (None, _) => Failure::Crashed,
    }
}

/// No stream, the reason on stderr.
fn refused_at_start(stderr_tail: &str) -> Failure {
    let Some(last) = last_line(stderr_tail) else { return Failure::Crashed };
    let has = |words: &str| stderr_tail.contains(words);
    if unknown_conversation(stderr_tail) {
        return Failure::BadConversation;
    }
    // The next session has an id of its own.
    if has("is already in use") {
        return Failure::Retryable(last);
    }
    let settings = [
        "error: ",
        "root/sudo",
        "Invalid",
        "not found",
        "native binary not installed",
        "Input must be provided",
        "requires --",
    ];
    if settings.iter().any(|words| has(words)) {
        return Failure::Configuration(stderr_reason(stderr_tail));
    }
    Failure::Retryable(last)
}

/// The line that says what is wrong, without the hints that follow it.
fn stderr_reason(stderr_tail: &str) -> String {
    let lines: Vec<&str> = stderr_tail.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let at = lines.iter().rposition(|line| line.to_ascii_lowercase().starts_with("error")).unwrap_or(0);
    let announced = lines.get(at + 1).filter(|_| lines[at].ends_with(':'));
    reason(&announced.map_or_else(|| lines[at].to_owned(), |next| format!("{} {next}", lines[at])))
}

fn unknown_conversation(words: &str) -> bool {
    words.contains("No conversation found") || words.contains("requires a valid session ID")
}

/// What a failed result says, for people.
pub(super) fn said_in<'a>(event: &'a Value, memory: &'a Memory) -> &'a str {
    let earlier = || memory.trouble.as_ref().map(|trouble| trouble.said.as_str());
    text(event, "/result").or_else(|| text(event, "/errors/0")).or_else(earlier).unwrap_or("ended with an error")
}

/// The class of a result with `is_error`.
pub(super) fn of_result(event: &Value, memory: &Memory, moment: &Moment<'_>) -> Failure {
    let said = said_in(event, memory);
    let errors = event.get("errors").and_then(Value::as_array).into_iter().flatten();
    if errors.filter_map(Value::as_str).any(unknown_conversation) {
        return Failure::BadConversation;
    }
    match (text(event, "/terminal_reason"), text(event, "/subtype")) {
        (Some("prompt_too_long"), _) => return Failure::ContextFull,
        (_, Some("error_max_budget_usd")) => return Failure::Exhausted(reason(said)),
        (_, Some("error_max_turns")) => return Failure::Retryable(reason(said)),
        // Interrupted from outside: it has no verdict of its own.
        (Some(aborted), _) if aborted.starts_with("aborted") => return Failure::Crashed,
        _ => {}
    }
    let trouble = memory.trouble.clone().unwrap_or_default();
    let narrower = text(event, "/api_error").map_or(trouble.narrower, str::to_owned);
    let status = event.get("api_error_status").and_then(Value::as_u64).or(trouble.status);
    let trouble = Trouble { status, narrower, said: reason(said), ..trouble };
    of_trouble(&trouble, limit_ends(&trouble, memory, moment))
}

/// The event tells the second, the text only the minute.
fn limit_ends(trouble: &Trouble, memory: &Memory, moment: &Moment<'_>) -> Option<Time> {
    let exact = memory.resets_at.and_then(from_epoch);
    exact.or_else(|| {
        let is_usage_limit = trouble.narrower == "usage_limit_reached";
        time_after(&trouble.said, "resets ", moment).filter(|_| is_usage_limit)
    })
}

/// The class of a request that failed.
pub(super) fn of_trouble(trouble: &Trouble, limit_ends: Option<Time>) -> Failure {
    let said = || trouble.said.clone();
    match (trouble.word.as_str(), trouble.status) {
        ("billing_error", _) => Failure::Exhausted(said()),
        ("rate_limit", _) | (_, Some(429)) => Failure::Limited(limit_ends),
        ("authentication_failed", _) | (_, Some(401 | 403)) => Failure::Auth(said()),
        ("model_not_found" | "invalid_request", _) | (_, Some(400 | 404 | 405 | 413 | 422)) => {
            Failure::Configuration(said())
        }
        _ => Failure::Retryable(said()),
    }
}
