//! Decides the outcome of a Gemini session from the message of its `result`, the HTTP status in the exit code, or stderr if there is no
//! stream.

use serde_json::Value;

use longhaul_core::task::{Exit, Failure, Outcome};

use super::events::Memory;
use crate::json_line::number;
use crate::outcome;
use crate::reading::Reader;
use crate::text::{last_line, reason};

/// The class of what a `result` or `error` line said. The status is the one of the exit code; the message's own comes first.
pub(super) fn of_message(status: Option<u64>, said: &str) -> Failure {
    let why = plain(said);
    let says = |sayings: &[&str]| sayings.iter().any(|saying| said.contains(saying));
    if outcome::says_context_full(said) {
        return Failure::ContextFull;
    }
    // A wrong key is answered with status 400.
    if says(&["API key not valid", "API_KEY_INVALID"]) {
        return Failure::Auth(why);
    }
    // A day's quota comes back; when, nobody tells.
    if says(&["exhausted your daily quota", "Please wait and try again later"]) {
        return Failure::Limited(None);
    }
    // The same prompt would be blocked again.
    if says(&["safety", "SAFETY", "PROHIBITED_CONTENT"]) {
        return Failure::Configuration(why);
    }
    outcome::by_status(status_within(said).or(status), None, why)
}

/// What an error says, for people: the provider's own message where it is wrapped in JSON.
pub(super) fn plain(said: &str) -> String {
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
    let verdict = outcome::by_verdict(reader, exit, &[]);
    if let (Exit::Code(code), None | Some(Outcome::Failed(_))) = (exit, &verdict)
        && let Some(failure) = by_code(*code, &memory, stderr_tail)
    {
        return Outcome::Failed(failure);
    }
    verdict.unwrap_or_else(outcome::crashed)
}

fn by_code(code: i32, memory: &Memory, stderr_tail: &str) -> Option<Failure> {
    let last_words = || last_line(stderr_tail).unwrap_or_else(|| format!("refused with exit code {code}"));
    let said = memory.error.clone().unwrap_or_else(last_words);
    match code {
        41 => Some(Failure::Auth(last_words())),
        42 if says_unknown_conversation(stderr_tail) => Some(Failure::BadConversation),
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

fn says_unknown_conversation(stderr_tail: &str) -> bool {
    const SAYINGS: [&str; 3] = ["Invalid session identifier", "No previous sessions found", "already exists"];
    SAYINGS.iter().any(|saying| stderr_tail.contains(saying))
}
