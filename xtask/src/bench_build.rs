//! `cargo xtask bench` of a build without the crates to measure: builds this tool again with them and runs that.
//! Stands in for `bench.rs`, so that `test` and `check` start even when one of those crates does not compile.

use std::process::ExitCode;

use crate::repository::Repository;

/// Runs the verb as a release build with the feature `bench`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> ExitCode {
    let again = ["run", "--release", "--quiet", "--package", "xtask", "--features", "bench", "--", "bench"];
    match repository.cargo(&again).args(arguments).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: failed to start cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
