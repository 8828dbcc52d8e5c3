//! Where a new task works: in its own worktree wherever git allows it, else in place, with warnings about that.
//! Called by `run` and `retry` before the submission; it makes nothing in the project.

use std::path::Path;

use longhaul_core::task::{Destination, Place, Right};
use longhaul_git::{CommitId, Git, GitError, Repository, Uncommitted};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use crate::intake::blocking_here;
use crate::tag::tag;
use crate::text;

/// How many uncommitted files are named.
const NAMED: usize = 3;

/// The place, and what a person should know about it. Without the right to approve, an agent gets a person's own files only where the
/// configuration says so.
pub(crate) fn choose(call: &Call, project: &Path, base: Option<&str>) -> Result<(Place, Vec<String>), AppError> {
    match blocking_here(|| worktree(project, call.home(), base))? {
        Ok(worktree) => Ok(worktree),
        Err(why) if base.is_some() => {
            let what = format!("{why}, so the task cannot start from a branch");
            Err(AppError::new(ErrorKind::Usage, what).hint("leave out --base"))
        }
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
fn worktree(
    project: &Path,
    home: &Home,
    base: Option<&str>,
) -> Result<Result<(Place, Vec<String>), &'static str>, AppError> {
    let git = match open(home) {
        Err(GitError::NoProgram) => return Ok(Err("git is not installed")),
        answer => answer.map_err(|error| refused(&error))?,
    };
    let Some(repository) = git.find(project).map_err(|error| refused(&error))? else {
        return Ok(Err("this is not a git repository"));
    };
    let Some(head) = repository.head_commit().map_err(|error| refused(&error))? else {
        return Ok(Err("the repository has no commit yet"));
    };
    let commit = match base {
        None => head.clone(),
        Some(branch) => tip(&repository, branch)?,
    };
    let is_head = commit == head;
    let place = Place::Worktree { base: commit.as_str().to_owned() };
    // Nobody expects their uncommitted files on another branch.
    Ok(Ok((place, if is_head { uncommitted(&repository)? } else { Vec::new() })))
}

fn tip(repository: &Repository, branch: &str) -> Result<CommitId, AppError> {
    let failed = |error: GitError| refused(&error);
    let unfit = |why: String| {
        AppError::new(ErrorKind::Usage, format!("cannot start from `{}`: {}", text::safe(branch), text::safe(&why)))
            .hint("name a local branch; for a tag, a commit or a remote branch, make one with `git branch NAME COMMIT`")
    };
    if let Some(why) = repository.why_not_onto(branch).map_err(failed)? {
        return Err(unfit(why));
    }
    let tip = repository.branch_tip_and_tree(branch).map_err(failed)?;
    tip.map(|(commit, _)| commit).ok_or_else(|| unfit(format!("there is no branch `{branch}`")))
}

/// The branch, if work can still start from it and land on it.
pub(crate) fn existing<'a>(call: &Call, project: &Path, branch: Option<&'a str>) -> Option<&'a str> {
    let branch = branch?;
    let refused = || open(call.home()).ok()?.find(project).ok()??.why_not_onto(branch).ok();
    blocking_here(refused)?.is_none().then_some(branch)
}

/// Git with its private directory in the home. Only a preview comes without a home: then the directory is a temporary one.
pub(super) fn open(home: &Home) -> Result<Git, GitError> {
    match home.root().is_dir() {
        true => Git::open(&home.git()),
        false => Git::open_temporary(&std::env::temp_dir().join(format!("longhaul-git-{}", tag::<4>()))),
    }
}

/// Where the work is to land, and whose commit that will be. A git that refuses leaves it unknown.
pub(crate) fn destination(call: &Call, project: &Path, base: Option<&str>) -> Destination {
    let environment = &call.app.system.environment;
    let found = || open(call.home()).ok()?.find(project).ok()??.destination(environment).ok();
    let destination = blocking_here(found).unwrap_or_default();
    Destination { branch: base.map(str::to_owned).or(destination.branch), ..destination }
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
