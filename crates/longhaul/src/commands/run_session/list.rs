//! `run-session --list`: one line per task directory, in the words and glyphs of the existing shell runner.
//! Machines read `longhaul list --json`.

use std::collections::BTreeSet;

use super::directory::{Directories, Directory};
use super::voice::{banner, paint};
use crate::out;

/// Prints the list; `running` are the names of tasks that somebody works on.
pub(super) fn print(directories: &Directories, running: &BTreeSet<String>) {
    let all = directories.all();
    if all.is_empty() {
        out::note("No tasks found in this project.");
        return;
    }
    banner("AUTONOMOUS TASKS");
    for (name, directory) in &all {
        out::data(&line(name, directory, running.contains(name)));
    }
}

fn line(name: &str, directory: &Directory, runs: bool) -> String {
    let shown = out::safe(name);
    let runs = if runs { " [running]" } else { "" };
    if !directory.has_list() {
        return format!("{} {shown} (no task_list.md){runs}", paint("31", "?"));
    }
    let plan = directory.list().unwrap_or_default();
    let (done, percent) = (plan.progress(), plan.percent());
    let saved = directory.saved().map(|id| id.chars().take(8).collect::<String>());
    let session = saved.map(|id| format!(" [session: {}...]", out::safe(&id))).unwrap_or_default();
    if plan.is_complete() {
        format!("{} {shown} ({done} - 100% complete){session}{runs}", paint("32", "✓"))
    } else {
        format!("{} {shown} ({done} - {percent}%){session}{runs}", paint("33", "○"))
    }
}
