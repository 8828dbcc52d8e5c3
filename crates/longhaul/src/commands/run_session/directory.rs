//! `.autonomous/` of a project as the existing shell runner left it: which tasks there are, how far, and which was worked on last.
//! Read by `run-session` before anything is made. Never writes, and takes nothing but directories for a task.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_core::names::{STATE_DIR, TaskName};
use longhaul_core::plan::{self, Plan};

const LIST_CAP: u64 = 4 << 20;

/// What the existing runner keeps beside the list.
const LEFT_BY_RUNS: &[&str] = &["progress.md", "session.id", "session.log"];

/// All tasks of a project.
pub(super) struct Directories {
    root: PathBuf,
}

/// One task's directory.
pub(super) struct Directory {
    path: PathBuf,
}

/// What a task's directory says about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is not there.
    Nothing,
    /// It is there without a list; whether an earlier run left something in it.
    NoList {
        /// What, if anything.
        left: Option<&'static str>,
    },
    /// Its list can be worked on.
    Plan(Plan),
    /// Something is wrong with it, and a person has to mend it.
    Unfit(String),
}

impl Directories {
    pub(super) fn of(project: &Path) -> Directories {
        Directories { root: project.join(STATE_DIR) }
    }

    pub(super) fn task(&self, name: &str) -> Directory {
        Directory { path: self.root.join(name) }
    }

    /// Every task, by name. Hidden ones and plain files are none.
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

    /// The task with the newest activity; of equals the first by name.
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

    pub(super) fn look(&self) -> Found {
        if !self.exists() {
            return Found::Nothing;
        }
        if self.path.join("task_list.md").symlink_metadata().is_err() {
            let left = LEFT_BY_RUNS.iter().copied().find(|name| self.path.join(name).symlink_metadata().is_ok());
            return Found::NoList { left };
        }
        if !self.path.join("progress.md").is_file() {
            return Found::Unfit(format!("{} is missing", self.path.join("progress.md").display()));
        }
        match self.list() {
            Ok(plan) => Found::Plan(plan),
            Err(why) => Found::Unfit(format!("invalid task_list.md in {}: {why}", self.path.display())),
        }
    }

    /// The list, or why it is none.
    pub(super) fn list(&self) -> Result<Plan, String> {
        let path = self.path.join("task_list.md");
        if path.metadata().is_ok_and(|meta| meta.len() > LIST_CAP) {
            return Err("it is larger than 4 MiB".to_owned());
        }
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        plan::parse(&text).map_err(|bad| bad.to_string())
    }

    /// The list as it is written, where it can be read.
    pub(super) fn text(&self) -> Option<String> {
        fs::read_to_string(self.path.join("task_list.md")).ok()
    }

    pub(super) fn has_list(&self) -> bool {
        self.path.join("task_list.md").is_file()
    }

    /// The saved conversation, as it stands there.
    pub(super) fn saved(&self) -> Option<String> {
        let text = fs::read_to_string(self.path.join("session.id")).ok()?;
        Some(text.trim().to_owned()).filter(|id| !id.is_empty())
    }

    /// When anything of a task with a list was changed last.
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
