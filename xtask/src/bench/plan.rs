//! The table of measures, in the order they run, and what the caller asked for.
//! Called by `main`; builds the release binary first, prints the table to standard output and all else to standard error.

use std::fs;
use std::process::ExitCode;

use super::scene::{BenchError, Scene, print_monotonic_time};
use super::table::{Row, print};
use super::{adoption, commits, keeper, listing, supervision, whole_task};
use crate::repository::Repository;

/// The hidden argument with which this program is the agent that tells when it was executed.
pub(super) const TELL_TIME: &str = "--tell-monotonic-time";

/// How many of a measure's rounds are run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Effort {
    /// All.
    #[default]
    Full,
    /// A tenth, to see that everything works; the figures mean little.
    Quick,
}

impl Effort {
    /// The rounds to run of a measure that has so many.
    pub(super) fn rounds(self, full: usize) -> usize {
        match self {
            Effort::Full => full,
            Effort::Quick => (full / 10).max(3),
        }
    }
}

/// What a missed target means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Targets {
    #[default]
    Reported,
    Required,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Wishes {
    effort: Effort,
    targets: Targets,
    only: Vec<String>,
}

struct Measure {
    name: &'static str,
    run: fn(&Scene, Effort) -> Result<Vec<Row>, BenchError>,
}

const MEASURES: &[Measure] = &[
    Measure { name: "supervision", run: supervision::measure },
    Measure { name: "commits", run: commits::measure },
    Measure { name: "keeper", run: keeper::measure },
    Measure { name: "task", run: whole_task::measure },
    Measure { name: "list", run: listing::measure },
    Measure { name: "adoption", run: adoption::measure },
];

/// Runs the verb.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> ExitCode {
    if arguments == [TELL_TIME] {
        print_monotonic_time();
        return ExitCode::SUCCESS;
    }
    let wishes = match Wishes::read(arguments) {
        Ok(wishes) => wishes,
        Err(problem) => return crate::usage(&problem),
    };
    match measure_all(repository, &wishes) {
        Ok(rows) if wishes.targets == Targets::Required && rows.iter().any(Row::is_missed) => {
            eprintln!("error: a target was missed, see the table");
            ExitCode::FAILURE
        }
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", in_words(&error));
            ExitCode::FAILURE
        }
    }
}

impl Wishes {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut wishes = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--quick" => wishes.effort = Effort::Quick,
                "--gate" => wishes.targets = Targets::Required,
                name if MEASURES.iter().any(|measure| measure.name == name) => wishes.only.push(name.to_owned()),
                other => return Err(format!("`bench` has no option and no measure `{other}`")),
            }
        }
        Ok(wishes)
    }

    fn wants(&self, measure: &Measure) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == measure.name)
    }
}

fn measure_all(repository: &Repository, wishes: &Wishes) -> Result<Vec<Row>, BenchError> {
    let scene = Scene::build(repository)?;
    let before = load();
    let mut rows = Vec::new();
    for measure in MEASURES.iter().filter(|measure| wishes.wants(measure)) {
        eprintln!("measuring: {}", measure.name);
        rows.extend((measure.run)(&scene, wishes.effort)?);
    }
    print(&rows);
    println!("\n{}; load average {before} before and {} after.", machine(), load());
    Ok(rows)
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release: Vec<&str> = release.trim().split('.').take(2).collect();
    format!("{cores} cores, Linux {}", release.join("."))
}

/// What else the machine has to do; a figure taken beside a compiler says little.
fn load() -> String {
    let averages = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    averages.split(' ').next().unwrap_or("unknown").to_owned()
}

fn in_words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        words = format!("{words}: {cause}");
        next = cause.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Effort, MEASURES, Targets, Wishes};

    fn read(arguments: &[&str]) -> Result<Wishes, String> {
        Wishes::read(&arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_and_measures_are_read() {
        assert_eq!(read(&[]), Ok(Wishes::default()));
        let wishes = read(&["--quick", "--gate", "commits"]).expect("all of them exist");
        assert_eq!((wishes.effort, wishes.targets), (Effort::Quick, Targets::Required));
        assert_eq!(MEASURES.iter().filter(|measure| wishes.wants(measure)).count(), 1);
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(read(&["--slow"]).is_err());
        assert!(read(&["commit"]).is_err());
    }

    #[test]
    fn a_quick_run_still_has_a_median() {
        assert_eq!((Effort::Full.rounds(40), Effort::Quick.rounds(40), Effort::Quick.rounds(5)), (40, 4, 3));
    }
}
