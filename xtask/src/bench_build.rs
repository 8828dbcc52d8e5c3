//! `cargo xtask bench` of a build without the crates to measure: builds this tool again with them and runs that.
//! Stands in for `bench.rs`, so that `test` and `check` start even when one of those crates does not compile.

use std::process::ExitCode;

use crate::repository::{Outcome, Repository};

/// Runs the verb as a release build with the feature `bench`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Outcome<ExitCode> {
    let again = ["run", "--release", "--quiet", "--package", "xtask", "--features", "bench", "--", "bench"];
    let status = repository.cargo(&again).args(arguments).status();
    let status = status.map_err(|error| format!("failed to start cargo: {error}"))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
