//! Decides the outcome of a declared agent's session: success with exit code 0 and `done` (if declared), else the class of its error.
//! Called once, after the session's process was waited for.

use longhaul_core::task::{Exit, Failure, Outcome};

use super::{Memory, rule};
use crate::declared::Definition;
use crate::reading::{Reader, TurnEnd};
use crate::text::last_line;

pub(super) fn outcome(definition: &Definition, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    let waits_for_done = !definition.done.is_empty();
    match (&reader.verdict, exit) {
        (Some(Outcome::Completed), exit) if *exit == Exit::Code(0) || was_stopped(reader, exit) => Outcome::Completed,
        // Overcome: it went on after the error and ended well.
        (Some(Outcome::Failed(_)), Exit::Code(0)) if !waits_for_done && !reader.recall::<Memory>().troubled => {
            Outcome::Completed
        }
        (Some(Outcome::Failed(failure)), _) => Outcome::Failed(failure.clone()),
        (None, Exit::Code(0)) if !waits_for_done => Outcome::Completed,
        (Some(Outcome::Completed) | None, exit) => {
            Outcome::Failed(without_verdict(definition, reader, exit, stderr_tail))
        }
    }
}

/// Its turn was over but processes were left, so it was stopped; the exit shows that.
fn was_stopped(reader: &Reader, exit: &Exit) -> bool {
    reader.over == Some(TurnEnd::Done) && matches!(exit, Exit::Signal(_) | Exit::Code(129..))
}

fn without_verdict(definition: &Definition, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Failure {
    let code = match exit {
        Exit::Code(code) => *code,
        Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown => return Failure::Crashed,
    };
    let last_words = reader.recall::<Memory>().last_words.unwrap_or_default();
    let told =
        rule::fitting(&definition.errors, stderr_tail).or_else(|| rule::fitting(&definition.errors, &last_words));
    told.unwrap_or_else(|| match last_line(stderr_tail) {
        Some(line) if code != 0 => Failure::Retryable(format!("exit code {code}: {line}")),
        Some(_) | None => Failure::Crashed,
    })
}
