//! `cargo xtask check`: the rules of the source tree that no compiler knows.
//! Called by `main` and as one suite of `test`; each rule is a pure function in a file of its own.
//! It never changes a file.

mod arrows;
mod dialect;
mod headers;
mod mask;
mod purity;
mod sizes;
mod source;
mod test_code;
mod words;

use std::fmt;
use std::process::ExitCode;

use crate::repository::{Outcome, Repository};
use source::{Page, SourceFile};

/// One broken rule: what, where, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    rule: &'static str,
    place: String,
    what: String,
    remedy: String,
}

/// What all rules together look at.
struct Evidence {
    files: Vec<SourceFile>,
    pages: Vec<Page>,
    metadata: serde_json::Value,
}

type Rule = fn(&Evidence) -> Vec<Violation>;

/// Every rule. That generated pages are fresh is tested where they are generated.
const RULES: &[Rule] = &[
    |evidence| arrows::violations(&evidence.metadata),
    |evidence| sizes::violations(&evidence.files),
    |evidence| headers::violations(&evidence.files),
    |evidence| purity::violations(&evidence.files),
    |evidence| words::violations(&evidence.files),
    |evidence| dialect::violations(&evidence.files, &evidence.pages),
];

/// Runs the verb: prints what is broken, or one line that nothing is.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Outcome<ExitCode> {
    if let Some(argument) = arguments.first() {
        return Ok(crate::usage(&format!("`check` takes no argument, but got `{argument}`")));
    }
    Ok(if passes(repository)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Asks every rule and prints the answers. Returns whether the tree keeps every one.
pub(crate) fn passes(repository: &Repository) -> Outcome<bool> {
    let evidence = gather(repository)?;
    let violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule(&evidence)).collect();
    for violation in &violations {
        eprintln!("{violation}");
    }
    if violations.is_empty() {
        println!("check: {} files keep the rules", evidence.files.len());
        return Ok(true);
    }
    eprintln!("check: {} broken", violations.len());
    Ok(false)
}

/// Tells whether the documentation of any crate holds a fenced block, which may be an example to run.
pub(crate) fn has_documentation_examples(repository: &Repository) -> Outcome<bool> {
    let files = source::read_all(repository.root())?;
    let is_fence = |line: &str| ["//! ```", "/// ```"].iter().any(|fence| line.trim_start().starts_with(fence));
    Ok(files.iter().any(|file| file.text.lines().any(is_fence)))
}

fn gather(repository: &Repository) -> Outcome<Evidence> {
    let root = repository.root();
    Ok(Evidence {
        files: source::read_all(root)?,
        pages: source::read_pages(root)?,
        metadata: repository.metadata().map_err(|error| format!("failed to learn the crates: {error}"))?,
    })
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, place, what, remedy } = self;
        write!(formatter, "{place}: {what} [{rule}]\n    to do: {remedy}")
    }
}
