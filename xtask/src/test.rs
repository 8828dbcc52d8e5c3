//! `cargo xtask test`: everything a change must pass, suite after suite, with the minutes each one took.
//! Called by `main`, so by hand and from `.ci/run`; it ends at the first suite that fails and names it.
//! It never skips a suite in silence, and with `CI=true` it never skips one at all.

mod suites;
mod tools;

use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::repository::{self, Repository};
use suites::{SUITES, Suite, TESTS};

/// What the caller asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wishes {
    advisories: Advisories,
    filters: Vec<String>,
}

/// Whether known vulnerabilities are looked up; the database is fetched from the network.
#[derive(Debug, Default, PartialEq, Eq)]
enum Advisories {
    #[default]
    Leave,
    LookUp,
}

/// How a suite ended.
enum Outcome {
    Passed,
    /// It could not run here; the text says why and what to do.
    Missing(String),
    Failed(String),
}

struct Report {
    suite: &'static str,
    took: Duration,
    result: &'static str,
}

/// Runs the verb.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> repository::Outcome<ExitCode> {
    let wishes = match Wishes::read(arguments) {
        Ok(wishes) => wishes,
        Err(problem) => return Ok(crate::usage(&problem)),
    };
    let suites: &[Suite] = if wishes.filters.is_empty() { SUITES } else { &[TESTS] };
    let mut reports = Vec::new();
    let failure = suites.iter().find_map(|suite| run_suite(repository, &wishes, suite, &mut reports).err());
    print_reports(&reports);
    failure.map_or(Ok(ExitCode::SUCCESS), |failure| Err(failure.into()))
}

impl Wishes {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut wishes = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--advisories" => wishes.advisories = Advisories::LookUp,
                option if option.starts_with('-') => return Err(format!("`test` has no option `{option}`")),
                filter => wishes.filters.push(filter.to_owned()),
            }
        }
        if wishes.advisories == Advisories::LookUp && !wishes.filters.is_empty() {
            return Err("`--advisories` is part of the full run and goes with no filter".to_owned());
        }
        Ok(wishes)
    }
}

fn run_suite(repository: &Repository, wishes: &Wishes, suite: &Suite, reports: &mut Vec<Report>) -> Result<(), String> {
    println!("== {}: {}", suite.name, suite.about);
    let begin = Instant::now();
    let verdict = judge(suite.name, (suite.run)(repository, wishes), must_run_everything());
    let result = match &verdict {
        Ok(result) => result,
        Err(_) => "FAILED",
    };
    reports.push(Report { suite: suite.name, took: begin.elapsed(), result });
    verdict.map(|_| ())
}

/// What a missing thing means depends on who asks: a developer is told, a CI run fails.
enum Strictness {
    Explain,
    Fail,
}

fn must_run_everything() -> Strictness {
    match env::var("CI").as_deref() {
        Ok("true" | "1") => Strictness::Fail,
        _ => Strictness::Explain,
    }
}

fn judge(suite: &str, outcome: Outcome, strictness: Strictness) -> Result<&'static str, String> {
    match (outcome, strictness) {
        (Outcome::Passed, _) => Ok("passed"),
        (Outcome::Failed(why), _) => Err(format!("suite `{suite}` failed: {why}")),
        (Outcome::Missing(why), Strictness::Fail) => Err(format!("suite `{suite}` could not run: {why}")),
        (Outcome::Missing(why), Strictness::Explain) => {
            eprintln!("warning: suite `{suite}` was skipped: {why}");
            Ok("SKIPPED")
        }
    }
}

fn print_reports(reports: &[Report]) {
    println!("\n{:<12} {:>7}  result", "suite", "minutes");
    for Report { suite, took, result } in reports {
        println!("{suite:<12} {:>7.1}  {result}", minutes(*took));
    }
    let whole = reports.iter().map(|report| report.took).sum();
    println!("{:<12} {:>7.1}", "all", minutes(whole));
}

fn minutes(duration: Duration) -> f64 {
    duration.as_secs_f64() / 60.0
}

#[cfg(test)]
mod tests {
    use super::{Advisories, Outcome, Strictness, Wishes, judge};

    fn read(arguments: &[&str]) -> Result<Wishes, String> {
        Wishes::read(&arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn filters_and_the_option_are_read() {
        assert_eq!(read(&[]), Ok(Wishes::default()));
        assert_eq!(read(&["pause", "resume"]).map(|wishes| wishes.filters), Ok(vec!["pause".into(), "resume".into()]));
        assert_eq!(read(&["--advisories"]).map(|wishes| wishes.advisories), Ok(Advisories::LookUp));
    }

    #[test]
    fn unknown_options_and_mixtures_are_refused() {
        assert!(read(&["--advice"]).is_err());
        assert!(read(&["--advisories", "pause"]).is_err());
    }

    #[test]
    fn a_missing_thing_fails_only_where_everything_must_run() {
        let missing = || Outcome::Missing("no tool".to_owned());
        assert_eq!(judge("a", missing(), Strictness::Explain), Ok("SKIPPED"));
        assert!(judge("a", missing(), Strictness::Fail).is_err_and(|text| text.contains("`a`")));
    }

    #[test]
    fn a_failure_fails_everywhere_and_names_the_suite() {
        for strictness in [Strictness::Explain, Strictness::Fail] {
            let verdict = judge("clippy", Outcome::Failed("exit status: 1".to_owned()), strictness);
            assert!(verdict.is_err_and(|text| text.contains("`clippy`")));
        }
    }
}
