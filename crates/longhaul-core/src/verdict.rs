//! What a round of checks came to: pass, fail with the reason, or a tree that changed under the checks. Called by `decide` only.
//!
//! A pass is an observed exit 0 of a run that ran something; everything else is none. Nothing an agent said counts.

use crate::task::{Evidence, Exit, FileSight, OutputSight, Round, RoundOutcome, StoppedBy};

/// Why a check is no pass; none for a pass.
pub fn failure(exit: &Exit, stopped_by: StoppedBy, output: &OutputSight) -> Option<String> {
    match (exit, stopped_by) {
        (_, StoppedBy::Wall) => Some("it ran longer than it may".into()),
        (Exit::Code(0), _) if output.nothing_run => Some("it passed without running anything".into()),
        (Exit::Code(0), StoppedBy::Itself) => None,
        (Exit::Code(_) | Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown, _) => {
            Some(exit.to_string())
        }
    }
}

/// What a round came to, once every check was run.
pub fn judge(round: &Round) -> RoundOutcome {
    let missing = round.files.iter().filter(|file| file.sha256.is_none()).map(missing);
    let failed = round.evidence.iter().filter_map(failed);
    let problems: Vec<String> = missing.chain(failed).collect();
    if !problems.is_empty() {
        return RoundOutcome::Failed { why: problems.join("; ") };
    }
    let trees = || {
        let checks = round.evidence.iter().flat_map(|check| [&check.tree_before, &check.tree_after]);
        checks.chain(round.evidence.is_empty().then_some(&round.tree))
    };
    let mut known = trees().flatten();
    let first = known.next();
    if known.any(|tree| Some(tree) != first) {
        return RoundOutcome::TreeChanged;
    }
    // A tree that could not be told once is unknown, not changed.
    let tree = first.filter(|_| trees().all(Option::is_some)).cloned();
    RoundOutcome::Passed { tree }
}

fn missing(file: &FileSight) -> String {
    format!("expected file `{}` is missing", file.path)
}

fn failed(check: &Evidence) -> Option<String> {
    check.failure.as_ref().map(|why| format!("`{}`: {why}", check.command))
}

/// Whether a test runner's own summary says that it ran nothing. Only summaries of well-known runners are read; an output without
/// one says nothing, and the exit status decides.
pub fn ran_nothing(output: &str) -> bool {
    let mut counted = false;
    let mut ran = 0;
    for line in output.lines() {
        if let Some(count) = tests_in(line.trim()) {
            counted = true;
            ran += count;
        }
    }
    counted && ran == 0
}

/// How many tests a summary line tells of; none for any other line.
fn tests_in(line: &str) -> Option<u64> {
    if let Some(rest) = line.strip_prefix("test result: ") {
        return Some(before(rest, " passed")? + before(rest, " failed")?);
    }
    if let Some(rest) = line.strip_prefix("Ran ") {
        return rest.split_once(" test").and_then(|(count, _)| count.parse().ok());
    }
    if let Some(rest) = line.strip_prefix("ok  \t") {
        return Some(u64::from(!rest.contains("[no tests to run]")));
    }
    if line.starts_with("?   \t") && line.ends_with("[no test files]") || line == "No tests found, exiting with code 0"
    {
        return Some(0);
    }
    line.strip_suffix(" passing").or_else(|| line.split_once(" passing (").map(|(count, _)| count))?.parse().ok()
}

fn before(text: &str, word: &str) -> Option<u64> {
    let (head, _) = text.split_once(word)?;
    head.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_nothing_are_seen() {
        let cargo = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        let unittest = "----------\nRan 0 tests in 0.000s\n\nOK";
        let go = "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.01s [no tests to run]";
        for output in [cargo, unittest, go, "No tests found, exiting with code 0", "  0 passing (2ms)"] {
            assert!(ran_nothing(output), "{output}");
        }
    }

    #[test]
    fn runs_of_something_and_silence_are_not_nothing() {
        let two = "test result: ok. 0 passed; 0 failed; 0 ignored\ntest result: ok. 3 passed; 0 failed; 0 ignored";
        let unittest = "Ran 1 test in 0.000s";
        let failing = "test result: FAILED. 0 passed; 2 failed; 0 ignored";
        let go = "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.01s";
        for output in ["", "all good", two, unittest, failing, go, "  12 passing (2ms)"] {
            assert!(!ran_nothing(output), "{output}");
        }
    }
}
