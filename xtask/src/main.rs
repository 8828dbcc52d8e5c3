//! What a developer runs: `cargo xtask <verb>`.
//! Started by hand through the alias in `.cargo/config.toml`, and by `.ci/run`.
//! It never becomes part of the product, and no product crate depends on it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks to its terminal")]

mod agents;
#[cfg_attr(not(feature = "bench"), path = "bench_build.rs")]
mod bench;
mod check;
mod repository;
mod test;
mod torture;

use std::env;
use std::process::ExitCode;

use repository::{Outcome, Repository};

const USAGE_EXIT_CODE: u8 = 2;

struct Verb {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&Repository, &[String]) -> Outcome<ExitCode>,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "test",
        arguments: "[--advisories] [filter]...",
        about: "everything a change must pass; with filters only the tests whose names contain one of them",
        run: test::run,
    },
    Verb {
        name: "check",
        arguments: "",
        about: "the rules of the source tree: arrows, sizes, headers, purity, names, plain English",
        run: check::run,
    },
    Verb {
        name: "agents",
        arguments: "",
        about: "installs the agent programs that the tests run; part of `test`",
        run: agents::run,
    },
    Verb {
        name: "bench",
        arguments: "[--quick] [--gate] [--all] [measure]...",
        about: "what supervision costs, each figure beside a reference; with --gate a missed gate fails; see --help",
        run: bench::run,
    },
    Verb {
        name: "torture",
        arguments: "[--minutes N] [--seed S] [--as-user]",
        about: "random signals to everything while tasks run, with its own checker; any violation fails",
        run: torture::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else { return usage("a verb is missing") };
    match VERBS.iter().find(|verb| verb.name == name) {
        Some(verb) => (verb.run)(&Repository::here(), rest).unwrap_or_else(|error| {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }),
        None => usage(&format!("there is no verb `{name}`")),
    }
}

/// Says what is wrong with the arguments and what is possible; the exit code is 2.
fn usage(problem: &str) -> ExitCode {
    eprintln!("error: {problem}\n");
    eprintln!("usage:");
    for verb in VERBS {
        let call = format!("cargo xtask {} {}", verb.name, verb.arguments);
        eprintln!("  {}\n      {}", call.trim_end(), verb.about);
    }
    ExitCode::from(USAGE_EXIT_CODE)
}
