//! The table of measures, in the order they run.
//! Called by `main`; builds the release binary first, prints the table to standard output and all else to standard error.
//! One measure that fails does not take the figures of the others with it, but fails the run.

use std::process::ExitCode;

use longhaul_core::causes::with_causes;

use super::machine::{about_run, load_average};
use super::scene::{BenchError, Scene};
use super::table::{Row, table};
use super::wishes::{Asked, Destination, Effort, Gates, Wishes, help};
use super::{
    adoption, commits, flood, keeper, listing, page, pueue, pump, redactor, scale, submissions, supervision, survey,
    tiny_agents, whole_task,
};
use crate::repository::Repository;

/// One thing to measure.
pub(super) struct Measure {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) expense: Expense,
    run: fn(&Scene, Effort) -> Result<Vec<Row>, BenchError>,
}

/// Whether a measure is taken without being asked for.
pub(super) enum Expense {
    Usual,
    /// Only with its flag or by its name.
    High {
        flag: &'static str,
        why: &'static str,
    },
}

impl Expense {
    /// The flag that asks for the measure.
    pub(super) fn flag(&self) -> Option<&'static str> {
        match self {
            Expense::Usual => None,
            Expense::High { flag, .. } => Some(flag),
        }
    }
}

/// All of them.
pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "supervision",
        about: "a session of a no-op agent, beside bare spawns and atomic replaces (gate)",
        expense: Expense::Usual,
        run: supervision::measure,
    },
    Measure {
        name: "commits",
        about: "durable commits of one task and of 64, beside plain SQLite (gates)",
        expense: Expense::Usual,
        run: commits::measure,
    },
    Measure {
        name: "keeper",
        about: "time to the agent's exec beside a direct spawn; private memory",
        expense: Expense::Usual,
        run: keeper::measure,
    },
    Measure {
        name: "pump",
        about: "output through a keeper with redaction, beside `cat > file`",
        expense: Expense::Usual,
        run: pump::measure,
    },
    Measure {
        name: "redactor",
        about: "the redactor by itself, beside one table lookup for each byte (gates)",
        expense: Expense::Usual,
        run: redactor::measure,
    },
    Measure {
        name: "task",
        about: "a session of a whole task, beside a shell loop with the same agent",
        expense: Expense::Usual,
        run: whole_task::measure,
    },
    Measure {
        name: "list",
        about: "`longhaul list` with 10,000 tasks, beside one with 10 and `longhaul --version`",
        expense: Expense::Usual,
        run: listing::measure,
    },
    Measure {
        name: "submissions",
        about: "submitting after 10,000 tasks, beside submitting into an empty home",
        expense: Expense::Usual,
        run: submissions::measure,
    },
    Measure {
        name: "adoption",
        about: "adopting 100 live sessions of a killed worker, beside spawning 100 processes",
        expense: Expense::Usual,
        run: adoption::measure,
    },
    Measure {
        name: "scale",
        about: "one worker with 60 runs and 2 slots, with 2,000 queued tasks, with 500 live sessions (gates)",
        expense: Expense::High { flag: "--scale", why: "2,560 submissions take minutes" },
        run: scale::measure,
    },
    Measure {
        name: "survey",
        about: "naming the tree of 100,000 files, beside `git add -A` and `git write-tree` (gate)",
        expense: Expense::Usual,
        run: survey::measure,
    },
    Measure {
        name: "flood",
        about: "10 GB through one keeper beside a quiet neighbour",
        expense: Expense::High { flag: "--flood", why: "10 GB take minutes" },
        run: flood::measure,
    },
    Measure {
        name: "pueue",
        about: "20 small tasks from the first command to the last end, beside pueue",
        expense: Expense::High { flag: "--pueue", why: "pueue is built from crates.io, which takes minutes" },
        run: pueue::measure,
    },
];

/// Runs the verb.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> ExitCode {
    if let Some(code) = tiny_agents::play(arguments) {
        return code;
    }
    let wishes = match Wishes::read(arguments, MEASURES) {
        Ok(Asked::Measure(wishes)) => wishes,
        Ok(Asked::Help) => {
            print!("{}", help(MEASURES));
            return ExitCode::SUCCESS;
        }
        Err(problem) => return crate::usage(&problem),
    };
    match measure_all(repository, &wishes) {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Bad { why }) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {}", with_causes(&error));
            ExitCode::FAILURE
        }
    }
}

enum Verdict {
    Fine,
    Bad { why: &'static str },
}

fn measure_all(repository: &Repository, wishes: &Wishes) -> Result<Verdict, BenchError> {
    let scene = Scene::build(repository)?;
    let load_before = load_average();
    let (mut rows, mut failures) = (Vec::new(), 0);
    for measure in MEASURES.iter().filter(|measure| wishes.wants(measure)) {
        match take(measure, &scene, wishes) {
            Ok(taken) => rows.extend(taken),
            Err(error) => {
                failures += 1;
                let why = with_causes(&error);
                eprintln!("failed: {}: {why}", measure.name);
                rows.push(Row::not_measured(measure.about, format!("it failed: {why}")));
            }
        }
    }
    let about = about_run(repository, wishes.effort, &load_before);
    print!("{}\n{about}", table(&rows));
    if wishes.result == Destination::Page {
        page::write(repository.root(), &format!("{}\n{about}", table(&rows)))?;
    }
    Ok(match () {
        () if failures > 0 => Verdict::Bad { why: "a measure failed, see above" },
        () if wishes.gates == Gates::Required && rows.iter().any(Row::misses_gate) => {
            Verdict::Bad { why: "a gate was missed, see the table" }
        }
        () => Verdict::Fine,
    })
}

fn take(measure: &Measure, scene: &Scene, wishes: &Wishes) -> Result<Vec<Row>, BenchError> {
    if let Some(why) = wishes.why_not(measure) {
        return Ok(vec![Row::not_measured(measure.about, why)]);
    }
    eprintln!("measuring: {}", measure.name);
    (measure.run)(scene, wishes.effort)
}
