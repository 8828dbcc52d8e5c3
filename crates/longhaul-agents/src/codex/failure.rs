//! What a codex session came to: from its verdict, its exit, its words and the structured cause in its transcript.
//! Classes as measured with 0.166.0. An exit of success alone is never a success.

use longhaul_core::task::{Exit, Failure, Outcome};
use serde_json::Value;

use super::events::memory;
use crate::clock_text::{from_epoch, time_after};
use crate::reading::{Moment, Reader, TurnEnd};
use crate::text::{last_line, reason};

/// The class of the whole session.
pub(super) fn outcome(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    match (&reader.verdict, exit) {
        (Some(Outcome::Failed(failure)), _) => Outcome::Failed(failure.clone()),
        (Some(Outcome::Completed), Exit::Code(0)) => Outcome::Completed,
        // Stopped while a command of its was left over: the turn itself was over.
        (Some(Outcome::Completed), Exit::Code(1) | Exit::Signal(_)) if reader.over == Some(TurnEnd::Done) => {
            Outcome::Completed
        }
        (Some(Outcome::Completed), _) => Outcome::Failed(Failure::Crashed),
        (None, exit) => Outcome::Failed(without_verdict(reader, exit, stderr_tail)),
    }
}

fn without_verdict(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Failure {
    let memory = memory(reader);
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

/// Nothing on stdout, the reason on stderr.
fn refused_at_start(stderr_tail: &str) -> Failure {
    let has = |words: &str| stderr_tail.contains(words);
    let Some(said) = error_line(stderr_tail) else { return Failure::Crashed };
    if has("no rollout found") || has("failed to read session metadata") {
        return Failure::BadConversation;
    }
    if has("already has an active writer") {
        return Failure::Retryable(said);
    }
    let settings =
        ["onfig", "Model provider", "required MCP servers", "trusted directory", "CODEX_HOME", "No prompt provided"];
    if settings.iter().any(|words| has(words)) {
        return Failure::Configuration(said);
    }
    if has("Not logged in") || has("codex login") {
        return Failure::Auth(said);
    }
    of_words(&said, None)
}

/// The last line that calls itself an error, with the next one where it only announces it.
fn error_line(stderr_tail: &str) -> Option<String> {
    let lines: Vec<&str> = stderr_tail.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let Some(at) = lines.iter().rposition(|line| line.starts_with("Error") || line.starts_with("error")) else {
        return last_line(stderr_tail);
    };
    let announced = lines.get(at + 1).filter(|_| lines[at].ends_with(':'));
    Some(reason(&announced.map_or_else(|| lines[at].to_owned(), |next| format!("{} {next}", lines[at]))))
}

fn usage_error(stderr_tail: &str) -> String {
    error_line(stderr_tail).unwrap_or_else(|| "codex refuses its command line".to_owned())
}

/// The class of what `turn.failed` says.
pub(super) fn of_message(message: &str, moment: &Moment<'_>) -> Failure {
    of_words(message, Some(moment))
}

fn of_words(message: &str, moment: Option<&Moment<'_>>) -> Failure {
    let has = |words: &str| message.contains(words);
    if has("hit your usage limit") {
        return Failure::Limited(moment.and_then(|moment| time_after(message, "try again at ", moment)));
    }
    if has("Quota exceeded") {
        return Failure::Exhausted(reason(message));
    }
    if has("rate limit exceeded") {
        return Failure::Limited(None);
    }
    if has("Missing environment variable") {
        return Failure::Auth(reason(message));
    }
    if has("ran out of room in the model's context window") {
        return Failure::ContextFull;
    }
    // The body of a refused request stands there as it came.
    if has("does not exist or you do not have access") || message.trim_start().starts_with('{') {
        return Failure::Configuration(reason(message));
    }
    of_status(status_in(message), message)
}

fn of_status(status: Option<u64>, message: &str) -> Failure {
    match status {
        Some(429) => Failure::Limited(None),
        Some(401 | 403) => Failure::Auth(reason(message)),
        Some(400 | 404 | 405 | 413 | 422) => Failure::Configuration(reason(message)),
        _ => Failure::Retryable(reason(message)),
    }
}

/// `last status: 429 Too Many Requests` or `unexpected status 401 Unauthorized`.
fn status_in(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("last status: ").or_else(|| message.split_once("unexpected status "))?;
    rest.get(..3)?.parse().ok()
}

/// The class of the structured cause in the transcript, which wins over words.
pub(super) fn of_cause(cause: &Value, message: &str, resets_at: Option<u64>, moment: &Moment<'_>) -> Failure {
    if let Some(detail) = cause.as_object().and_then(|cause| cause.values().next()) {
        return of_status(detail.get("http_status_code").and_then(Value::as_u64), message);
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
