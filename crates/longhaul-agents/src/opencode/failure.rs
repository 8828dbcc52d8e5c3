//! Decides the outcome of an OpenCode session from error events by name and HTTP status, or from exit code and stderr.
//! Called at the end of a session, with all that was read.

use serde_json::Value;

use longhaul_core::task::{Exit, Failure, Outcome};
use longhaul_core::time::Time;

use super::events::Memory;
use crate::json_line::{number, text};
use crate::outcome;
use crate::reading::{Moment, Reader};
use crate::text::{last_line, reason};

/// The class of an `error` event.
pub(super) fn of_error(moment: &Moment<'_>, error: &Value) -> Failure {
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
    if outcome::says_context_full(body) || outcome::says_context_full(&said) {
        return Failure::ContextFull;
    }
    if body.contains("insufficient_quota") {
        return Failure::Exhausted(said);
    }
    outcome::by_status(number(error, "/data/statusCode"), limited_until(moment, error), said)
}

/// The class of a reply that the provider's filter held back: the same prompt would meet it again.
pub(super) fn filtered() -> Failure {
    Failure::Configuration("the reply was blocked by the provider's content filter".into())
}

/// What an `error` event says, for people.
pub(super) fn message(error: &Value) -> String {
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
    outcome::judge(reader, exit, &[], || match exit {
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
    let permanent = stderr.lines().find(|line| PERMANENT.iter().any(|saying| line.contains(saying)));
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
