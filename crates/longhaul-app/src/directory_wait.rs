//! Who works in a directory that another task waits for, in words. Used by `run`, `run-session`, `wait`, `why` and the lists.
//! Only reads: the store says who goes first, and enforces it when a session starts.

use longhaul_core::ids::TaskId;
use longhaul_core::task::Task;
use longhaul_store::{Holder, Stored};

use crate::app::Call;
use crate::describe::{self, Waiting, next_command};
use crate::error::AppError;

/// A longer line has moved while it was read.
const LONGEST: usize = 1_000;

/// The tasks that go first in a task's directory, the next one first; empty when it may work there now. Behind another tenant's task the
/// line is not known.
pub async fn line_before(call: &Call, task: TaskId) -> Result<Vec<Holder>, AppError> {
    let mut line = Vec::new();
    let mut last = task;
    while let Some(before) = call.store()?.directory_holder(last).await?
        && line.len() < LONGEST
    {
        line.push(before);
        let Holder::Task(next) = before else { break };
        last = next;
    }
    Ok(line)
}

/// The task at the head of such a line.
pub struct DirectoryWait {
    /// None if the caller may not see it.
    first: Option<Stored>,
}

impl DirectoryWait {
    /// What a task waits for before it may work in its directory; none when it may.
    pub async fn of(call: &Call, task: TaskId) -> Result<Option<DirectoryWait>, AppError> {
        match line_before(call, task).await?.last() {
            Some(first) => DirectoryWait::behind(call, *first).await.map(Some),
            None => Ok(None),
        }
    }

    /// Who would be in the way of a new task in this directory.
    pub async fn in_directory(call: &Call, directory: &str) -> Result<Option<DirectoryWait>, AppError> {
        match call.store()?.works_in(directory).await? {
            Some(holder) => DirectoryWait::behind(call, holder).await.map(Some),
            None => Ok(None),
        }
    }

    async fn behind(call: &Call, holder: Holder) -> Result<DirectoryWait, AppError> {
        let first = match holder {
            Holder::Task(task) => call.load(task).await?,
            Holder::Foreign => None,
        };
        Ok(DirectoryWait { first })
    }

    /// The task and its state.
    pub fn who(&self) -> String {
        let named = |task: &Task| format!("task {} ({})", task.submission.name, describe::state(task));
        self.first.as_ref().map_or_else(|| "another task".to_owned(), |stored| named(&stored.task))
    }

    /// For lists.
    pub fn waiting(&self) -> Waiting {
        let name = self.first.as_ref().map(|stored| format!("task {}", stored.task.submission.name));
        let name = name.unwrap_or_else(|| "another task".to_owned());
        Waiting { why: format!("directory in use by {name}"), until: None, agent: None }
    }

    /// What lets the waiting task start.
    pub fn next(&self) -> String {
        let name = self.first.as_ref().map(|stored| format!("task {}", stored.task.submission.name));
        let name = name.unwrap_or_else(|| "that task".to_owned());
        self.help().unwrap_or_else(|| format!("it starts automatically once {name} no longer needs the directory"))
    }

    /// What a person can do about the task that is in the way, if it waits for one.
    pub fn help(&self) -> Option<String> {
        let stored = self.first.as_ref().filter(|stored| stored.task.state.waits_for_person())?;
        let (name, next) = (&stored.task.submission.name, next_command(stored));
        Some(format!("{} waits for you: {next}; or cancel it with `longhaul cancel {name}`", self.who()))
    }
}
