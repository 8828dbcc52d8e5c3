//! What a table needs beside its figures: the date, the commit and the machine they were taken on, and how busy that was.
//! Called by `bench`.

use std::fs;
use std::path::Path;

use super::Arguments;
use super::scene::now;
use crate::repository::Repository;

/// One paragraph about the run.
pub(super) fn about_run(repository: &Repository, arguments: &Arguments, load_before: &str) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = release.split('.').take(2).collect::<Vec<_>>().join(".");
    let (date, commit, load) = (now().rfc3339(), commit(repository), load_average());
    let quick = if arguments.quick { " A quick run: its figures mean little." } else { "" };
    let date = date.split('T').next().unwrap_or_default();
    format!(
        "{date}, commit {commit}, {cores} cores, Linux {kernel}; load average {load_before} before and {load} after.{quick}\n"
    )
}

/// How busy the machine is; a figure taken beside a compiler means little.
pub(super) fn load_average() -> String {
    let averages = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    averages.split(' ').next().unwrap_or_default().to_owned()
}

fn commit(repository: &Repository) -> String {
    let arguments = ["describe", "--always", "--abbrev=12", "--exclude=*", "--dirty= with changes"];
    let output = repository.command(Path::new("git")).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
