//! Decides the outcome of a codex session from its verdict, exit, messages and the structured cause in its transcript.
//! Classes as measured with 0.166.0. An exit of success alone is never a success.

use longhaul_core::task::{Exit, Failure, Outcome};
use serde_json::Value;

use super::events::Memory;
use crate::clock_text::{from_epoch, time_after};
use crate::json_line::number;
use crate::outcome::{self, Sayings, by_sayings, by_status};
use crate::reading::{Moment, Reader};
use crate::text::{error_line, last_line, reason};

/// The class of the whole session.
pub(super) fn outcome(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    // It answers a signal with exit code 1.
    outcome::judge(reader, exit, &[1], || without_verdict(&reader.recall(), exit, stderr_tail))
}

fn without_verdict(memory: &Memory, exit: &Exit, stderr_tail: &str) -> Failure {
    if let Some(trouble) = &memory.trouble {
        // A time of day in it would need the moment it was printed; it is tried again soon enough without.
        return match of_words(trouble, None) {
            // It was about to send the request again; only when it gives up is the login refused.
            Failure::Auth(said) if is_retried(trouble) => Failure::Retryable(said),
            failure => failure,
        };
    }
    match exit {
        Exit::Code(2) if !memory.started => Failure::Configuration(usage_error(stderr_tail)),
        Exit::Code(1) if !memory.started => refused_at_start(stderr_tail),
        Exit::Code(_) | Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown => {
            Failure::Crashed
        }
    }
}

/// Whether the program sends a request again by itself.
pub(super) fn is_retried(message: &str) -> bool {
    message.starts_with("Reconnecting...")
}

/// What stderr says when nothing is on stdout.
const REFUSALS: &Sayings = &[
    (&["no rollout found", "failed to read session metadata"], |_| Failure::BadConversation),
    (&["already has an active writer"], Failure::Retryable),
    (
        &["onfig", "Model provider", "required MCP servers", "trusted directory", "CODEX_HOME", "No prompt provided"],
        Failure::Configuration,
    ),
    (&["Not logged in", "codex login"], Failure::Auth),
];

fn refused_at_start(stderr_tail: &str) -> Failure {
    let Some(said) = said_on(stderr_tail) else { return Failure::Crashed };
    by_sayings(REFUSALS, stderr_tail, &said).unwrap_or_else(|| of_words(&said, None))
}

fn said_on(stderr_tail: &str) -> Option<String> {
    error_line(stderr_tail).or_else(|| last_line(stderr_tail))
}

fn usage_error(stderr_tail: &str) -> String {
    said_on(stderr_tail).unwrap_or_else(|| "codex refuses its command line".to_owned())
}

/// The class of what `turn.failed` says.
pub(super) fn of_message(message: &str, moment: &Moment<'_>) -> Failure {
    of_words(message, Some(moment))
}

/// What messages say, in the stream and on stderr.
const MESSAGES: &Sayings = &[
    (&["Quota exceeded"], Failure::Exhausted),
    (&["rate limit exceeded"], |_| Failure::Limited(None)),
    (&["Missing environment variable"], Failure::Auth),
    (&["ran out of room in the model's context window"], |_| Failure::ContextFull),
    (&["does not exist or you do not have access"], Failure::Configuration),
];

fn of_words(message: &str, moment: Option<&Moment<'_>>) -> Failure {
    if message.contains("hit your usage limit") {
        return Failure::Limited(moment.and_then(|moment| time_after(message, "try again at ", moment)));
    }
    let why = reason(message);
    by_sayings(MESSAGES, message, &why).unwrap_or_else(|| match message.trim_start().starts_with('{') {
        // This is the unchanged body of a refused request.
        true => Failure::Configuration(why),
        false => by_status(status_in(message), None, why),
    })
}

/// `last status: 429 Too Many Requests` or `unexpected status 401 Unauthorized`.
fn status_in(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("last status: ").or_else(|| message.split_once("unexpected status "))?;
    rest.get(..3)?.parse().ok()
}

/// The class of the structured cause in the transcript, which wins over words.
pub(super) fn of_cause(cause: &Value, message: &str, resets_at: Option<u64>, moment: &Moment<'_>) -> Failure {
    if let Some(detail) = cause.as_object().and_then(|cause| cause.values().next()) {
        return by_status(number(detail, "/http_status_code"), None, reason(message));
    }
    let exact = resets_at.and_then(from_epoch).filter(|until| *until > moment.now);
    match (cause.as_str().unwrap_or_default(), of_message(message, moment)) {
        ("usage_limit_exceeded", exhausted @ Failure::Exhausted(_)) => exhausted,
        ("usage_limit_exceeded", Failure::Limited(told)) => Failure::Limited(exact.or(told)),
        ("usage_limit_exceeded", _) => Failure::Limited(exact),
        ("rate_limit_exceeded", _) => Failure::Limited(None),
        ("server_overloaded" | "internal_server_error", _) => Failure::Retryable(reason(message)),
        ("model_not_found" | "bad_request", _) => Failure::Configuration(reason(message)),
        ("unauthorized", _) => Failure::Auth(reason(message)),
        ("context_window_exceeded", _) => Failure::ContextFull,
        (_, by_words) => by_words,
    }
}
