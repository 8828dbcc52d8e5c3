//! What a task has used, in words that do not call the unknown zero: a sum that lacks a session's part is "at least" so much.
//! Pure; for `show`, `why` and the report.

use longhaul_core::task::{Exit, Limit, SessionRecord};

/// Whether a session of an agent has ended without reporting its part, so that the sum is only a lower bound.
pub(super) fn is_partial(limit: Limit, records: &[SessionRecord]) -> bool {
    records.iter().filter(|record| was_executed(record)).any(|record| match limit {
        Limit::Tokens => record.run.usage.input.is_none() || record.run.usage.output.is_none(),
        Limit::Cost => record.run.usage.cost_micros.is_none(),
        Limit::Sessions | Limit::Time | Limit::Usage => false,
    })
}

/// The tokens of all sessions.
pub fn tokens(total: Option<u64>, records: &[SessionRecord]) -> String {
    match total {
        Some(total) => format!("{}{total} tokens", at_least(Limit::Tokens, records)),
        None => "tokens unknown".to_owned(),
    }
}

/// The words before a sum that lacks something.
pub fn at_least(limit: Limit, records: &[SessionRecord]) -> &'static str {
    if is_partial(limit, records) { "at least " } else { "" }
}

/// So many of something.
pub fn count(number: u32, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// A session that is still running may report later, and one that never ran has used nothing.
fn was_executed(record: &SessionRecord) -> bool {
    let ran =
        record.ended.as_ref().is_some_and(|ended| !matches!(ended.exit, Exit::NotExecutable(_) | Exit::NeverStarted));
    ran && record.run.purpose.is_agent()
}

#[cfg(test)]
mod tests {
    use crate::mint_session;
    use longhaul_core::task::{Ended, Exit, Limit, Outcome, Purpose, SessionRecord, SessionRun, Usage};
    use longhaul_core::time::Time;

    use super::{at_least, count, tokens};

    fn record(purpose: Purpose, usage: Usage, exit: Option<Exit>) -> SessionRecord {
        let run = SessionRun { usage, ..SessionRun::new(mint_session(), 1, purpose, Time(0)) };
        let ended = exit.map(|exit| Ended::new(exit, Outcome::Completed));
        SessionRecord { run, ended, ended_at: None, progress: false }
    }

    #[test]
    fn a_sum_without_a_session_that_ran_is_a_lower_bound() {
        let reported = Usage { input: Some(5), output: Some(2), cost_micros: None };
        let known = record(Purpose::Work, reported, Some(Exit::Code(0)));
        let ran = |exit| [known.clone(), record(Purpose::Work, Usage::default(), exit)];
        assert_eq!(tokens(Some(7), &ran(Some(Exit::Code(1)))), "at least 7 tokens");
        assert_eq!(tokens(Some(7), &ran(Some(Exit::Unknown))), "at least 7 tokens");
        assert_eq!(tokens(Some(7), &ran(Some(Exit::NeverStarted))), "7 tokens", "it used nothing");
        assert_eq!(tokens(Some(7), &ran(None)), "7 tokens", "it may still tell");
        let check = record(Purpose::Check, Usage::default(), Some(Exit::Code(0)));
        assert_eq!(tokens(Some(7), &[known.clone(), check]), "7 tokens", "a check uses none");
        assert_eq!(tokens(None, &ran(Some(Exit::Code(1)))), "tokens unknown");
        let one = [known];
        assert_eq!((at_least(Limit::Cost, &one), at_least(Limit::Time, &one)), ("at least ", ""));
    }

    #[test]
    fn one_is_singular() {
        assert_eq!((count(1, "session"), count(0, "session")), ("1 session".to_owned(), "0 sessions".to_owned()));
    }
}
