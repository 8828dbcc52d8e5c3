//! Where a new task works: in its own worktree wherever git allows it, else in place, with warnings about that.
//! Called by `run` and `retry` before the submission; it makes nothing in the project.

use std::path::Path;

use crate::Home;
use longhaul_core::task::Place;
use longhaul_git::{Git, GitError, Repository, Uncommitted};

use crate::error::{AppError, ErrorKind};
use crate::text;

/// How many uncommitted files are named.
const NAMED: usize = 3;

/// The place, and what a person should know about it.
pub(crate) fn choose(project: &Path, home: &Home) -> Result<(Place, Vec<String>), AppError> {
    let git = match Git::open(&home.git()) {
        Err(GitError::NoProgram) => return Ok(in_place("git is not installed")),
        answer => answer.map_err(|error| refused(&error))?,
    };
    let Some(repository) = git.find(project).map_err(|error| refused(&error))? else {
        return Ok(in_place("this is not a git repository"));
    };
    let Some(base) = repository.head_commit().map_err(|error| refused(&error))? else {
        return Ok(in_place("the repository has no commit yet"));
    };
    Ok((Place::Worktree { base: base.as_str().to_owned() }, uncommitted(&repository)?))
}

fn in_place(why: &str) -> (Place, Vec<String>) {
    (Place::InPlace, vec![format!("{why}: the agent works in place, in this directory")])
}

fn uncommitted(repository: &Repository) -> Result<Vec<String>, AppError> {
    let uncommitted = repository.uncommitted().map_err(|error| refused(&error))?;
    if uncommitted.is_empty() {
        return Ok(Vec::new());
    }
    let Uncommitted { files, total } = &uncommitted;
    let named: Vec<String> = files.iter().take(NAMED).map(|path| text::safe(path)).collect();
    let more = if *total > named.len() { ", ..." } else { "" };
    Ok(vec![
        format!("the agent will not see {total} uncommitted file(s): {}{more}", named.join(", ")),
        "commit them first or use --in-place if the agent needs them".to_owned(),
    ])
}

fn refused(error: &GitError) -> AppError {
    AppError::new(ErrorKind::Usage, "git refuses this repository")
        .because(error)
        .hint("fix that, or use --in-place to work in the directory itself")
}
