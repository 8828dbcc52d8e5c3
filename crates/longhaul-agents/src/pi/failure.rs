//! Decides the outcome of a Pi session from the message of the last failed call, or from exit code and stderr.
//! Called at the end of a session; the exit code alone proves nothing.

use longhaul_core::task::{Exit, Failure, Outcome};

use super::events::Memory;
use crate::outcome;
use crate::reading::Reader;
use crate::text::{last_line, reason};

/// The class of an `errorMessage`: mostly `<HTTP status>: <what the provider said>`. It never tells when a limit ends.
pub(super) fn of_message(said: &str) -> Failure {
    let why = reason(said);
    if outcome::says_context_full(said) {
        return Failure::ContextFull;
    }
    if said.contains("insufficient_quota") || said.contains("exceeded your current quota") {
        return Failure::Exhausted(why);
    }
    // The provider's filter would hold the same prompt back again.
    if said.contains("content_filter") {
        return Failure::Configuration(why);
    }
    let status = said.split_once(':').and_then(|(status, _)| status.trim().parse().ok());
    outcome::by_status(status, None, why)
}

/// What the session came to.
pub(super) fn outcome(reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    // It turns SIGTERM and SIGHUP into codes of its own.
    outcome::judge(reader, exit, &[143, 129], || match exit {
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
    let says = |sayings: &[&str]| sayings.iter().any(|saying| stderr_tail.contains(saying));
    if says(&UNKNOWN_CONVERSATION) {
        return Failure::BadConversation;
    }
    match (exit, last_line(stderr_tail)) {
        (Exit::Code(1), Some(line)) if says(&NOT_LOGGED_IN) => Failure::Auth(line),
        (Exit::Code(1), Some(line)) => Failure::Configuration(line),
        _ => Failure::Crashed,
    }
}
