//! The table of suites, in the order they run.
//! Called by `test`; each suite is one function here, and a new one is one more line of the table.

use std::process::Command;

use super::tools::{self, Tool};
use super::{Advisories, Outcome, Wishes};
use crate::check;
use crate::repository::Repository;

/// One thing that can pass or fail.
pub(super) struct Suite {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&Repository, &Wishes) -> Outcome,
}

/// The suite that takes filters.
pub(super) const TESTS: Suite = Suite { name: "tests", about: "every test of every crate", run: tests };

/// Every suite.
pub(super) const SUITES: &[Suite] = &[
    Suite { name: "format", about: "cargo fmt --all --check", run: format },
    Suite { name: "clippy", about: "cargo clippy, warnings are errors", run: clippy },
    Suite { name: "check", about: "the rules of the source tree", run: check },
    Suite { name: "deny", about: "bans, licences and sources of dependencies", run: deny },
    Suite { name: "programs", about: "what the tests need of the system", run: programs },
    Suite { name: "doc tests", about: "examples in the documentation", run: doc_tests },
    Suite { name: "agents", about: "the agents and MCP clients that tests run, installed from npm", run: agents },
    TESTS,
];

fn format(repository: &Repository, _: &Wishes) -> Outcome {
    with_tool(repository, Tool::Rustfmt, |_| finish(repository.cargo(&["fmt", "--all", "--check"])))
}

fn check(repository: &Repository, _: &Wishes) -> Outcome {
    match check::passes(repository) {
        Ok(true) => Outcome::Passed,
        Ok(false) => Outcome::Failed("rules are broken, see above".to_owned()),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

fn clippy(repository: &Repository, _: &Wishes) -> Outcome {
    let arguments = ["clippy", "--workspace", "--all-targets", "--features", "xtask/bench", "--", "-D", "warnings"];
    with_tool(repository, Tool::Clippy, |_| finish(repository.cargo(&arguments)))
}

fn deny(repository: &Repository, wishes: &Wishes) -> Outcome {
    with_tool(repository, Tool::CargoDeny, |program| {
        let mut command = repository.command(program);
        command.args(["check", "--hide-inclusion-graph", "bans", "licenses", "sources"]);
        match wishes.advisories {
            Advisories::LookUp => {
                command.arg("advisories");
            }
            Advisories::Leave => println!("advisories are not looked up: that needs the network and `--advisories`"),
        }
        finish(command)
    })
}

fn programs(repository: &Repository, _: &Wishes) -> Outcome {
    let missing = tools::SYSTEM.iter().find_map(|tool| tools::provide(repository, *tool).err());
    missing.map_or(Outcome::Passed, |error| Outcome::Missing(error.to_string()))
}

fn agents(repository: &Repository, _: &Wishes) -> Outcome {
    match crate::agents::provide(repository) {
        Ok(directories) => {
            directories.iter().for_each(|directory| println!("installed in {}", directory.display()));
            Outcome::Passed
        }
        Err(error) => Outcome::Missing(error.to_string()),
    }
}

/// Uses nextest where it is installed: each test gets a process of its own, and the output names the slow ones. A
/// failed test does not hide the others.
fn tests(repository: &Repository, wishes: &Wishes) -> Outcome {
    let mut command = match tools::has_nextest(repository) {
        true => repository.cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]),
        false => repository.cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"]),
    };
    command.arg("--").args(&wishes.filters);
    finish(command)
}

fn doc_tests(repository: &Repository, _: &Wishes) -> Outcome {
    match check::has_documentation_examples(repository) {
        Ok(true) => finish(repository.cargo(&["test", "--workspace", "--doc"])),
        Ok(false) => {
            println!("there are none");
            Outcome::Passed
        }
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

fn with_tool(repository: &Repository, tool: Tool, run: impl FnOnce(&std::path::Path) -> Outcome) -> Outcome {
    match tools::provide(repository, tool) {
        Ok(program) => run(&program),
        Err(error) => Outcome::Missing(error.to_string()),
    }
}

fn finish(mut command: Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(status.to_string()),
        Err(error) => Outcome::Failed(format!("failed to start {}: {error}", command.get_program().to_string_lossy())),
    }
}

#[cfg(test)]
mod tests_of_suites {
    use std::path::Path;

    use super::{Outcome, SUITES, finish};
    use crate::repository::Repository;

    #[test]
    fn a_command_passes_fails_or_does_not_start() {
        let outcome = |program: &str| finish(Repository::here().command(Path::new(program)));
        assert!(matches!(outcome("true"), Outcome::Passed));
        assert!(matches!(outcome("false"), Outcome::Failed(_)));
        assert!(matches!(outcome("/nowhere/such-program"), Outcome::Failed(_)));
    }

    #[test]
    fn suites_have_names_of_their_own() {
        for (index, suite) in SUITES.iter().enumerate() {
            assert!(SUITES[..index].iter().all(|other| other.name != suite.name), "{}", suite.name);
        }
    }
}
