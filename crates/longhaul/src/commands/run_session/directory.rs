//! Reads `.autonomous/` of a project as the shell runner left it: its tasks, their progress, and which one is the most recent.
//! Used by `run-session` before it creates anything. Never writes; only directories count as tasks.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_core::names::{STATE_DIR, TaskName};
use longhaul_core::plan::{self, Plan};

const LIST_CAP: u64 = 4 << 20;

/// Files that the shell runner keeps beside the list.
const LEFT_BY_RUNS: &[&str] = &["progress.md", "session.id", "session.log"];

/// All tasks of a project.
pub(super) struct Directories {
    root: PathBuf,
}

/// One task's directory.
pub(super) struct Directory {
    path: PathBuf,
}

/// The state of a task's directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DirectoryState {
    /// It does not exist.
    Missing,
    /// It exists without a list.
    NoList {
        /// A file that an earlier run left in it.
        left: Option<&'static str>,
    },
    /// It has a valid list.
    Plan(Plan),
    /// Something is wrong with it, and a person has to fix it.
    Invalid(String),
}

impl Directories {
    pub(super) fn of(project: &Path) -> Directories {
        Directories { root: project.join(STATE_DIR) }
    }

    pub(super) fn task(&self, name: &str) -> Directory {
        Directory { path: self.root.join(name) }
    }

    /// Every task, sorted by name. Hidden entries and plain files are no tasks.
    pub(super) fn all(&self) -> Vec<(String, Directory)> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut all: Vec<(String, Directory)> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .map(|name| (name.clone(), self.task(&name)))
            .collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    /// The most recently active task; in a tie the first by name.
    pub(super) fn most_recent(&self) -> Option<TaskName> {
        let mut newest: Option<(SystemTime, TaskName)> = None;
        for (name, directory) in self.all() {
            let (Some(at), Ok(name)) = (directory.active_at(), TaskName::new(&name)) else { continue };
            if newest.as_ref().is_none_or(|(latest, _)| at > *latest) {
                newest = Some((at, name));
            }
        }
        newest.map(|(_, name)| name)
    }
}

impl Directory {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn exists(&self) -> bool {
        self.path.symlink_metadata().is_ok()
    }

    pub(super) fn inspect(&self) -> DirectoryState {
        if !self.exists() {
            return DirectoryState::Missing;
        }
        if self.path.join("task_list.md").symlink_metadata().is_err() {
            let left = LEFT_BY_RUNS.iter().copied().find(|name| self.path.join(name).symlink_metadata().is_ok());
            return DirectoryState::NoList { left };
        }
        if !self.path.join("progress.md").is_file() {
            return DirectoryState::Invalid(format!("{} is missing", self.path.join("progress.md").display()));
        }
        match self.list() {
            Ok(plan) => DirectoryState::Plan(plan),
            Err(why) => DirectoryState::Invalid(format!("invalid task_list.md in {}: {why}", self.path.display())),
        }
    }

    /// The parsed list, or why it is invalid.
    pub(super) fn list(&self) -> Result<Plan, String> {
        let path = self.path.join("task_list.md");
        if path.metadata().is_ok_and(|meta| meta.len() > LIST_CAP) {
            return Err("it is larger than 4 MiB".to_owned());
        }
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        plan::parse(&text).map_err(|bad| bad.to_string())
    }

    /// The text of the list, if it is readable.
    pub(super) fn text(&self) -> Option<String> {
        fs::read_to_string(self.path.join("task_list.md")).ok()
    }

    pub(super) fn has_list(&self) -> bool {
        self.path.join("task_list.md").is_file()
    }

    /// The saved conversation id, as written in the file.
    pub(super) fn saved(&self) -> Option<String> {
        let text = fs::read_to_string(self.path.join("session.id")).ok()?;
        Some(text.trim().to_owned()).filter(|id| !id.is_empty())
    }

    /// When a file of a task with a list last changed.
    fn active_at(&self) -> Option<SystemTime> {
        if !self.has_list() {
            return None;
        }
        let files = ["session.log", "progress.md", "task_list.md", "session.id"].map(|name| self.path.join(name));
        let times = files.iter().chain([&self.path]).filter_map(|path| path.metadata().ok()?.modified().ok());
        times.max()
    }
}

#[cfg(test)]
mod tests;
