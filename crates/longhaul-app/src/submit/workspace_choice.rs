//! Where a new task works: in its own worktree wherever git allows it, else in place, with warnings about that.
//! Called by `run` and `retry` before the submission; it makes nothing in the project.

use std::path::Path;

use longhaul_core::task::{Destination, Place, Right};
use longhaul_git::{Git, GitError, Repository, Uncommitted};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use crate::intake::blocking_here;
use crate::text;

/// How many uncommitted files are named.
const NAMED: usize = 3;

/// The place, and what a person should know about it. Without the right to approve, an agent gets a person's own files only where the
/// configuration says so.
pub(crate) fn choose(call: &Call, project: &Path) -> Result<(Place, Vec<String>), AppError> {
    match blocking_here(|| worktree(project, call.home()))? {
        Ok(worktree) => Ok(worktree),
        Err(why) if call.caller.rights.include(Right::Approve) => {
            Ok((Place::InPlace, vec![format!("{why}: the agent works in place, in this directory")]))
        }
        Err(why) => {
            let what = format!("working in place needs the right `approve`, and {why}");
            Err(AppError::new(ErrorKind::Forbidden, what)
                .hint("ask a person to run `longhaul run`, or to make a git repository with a commit here"))
        }
    }
}

/// The task's own worktree, or why git cannot make one.
fn worktree(project: &Path, home: &Home) -> Result<Result<(Place, Vec<String>), &'static str>, AppError> {
    let git = match Git::open(&home.git()) {
        Err(GitError::NoProgram) => return Ok(Err("git is not installed")),
        answer => answer.map_err(|error| refused(&error))?,
    };
    let Some(repository) = git.find(project).map_err(|error| refused(&error))? else {
        return Ok(Err("this is not a git repository"));
    };
    let Some(base) = repository.head_commit().map_err(|error| refused(&error))? else {
        return Ok(Err("the repository has no commit yet"));
    };
    Ok(Ok((Place::Worktree { base: base.as_str().to_owned() }, uncommitted(&repository)?)))
}

/// Where the work is to land, and whose commit that will be. A git that refuses leaves it unknown.
pub(crate) fn destination(call: &Call, project: &Path) -> Destination {
    let environment = &call.app.system.environment;
    let found = || Git::open(&call.home().git()).ok()?.find(project).ok()??.destination(environment).ok();
    blocking_here(found).unwrap_or_default()
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
