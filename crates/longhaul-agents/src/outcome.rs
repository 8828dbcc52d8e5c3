//! Decides the outcome of a session from the agent's verdict and the exit of its program, and classifies errors of a model's API.
//! Shared by the agents that report a verdict or pass the provider's answer on.

use longhaul_core::task::{Exit, Failure, Outcome};
use longhaul_core::time::Time;

use crate::reading::{Reader, TurnEnd};

/// The session's outcome: from the agent's verdict if there is one, else from `without_verdict`, which reads exit and stderr.
/// `stop_codes` are the exit codes with which the program answers a signal.
pub(crate) fn judge(
    reader: &Reader,
    exit: &Exit,
    stop_codes: &[i32],
    without_verdict: impl FnOnce() -> Failure,
) -> Outcome {
    match by_verdict(reader, exit, stop_codes) {
        Some(outcome) => outcome,
        None if reader.verdict.is_some() => crashed(),
        None => Outcome::Failed(without_verdict()),
    }
}

/// The session's outcome by the agent's own verdict; `None` if only the exit and stderr can decide it.
pub(crate) fn by_verdict(reader: &Reader, exit: &Exit, stop_codes: &[i32]) -> Option<Outcome> {
    let verdict = reader.verdict.as_ref()?;
    let was_over = reader.over == Some(TurnEnd::Done);
    match (verdict, exit) {
        (Outcome::Failed(_), _) | (Outcome::Completed, Exit::Code(0)) => Some(verdict.clone()),
        // Whatever stopped the program after its turn was over took nothing from that turn.
        (Outcome::Completed, Exit::Signal(_)) if was_over => Some(Outcome::Completed),
        (Outcome::Completed, Exit::Code(code)) if was_over && stop_codes.contains(code) => Some(Outcome::Completed),
        (Outcome::Completed, Exit::Code(_) | Exit::Signal(_)) => None,
        (Outcome::Completed, Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown) => None,
    }
}

/// The outcome of a session that ended without an explanation.
pub(crate) fn crashed() -> Outcome {
    Outcome::Failed(Failure::Crashed)
}

/// The class of an HTTP status; `None` means there was no answer. `until` is when a limit ends, if the answer gives it.
pub(crate) fn by_status(status: Option<u64>, until: Option<Time>, message: String) -> Failure {
    match status {
        Some(401 | 403) => Failure::Auth(message),
        Some(402) => Failure::Exhausted(message),
        Some(429) => Failure::Limited(until),
        Some(408 | 409 | 425) => Failure::Retryable(message),
        Some(400..=499) => Failure::Configuration(message),
        Some(_) | None => Failure::Retryable(message),
    }
}

/// What an error message means: rows of sayings with the class of a message that has one of them.
pub(crate) type Sayings = [(&'static [&'static str], Class)];

/// A class of failures; the reason is kept where the class has room for it.
pub(crate) type Class = fn(String) -> Failure;

/// How providers say that the conversation is too long for the model.
pub(crate) const CONTEXT_FULL: &[&str] = &[
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "exceeds the maximum number of tokens allowed",
];

/// The class of the first row that this text has a saying of.
pub(crate) fn by_sayings(rows: &Sayings, text: &str, why: &str) -> Option<Failure> {
    let (_, class) = rows.iter().find(|(sayings, _)| says(text, sayings))?;
    Some(class(why.to_owned()))
}

/// Whether a text has one of these sayings.
pub(crate) fn says(text: &str, sayings: &[&str]) -> bool {
    sayings.iter().any(|saying| text.contains(saying))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOPPED: i32 = 143;

    fn verdict(verdict: Option<Outcome>, over: Option<TurnEnd>, exit: &Exit) -> Option<Outcome> {
        by_verdict(&Reader { verdict, over, ..Reader::default() }, exit, &[STOPPED])
    }

    #[test]
    fn a_finished_turn_survives_a_signal_but_no_failure_code_and_no_unknown_exit() {
        let done = Some(Outcome::Completed);
        assert_eq!(verdict(done.clone(), Some(TurnEnd::Done), &Exit::Code(0)), done);
        assert_eq!(verdict(done.clone(), Some(TurnEnd::Done), &Exit::Signal(15)), done);
        assert_eq!(verdict(done.clone(), Some(TurnEnd::Done), &Exit::Code(STOPPED)), done);
        assert_eq!(verdict(done.clone(), None, &Exit::Signal(15)), None);
        assert_eq!(verdict(done.clone(), None, &Exit::Code(STOPPED)), None);
        assert_eq!(verdict(done.clone(), Some(TurnEnd::Done), &Exit::Code(1)), None);
        assert_eq!(verdict(done, Some(TurnEnd::Done), &Exit::Unknown), None);
    }

    #[test]
    fn exit_and_stderr_count_only_without_a_verdict() {
        let of =
            |verdict| judge(&Reader { verdict, ..Reader::default() }, &Exit::Code(1), &[], || Failure::ContextFull);
        assert_eq!(of(Some(Outcome::Completed)), crashed());
        assert_eq!(of(None), Outcome::Failed(Failure::ContextFull));
    }

    #[test]
    fn a_failure_the_agent_told_counts_however_it_ended() {
        let failed = Some(Outcome::Failed(Failure::ContextFull));
        for exit in [Exit::Code(0), Exit::Code(1), Exit::Signal(9), Exit::Unknown] {
            assert_eq!(verdict(failed.clone(), None, &exit), failed);
        }
        assert_eq!(verdict(None, Some(TurnEnd::Done), &Exit::Code(0)), None);
    }

    #[test]
    fn every_status_has_its_class() {
        let class = |status| by_status(Some(status), Some(Time(7)), "m".into());
        assert_eq!(class(401), Failure::Auth("m".into()));
        assert_eq!(class(403), Failure::Auth("m".into()));
        assert_eq!(class(402), Failure::Exhausted("m".into()));
        assert_eq!(class(429), Failure::Limited(Some(Time(7))));
        assert_eq!(class(408), Failure::Retryable("m".into()));
        assert_eq!(class(400), Failure::Configuration("m".into()));
        assert_eq!(class(404), Failure::Configuration("m".into()));
        assert_eq!(class(500), Failure::Retryable("m".into()));
        assert_eq!(class(529), Failure::Retryable("m".into()));
        assert_eq!(by_status(None, Some(Time(7)), "m".into()), Failure::Retryable("m".into()));
    }
}
