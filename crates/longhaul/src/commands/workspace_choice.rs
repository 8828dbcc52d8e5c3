//! Where a new task is to work: a worktree of its own wherever git allows it, else in place, and what a person should know of it.
//! Called by `run` and `retry` before the submission; it makes nothing in the project.

use std::path::Path;

use longhaul_app::Home;
use longhaul_core::task::Place;
use longhaul_git::{Git, GitError, Repository, Uncommitted};

use crate::error::CliError;
use crate::exit::Code;
use crate::out;

/// How many uncommitted files are named.
const NAMED: usize = 3;

/// The place, with the reasons told.
pub(super) fn choose(project: &Path, home: &Home) -> Result<Place, CliError> {
    let git = match Git::open(&home.git()) {
        Err(GitError::NoProgram) => return Ok(in_place("there is no git")),
        answer => answer.map_err(|error| refused(&error))?,
    };
    let Some(repository) = git.find(project).map_err(|error| refused(&error))? else {
        return Ok(in_place("this is no git repository"));
    };
    let Some(base) = repository.head_commit().map_err(|error| refused(&error))? else {
        return Ok(in_place("the repository has no commit yet"));
    };
    tell_uncommitted(&repository)?;
    Ok(Place::Worktree { base: base.as_str().to_owned() })
}

fn in_place(why: &str) -> Place {
    out::note(&format!("{why}: the agent works in place, in this directory itself"));
    Place::InPlace
}

fn tell_uncommitted(repository: &Repository) -> Result<(), CliError> {
    let uncommitted = repository.uncommitted().map_err(|error| refused(&error))?;
    if uncommitted.is_empty() {
        return Ok(());
    }
    let Uncommitted { files, total } = &uncommitted;
    let named: Vec<String> = files.iter().take(NAMED).map(|path| out::safe(path)).collect();
    let more = if *total > named.len() { ", ..." } else { "" };
    out::note(&format!(
        "{total} uncommitted change(s) of yours are not carried over into the task's worktree: {}{more}",
        named.join(", ")
    ));
    out::note("commit them first, or use --in-place, if the agent is to see them");
    Ok(())
}

fn refused(error: &GitError) -> CliError {
    CliError::new(Code::Usage, "git refuses this repository")
        .because(error)
        .hint("mend that, or use --in-place to work in the directory itself")
}
