//! `run-session --list`: one line per task directory, in the format of the shell runner.
//! Programs should read `longhaul list --json`.

use std::collections::BTreeMap;

use super::directory::{Directories, Directory};
use super::printer::{banner, paint};
use crate::out;

/// Marks from the store by task name, such as `running` or `failed`.
pub(super) type Marks = BTreeMap<String, &'static str>;

/// Characters of a conversation id to show. Ids of codex start with a time in milliseconds; fewer would look alike.
const SHOWN: usize = 13;

/// Prints the list.
pub(super) fn print(directories: &Directories, marks: &Marks) {
    let all = directories.all();
    if all.is_empty() {
        out::note("No tasks found in this project.");
        return;
    }
    banner("AUTONOMOUS TASKS");
    for (name, directory) in &all {
        out::data(&line(name, directory, marks.get(name).copied()));
    }
}

fn line(name: &str, directory: &Directory, mark: Option<&str>) -> String {
    let shown = out::safe(name);
    let mark = mark.map(|mark| format!(" [{mark}]")).unwrap_or_default();
    if !directory.has_list() {
        return format!("{} {shown} (no task_list.md){mark}", paint("31", "?"));
    }
    let plan = directory.list().unwrap_or_default();
    let (done, percent) = (plan.progress(), plan.percent());
    let saved = directory.saved().map(|id| id.chars().take(SHOWN).collect::<String>());
    let session = saved.map(|id| format!(" [session: {}...]", out::safe(&id))).unwrap_or_default();
    if plan.is_complete() {
        format!("{} {shown} ({done} - 100% complete){session}{mark}", paint("32", "✓"))
    } else {
        format!("{} {shown} ({done} - {percent}%){session}{mark}", paint("33", "○"))
    }
}
