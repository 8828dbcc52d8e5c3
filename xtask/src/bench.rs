//! `cargo xtask bench`: measures what supervision costs, each figure beside a reference in the same run, as one Markdown table.
//! Called by `main`. The table goes to standard output, everything else to standard error.
//! A measure that fails leaves the figures of the others alone, but fails the run.

mod adoption;
mod agent_text;
mod commits;
mod compare;
mod crowd;
mod machine;
mod many_tasks;
mod pump;
mod redaction;
mod redactor;
mod runs;
mod sample_task;
mod scale;
mod scene;
mod scratch;
mod session;
mod survey;
mod table;
mod whole_task;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use longhaul_core::causes::with_causes;

use crate::repository::{Outcome, Repository};
use scene::Scene;
use table::{Row, table};

/// Measure what supervision costs, each figure beside a reference
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// Run a tenth of the rounds, to see that everything works
    #[arg(long)]
    quick: bool,
    /// Exit with code 1 if a gate is missed
    #[arg(long)]
    gate: bool,
    /// Also take `scale` and `redaction`, which need many minutes
    #[arg(long, conflicts_with = "measures")]
    all: bool,
    /// Where to put scratch files: a directory on the disk to measure, in no git repository
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// `list`, `submissions` and `runs`: how many tasks the large home has
    #[arg(long, value_name = "COUNT", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(11..))]
    tasks: u32,
    /// `redaction`: the seed of the made-up secrets
    #[arg(long, default_value_t = 12)]
    seed: u64,
    /// `redaction`: a source tree to count false hits in; repeatable
    #[arg(long, value_name = "DIR")]
    sources: Vec<PathBuf>,
    #[arg(long, hide = true)]
    print_time: bool,
    /// What to measure; by default all but `scale` and `redaction`
    #[arg(value_enum, value_name = "MEASURE")]
    measures: Vec<Measure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// A session of a no-op agent beside bare spawns and atomic replaces (gate); the time to the agent's exec
    Session,
    /// Durable commits of one task and of 64 beside plain SQLite (gates)
    Commits,
    /// Output through a keeper with redaction beside `cat > file`
    Pump,
    /// The redactor alone beside one table lookup for each byte (gates)
    Redactor,
    /// A session of a whole task beside a shell loop with the same agent (gate in git)
    Task,
    /// `longhaul list` with 10,000 tasks, or `--tasks`, beside one with 10 and `longhaul --version` (gates)
    List,
    /// Submitting after 10,000 tasks, or `--tasks`, beside submitting after 10 (gate)
    Submissions,
    /// A run over HTTP among 10,000, or `--tasks`, beside a bare axum handler (gates)
    Runs,
    /// Adopting 100 live sessions of a killed worker beside spawning 100 processes
    Adoption,
    /// Naming the tree of 100,000 files beside `git add -A` and `git write-tree` (gate)
    Survey,
    /// One worker with 60 runs and 2 slots, with 2,000 queued tasks, with 500 live sessions (gates)
    Scale,
    /// Made-up secrets in every format, context and dialect; false hits in the trees of `--sources` (gates)
    Redaction,
}

impl Measure {
    fn takes_long(self) -> bool {
        matches!(self, Measure::Scale | Measure::Redaction)
    }

    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    fn run(self, scene: &Scene) -> Outcome<Vec<Row>> {
        match self {
            Measure::Session => session::measure(scene),
            Measure::Commits => commits::measure(scene),
            Measure::Pump => pump::measure(scene),
            Measure::Redactor => redactor::measure(scene),
            Measure::Task => whole_task::measure(scene),
            Measure::List => many_tasks::measure_list(scene),
            Measure::Submissions => many_tasks::measure_submissions(scene),
            Measure::Runs => runs::measure(scene),
            Measure::Adoption => adoption::measure(scene),
            Measure::Survey => survey::measure(scene),
            Measure::Scale => scale::measure(scene),
            Measure::Redaction => redaction::measure(scene),
        }
    }
}

impl Arguments {
    fn chosen(&self) -> Vec<Measure> {
        let usual = || Measure::value_variants().iter().copied().filter(|measure| self.all || !measure.takes_long());
        if self.measures.is_empty() { usual().collect() } else { self.measures.clone() }
    }
}

/// Runs the verb.
pub(crate) fn run(repository: &Repository, words: &[String]) -> Outcome<ExitCode> {
    let words = ["cargo xtask bench"].into_iter().chain(words.iter().map(String::as_str));
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(problem) => {
            problem.print().ok();
            return Ok(ExitCode::from(u8::try_from(problem.exit_code()).unwrap_or(1)));
        }
    };
    if arguments.print_time {
        println!("{:.4}", compare::monotonic_milliseconds());
        return Ok(ExitCode::SUCCESS);
    }
    let problems = measure_all(repository, arguments).map_err(|error| with_causes(&*error))?;
    if problems.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(problems.join(", ").into()) }
}

/// Takes the chosen measures and returns what makes the run a failure.
fn measure_all(repository: &Repository, arguments: Arguments) -> Outcome<Vec<String>> {
    let scene = Scene::build(repository, arguments)?;
    let load_before = machine::load_average();
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for measure in scene.arguments.chosen() {
        eprintln!("measuring: {}", measure.name());
        match measure.run(&scene) {
            Ok(taken) => rows.extend(taken),
            Err(error) => {
                problems.push(format!("`{}` failed: {}", measure.name(), with_causes(&*error)));
                rows.push(Row::not_measured(measure.name(), "it failed"));
            }
        }
    }
    print!("{}\n{}", table(&rows), machine::about_run(repository, &scene.arguments, &load_before));
    if scene.arguments.gate && rows.iter().any(Row::misses_gate) {
        problems.push("a gate was missed, see the table".to_owned());
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Arguments, Measure};

    fn read(words: &[&str]) -> Option<Arguments> {
        Arguments::try_parse_from([&["bench"], words].concat()).ok()
    }

    #[test]
    fn slow_measures_have_to_be_asked_for() {
        let chosen = |words| read(words).map(|arguments| arguments.chosen()).unwrap();
        assert!(!chosen(&[]).contains(&Measure::Scale) && chosen(&[]).contains(&Measure::Survey));
        assert!(chosen(&["--all"]).contains(&Measure::Scale));
        assert_eq!(chosen(&["scale", "list"]), [Measure::Scale, Measure::List]);
    }

    #[test]
    fn unknown_words_are_refused() {
        Arguments::command().debug_assert();
        for words in [&["--slow"][..], &["commit"], &["--all", "commits"]] {
            assert!(read(words).is_none(), "{words:?}");
        }
    }
}
