//! Decides the outcome of a claude session from its last result, exit and stderr.
//! Classes as measured with 2.1.325. After SIGINT it exits with success, so an exit alone is never one.

use longhaul_core::task::{Exit, Failure, Outcome};
use longhaul_core::time::Time;
use serde_json::Value;

use super::events::{Memory, Trouble};
use crate::clock_text::{from_epoch, time_after};
use crate::json_line::text;
use crate::outcome::{self, says};
use crate::reading::{Moment, Reader};
use crate::text::{error_line, last_line, reason};

/// The class of the whole session.
pub(super) fn outcome(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    // The exit codes of SIGTERM and SIGHUP.
    outcome::judge(reader, exit, &[143, 129], || without_verdict(&reader.recall(), exit, stderr_tail))
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
    if says(stderr_tail, UNKNOWN_CONVERSATION) {
        return Failure::BadConversation;
    }
    // The next session has an id of its own.
    let is_temporary = stderr_tail.contains("is already in use");
    if !is_temporary && says(stderr_tail, REFUSED_SETTINGS) {
        return Failure::Configuration(error_line(stderr_tail).unwrap_or_else(|| reason(stderr_tail)));
    }
    Failure::Retryable(last)
}

const UNKNOWN_CONVERSATION: &[&str] = &["No conversation found", "requires a valid session ID"];

const REFUSED_SETTINGS: &[&str] = &[
    "error: ",
    "root/sudo",
    "Invalid",
    "not found",
    "native binary not installed",
    "Input must be provided",
    "requires --",
];

/// What a failed result says, for people.
pub(super) fn said_in<'a>(event: &'a Value, memory: &'a Memory) -> &'a str {
    let earlier = || memory.trouble.as_ref().map(|trouble| trouble.said.as_str());
    text(event, "/result").or_else(|| text(event, "/errors/0")).or_else(earlier).unwrap_or("ended with an error")
}

/// The class of a result with `is_error`.
pub(super) fn of_result(event: &Value, memory: &Memory, moment: &Moment<'_>) -> Failure {
    let said = said_in(event, memory);
    let errors = event.get("errors").and_then(Value::as_array).into_iter().flatten();
    if errors.filter_map(Value::as_str).any(|error| says(error, UNKNOWN_CONVERSATION)) {
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

/// The class of a request that failed: by the program's word for it, which stands for a status, else by the status.
pub(super) fn of_trouble(trouble: &Trouble, limit_ends: Option<Time>) -> Failure {
    let status = match (trouble.word.as_str(), trouble.status) {
        ("billing_error", _) => Some(402),
        ("rate_limit", _) | (_, Some(429)) => Some(429),
        ("authentication_failed", _) | (_, Some(401 | 403)) => Some(401),
        ("model_not_found" | "invalid_request", _) => Some(400),
        (_, status) => status,
    };
    outcome::by_status(status, limit_ends, trouble.said.clone())
}
