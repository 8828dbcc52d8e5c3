//! A task's workspace as the git wrapper knows it: made once, found again before and after each session.
//! Called by effects on threads that may block. A worktree that a person changed is never repaired over their head.

use std::path::Path;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Cause, Place, Task, Workspace};

use longhaul_app::{Home, copy_ignored_files, unfit};
use longhaul_git::{Git, GitError, Repository, Whose, Worktree, task_branch};
use longhaul_keeper::Environment;

/// A workspace found again.
#[derive(Debug)]
pub(crate) enum OpenedWorkspace {
    /// There is no git in it, or none was there when it was chosen.
    NoGit,
    /// The user's own checkout.
    InPlace(Repository),
    /// A worktree of ours.
    Ours(Worktree),
}

impl OpenedWorkspace {
    /// The repository as seen from the workspace, if there is one.
    pub(crate) fn repository(&self) -> Option<&Repository> {
        match self {
            OpenedWorkspace::NoGit => None,
            OpenedWorkspace::InPlace(repository) => Some(repository),
            OpenedWorkspace::Ours(worktree) => Some(worktree.repository()),
        }
    }
}

/// Chooses or makes the workspace of a task that has none yet. Safe to repeat.
pub(crate) fn make(task: &Task, home: &Home, environment: &Environment) -> Result<Workspace, Cause> {
    match &task.submission.place {
        Place::InPlace => in_place(task, home, environment),
        Place::Worktree { base } => worktree(task, home, base, environment),
    }
}

/// A git that is missing or refuses is no reason not to work in place; it is then as if there were none.
fn in_place(task: &Task, home: &Home, environment: &Environment) -> Result<Workspace, Cause> {
    let submission = &task.submission;
    let found = Git::open(&home.git()).and_then(|git| git.find(Path::new(&submission.project)));
    let repository = answer(found)?.flatten();
    let base = repository.as_ref().map(|repository| answer(repository.head_commit())).transpose()?;
    let base = base.flatten().flatten();
    if let Some(repository) = &repository {
        // Now, while nothing but the user's own work is in it.
        repository.clone().with_rules_in(task.id, Whose::Users, environment).map_err(|error| unfit(&error))?;
    }
    Ok(Workspace {
        root: submission.project.clone(),
        cwd: submission.workspace.clone(),
        branch: None,
        base: base.map(|base| base.as_str().to_owned()),
        git: repository.map(|repository| repository.place()).transpose().map_err(|error| unfit(&error))?,
    })
}

fn worktree(task: &Task, home: &Home, base: &str, environment: &Environment) -> Result<Workspace, Cause> {
    let submission = &task.submission;
    let project = Path::new(&submission.project);
    let git = Git::open(&home.git()).map_err(|error| unfit(&error))?;
    let repository = git.find(project).map_err(|error| unfit(&error))?;
    let repository =
        repository.ok_or_else(|| Cause::Workspace { why: format!("{}: not a git repository", project.display()) })?;
    let base = base.parse().map_err(|error| unfit(&error))?;
    let branch = task_branch(submission.name.as_ref());
    let made = repository.create_worktree(&home.worktree(task.id), &branch, &base, environment);
    let made = made.map_err(|error| unfit(&error))?;
    copy_ignored_files(submission, home, environment, made.repository()).map_err(|error| unfit(&error))?;
    let made = made.with_rules_in(task.id, environment).map_err(|error| unfit(&error))?;
    let record = made.record().map_err(|error| unfit(&error))?;
    let below = Path::new(&submission.workspace).strip_prefix(repository.top_level()).unwrap_or(Path::new(""));
    // A directory that the commit does not have does not exist in the worktree; the root does.
    let inside = Some(made.path().join(below)).filter(|path| path != made.path() && path.is_dir());
    Ok(match inside.as_deref().and_then(Path::to_str) {
        Some(inside) => Workspace { cwd: inside.to_owned(), ..record },
        None => record,
    })
}

/// Finds the workspace of a task again and makes sure that it is the same.
pub(crate) fn find(task: TaskId, workspace: &Workspace, home: &Home) -> Result<OpenedWorkspace, Cause> {
    let Some(place) = &workspace.git else { return Ok(OpenedWorkspace::NoGit) };
    let git = Git::open(&home.git()).map_err(|error| unfit(&error))?;
    if workspace.is_worktree() {
        let worktree = Worktree::open(&git, workspace).map_err(|error| unfit(&error))?;
        return worktree.with_rules_of(task).map(OpenedWorkspace::Ours).map_err(|error| unfit(&error));
    }
    match git.find_recorded(Path::new(&workspace.root), place) {
        Ok(repository) => {
            let repository = repository.with_rules_of(task, Whose::Users).map_err(|error| unfit(&error))?;
            Ok(OpenedWorkspace::InPlace(repository))
        }
        // The user's own checkout is the user's: another repository in it is a fact, not damage.
        Err(GitError::Swapped { .. }) => Ok(OpenedWorkspace::NoGit),
        Err(error) => Err(unfit(&error)),
    }
}

/// Git's answer, or none where it refused. A git that could not run has not refused.
pub(crate) fn answer<T>(result: Result<T, GitError>) -> Result<Option<T>, Cause> {
    match result {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_transient() => Err(unfit(&error)),
        Err(_) => Ok(None),
    }
}
