//! What is said of a run beside its figures: when, of which commit, on what machine, and how busy that was.
//! Called by `plan`. It reads only what the system tells everybody.

use std::fs;
use std::path::Path;

use super::scene::now;
use super::wishes::Effort;
use crate::repository::Repository;

/// One paragraph about the run.
pub(super) fn about_run(repository: &Repository, effort: Effort, load_before: &str) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let stamp = now().rfc3339();
    let date = stamp.split('T').next().unwrap_or("unknown").to_owned();
    let effort = match effort {
        Effort::Full => "",
        Effort::Quick => " A quick run, with a tenth of the rounds: its figures mean little.",
    };
    format!(
        "{date}, commit {}, {cores} cores, Linux {}; load average {load_before} before and {} after.{effort}\n",
        commit(repository),
        kernel(),
        load_average(),
    )
}

/// What else the machine has to do; a figure taken beside a compiler says little.
pub(super) fn load_average() -> String {
    let averages = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    averages.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned()
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let numbers: Vec<&str> = release.trim().split('.').take(2).collect();
    if release.is_empty() { "unknown".to_owned() } else { numbers.join(".") }
}

/// The commit that was measured, and whether something beside it was.
fn commit(repository: &Repository) -> String {
    let git = |arguments: &[&str]| {
        let output = repository.command(Path::new("git")).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(id) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".to_owned() };
    // The page itself changes with every written run.
    match git(&["status", "--porcelain", "--", ".", ":(exclude)docs/benchmarks.md"]) {
        Some(changes) if changes.is_empty() => id,
        _ => format!("{id} with changes"),
    }
}
