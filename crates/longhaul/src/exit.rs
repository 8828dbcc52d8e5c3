//! The one table of exit codes; docs/reference/exit-codes.md is generated from it.
//! Used by every verb; no other file contains an exit code as a number.

use std::process::ExitCode;

use longhaul_app::ErrorKind;
use longhaul_app::views::Outcome;

/// How `longhaul` ended, from the best to the worst: of several tasks the worst counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Code {
    Done,
    NotVerified,
    Waiting,
    NeedsPerson,
    Stopped,
    Cancelled,
    VerificationFailed,
    TimedOut,
    Conflict,
    Usage,
    NotFound,
    Failure,
    Damaged,
    Interrupted,
    HungUp,
    Terminated,
    /// The code of the agent's own program, for `run-session`.
    Agents(u8),
}

impl From<ErrorKind> for Code {
    fn from(kind: ErrorKind) -> Code {
        match kind {
            ErrorKind::Usage => Code::Usage,
            ErrorKind::NotFound => Code::NotFound,
            ErrorKind::Conflict | ErrorKind::Forbidden => Code::Conflict,
            ErrorKind::NeedsPerson => Code::NeedsPerson,
            ErrorKind::Waiting => Code::Waiting,
            ErrorKind::TimedOut => Code::TimedOut,
            ErrorKind::Interrupted => Code::Interrupted,
            ErrorKind::Damaged => Code::Damaged,
            ErrorKind::Failure => Code::Failure,
        }
    }
}

impl From<Outcome> for Code {
    fn from(outcome: Outcome) -> Code {
        match outcome {
            Outcome::Done => Code::Done,
            Outcome::NotVerified => Code::NotVerified,
            Outcome::Cancelled => Code::Cancelled,
            Outcome::VerificationFailed => Code::VerificationFailed,
            Outcome::Stopped => Code::Stopped,
            Outcome::NeedsPerson => Code::NeedsPerson,
            Outcome::Waiting => Code::Waiting,
            Outcome::Failed | Outcome::Running => Code::Failure,
        }
    }
}

/// Number and meaning of each code.
pub(crate) const TABLE: &[(Code, u8, &str)] = &[
    (Code::Done, 0, "success; a task that was followed is done, verified or without checks"),
    (Code::Failure, 1, "something else failed"),
    (Code::Usage, 2, "the command line or its input is invalid; nothing was changed"),
    (Code::VerificationFailed, 3, "verification failed: the checks still fail after all fixing sessions"),
    (Code::Cancelled, 4, "the task was cancelled"),
    (Code::NeedsPerson, 5, "the task waits for you: paused, held, blocked, or needs you"),
    (Code::Stopped, 6, "a limit of the task is used up; `resume` with a higher one continues it"),
    (Code::NotFound, 7, "there is no such task"),
    (Code::Conflict, 8, "refused: the task's state, a taken name or your permissions"),
    (Code::Damaged, 9, "stored data is damaged, or from a newer or an unreleased version"),
    (Code::NotVerified, 10, "done and the checks passed, but not verified; the output says why"),
    (Code::Waiting, 75, "the task waits and continues automatically; `why` says for what"),
    (Code::TimedOut, 124, "`wait` or `pause` gave up; the task keeps running"),
    (Code::HungUp, 129, "the terminal of `run` closed; the task keeps running"),
    (Code::Interrupted, 130, "interrupted: Ctrl+C paused the task"),
    (Code::Terminated, 143, "`run` was terminated; the task keeps running"),
];

/// The table as the long help shows it.
pub(crate) fn help() -> String {
    let rows = TABLE.iter().map(|(_, number, meaning)| format!("\n  {number:>3}  {meaning}"));
    format!("Exit codes:{}", rows.collect::<String>())
}

impl Code {
    /// The number the shell sees.
    pub(crate) fn number(self) -> u8 {
        if let Code::Agents(number) = self {
            return number;
        }
        TABLE.iter().find(|(code, ..)| *code == self).map_or(1, |(_, number, _)| *number)
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> ExitCode {
        ExitCode::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{Code, TABLE};

    #[test]
    fn the_reference_page_is_fresh() {
        let mut page = String::from(
            "# Exit codes\n\nWritten by a test from `exit.rs` (`UPDATE_DOCS=1 cargo test -p longhaul`).\n\n| code | meaning |\n|---|---|\n",
        );
        for (_, number, meaning) in TABLE {
            writeln!(page, "| {number} | {meaning} |").expect("a string takes all");
        }
        let mut codes: Vec<Code> = TABLE.iter().map(|(code, ..)| *code).collect();
        codes.sort_unstable();
        let order: Vec<String> = codes.iter().map(|code| code.number().to_string()).collect();
        let order = order.join(", ");
        writeln!(
            page,
            "\nA command for several tasks ends with the worst of their codes. From best to worst: {order}."
        )
        .expect("a string takes all");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/exit-codes.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).expect("docs/reference exists");
        }
        assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), page);
    }

    #[test]
    fn numbers_are_distinct() {
        let numbers: std::collections::HashSet<u8> = TABLE.iter().map(|(_, number, _)| *number).collect();
        assert_eq!(numbers.len(), TABLE.len());
    }
}
