//! Chooses the task of a `run-session`: the named one, one named after the description, or the most recent one.
//! Creates nothing; the submission claims a generated name.

use jiff::Zoned;
use longhaul_core::names::{self, BadName, TaskName};

use super::directory::Directories;
use crate::cli::RunSession;
use crate::out;
use longhaul_app::{AppError, ErrorKind};

/// The name of the task.
#[derive(Debug, Clone)]
pub(super) struct Name {
    name: TaskName,
    /// The generated name of a new task, before a number was added. Only such a name may change.
    base: Option<String>,
}

impl Name {
    pub(super) fn as_str(&self) -> &str {
        self.name.as_str()
    }

    pub(super) fn name(&self) -> &TaskName {
        &self.name
    }

    /// Prints a generated name.
    pub(super) fn announce(&self) {
        if let Some(base) = &self.base {
            if *base != self.name.as_str() {
                out::note(&format!("Task `{base}` already exists; this one is `{}`.", self.name));
            }
            out::data(&format!("Generated task name: {}", self.name));
        }
    }

    /// The next free name, if this one was taken in the meantime; none if the person chose it.
    pub(super) fn next(&self, directories: &Directories) -> Option<Name> {
        let base = self.base.as_ref()?;
        let mut later = names::candidates(base.clone()).skip_while(|name| name != self.name.as_str()).skip(1);
        later.find_map(|name| free(&name, directories)).map(|name| Name { name, base: self.base.clone() })
    }
}

pub(super) fn choose(args: &RunSession, directories: &Directories) -> Result<Name, AppError> {
    if let Some(name) = &args.task_name {
        return Ok(Name { name: TaskName::new(name).map_err(|bad| refused(&bad))?, base: None });
    }
    match &args.description {
        Some(description) if description.trim().is_empty() => {
            Err(AppError::new(ErrorKind::Usage, "the description is empty"))
        }
        Some(description) => generated(args, description, directories),
        None if args.continues() => most_recent(directories),
        None => Err(AppError::new(ErrorKind::Usage, "nothing to do: give a description or --continue")
            .hint("`longhaul run-session --help` shows examples")),
    }
}

fn generated(args: &RunSession, description: &str, directories: &Directories) -> Result<Name, AppError> {
    let base = names::slug(description).unwrap_or_else(|| {
        out::note("Non-alphanumeric description detected; the task is named by date and time.");
        names::fallback(Zoned::now().datetime())
    });
    if args.continues() {
        return Ok(Name { name: TaskName::new(&base).map_err(|bad| refused(&bad))?, base: None });
    }
    let name = names::candidates(base.clone()).find_map(|name| free(&name, directories));
    let name = name.ok_or_else(|| AppError::new(ErrorKind::Failure, "all names for this description are taken"))?;
    Ok(Name { name, base: Some(base) })
}

fn free(name: &str, directories: &Directories) -> Option<TaskName> {
    let taken = directories.task(name).exists();
    if taken { None } else { TaskName::new(name).ok() }
}

fn most_recent(directories: &Directories) -> Result<Name, AppError> {
    let Some(name) = directories.most_recent() else {
        return Err(AppError::new(ErrorKind::NotFound, "there is no task to continue in this project")
            .hint("start one: longhaul run-session \"the goal\""));
    };
    out::data(&format!("Continuing most recent task: {name}"));
    Ok(Name { name, base: None })
}

/// The shell runner's messages, with the full rule as a hint.
fn refused(bad: &BadName) -> AppError {
    let what = match bad {
        BadName::Empty => "Task name cannot be empty".to_owned(),
        BadName::LeadingHyphen { .. } => "Task name cannot start with a hyphen".to_owned(),
        BadName::LeadingDot { .. } => "Task name cannot start with a dot".to_owned(),
        BadName::Path { part, .. } => format!("Task name cannot contain `{part}`"),
        BadName::Character { .. } | BadName::TooLong { .. } => format!("Invalid task name: {bad}"),
    };
    AppError::new(ErrorKind::Usage, what).hint(names::RULE)
}
