//! What a finished task left in a repository: its worktree, removed by git through the wrapper and only if every commit and every file
//! of it is also elsewhere, or the private snapshots of its work in place. Called by `removal` and `orphans`.
//! In the user's own checkout no file is ever removed, the task directory there included.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::Home;
use longhaul_core::ids::TaskId;
use longhaul_core::task::{GitPlace, Place, Task, Workspace};
use longhaul_git::{Git, GitError, Removal, Repository, Worktree, WorktreeError};

use super::Mode;

/// What became of a worktree, or would become of it.
#[derive(Debug)]
pub(super) enum Fate {
    /// It is gone, was gone, or never was.
    Gone,
    /// It stays, because work would be lost or it is not as we made it.
    Kept { why: String },
    /// It stays because something failed.
    Failed { why: String },
}

/// Removes what a task left in a repository.
pub(super) fn remove(home: &Home, task: &Task, mode: Mode) -> Fate {
    let fate = match (&task.workspace, &task.submission.place) {
        // Whatever a follow-up did, it did to the worktree of the task that it follows.
        _ if task.submission.follow_up.is_some() => Fate::Gone,
        (Some(workspace), _) if workspace.is_worktree() => remove_recorded(home, task, workspace, mode),
        (Some(workspace), _) => remove_snapshots(home, task, workspace, mode),
        // Given up before the place was stored; it may have been made all the same.
        (None, Place::Worktree { base }) => remove_unrecorded(home, &home.worktree(task.id), Some(base), mode),
        (None, Place::InPlace) => Fate::Gone,
    };
    match (&fate, mode, Git::open(&home.git())) {
        // A file that stays costs some bytes, nothing else.
        (Fate::Gone, Mode::Really, Ok(git)) => drop(git.forget_rules(task.id)),
        (Fate::Gone | Fate::Kept { .. } | Fate::Failed { .. }, Mode::Really | Mode::DryRun, _) => {}
    }
    fate
}

fn remove_recorded(home: &Home, task: &Task, workspace: &Workspace, mode: Mode) -> Fate {
    let path = Path::new(&workspace.root);
    if path.symlink_metadata().is_err() {
        return remove_final_state(home, task, workspace, mode);
    }
    let opened = Git::open(&home.git()).map_err(WorktreeError::from).and_then(|git| Worktree::open(&git, workspace));
    match opened.and_then(|worktree| Ok(worktree.with_rules_of(task.id)?)) {
        // A landing that was cancelled left it on its own branch.
        Ok(worktree) if mode == Mode::Really && worktree.give_back(task.id).is_err() => {
            kept(path, &"a landing used it, and it cannot be put back on its branch")
        }
        Ok(worktree) => match worktree.only_copy(expected(task, workspace).iter().map(PathBuf::as_path)) {
            Ok(None) => settle(&worktree, Some(task.id), mode),
            Ok(Some(file)) => kept(path, &format!("the expected file `{}` is not in any commit", file.display())),
            Err(error) => Fate::Failed { why: error.to_string() },
        },
        Err(WorktreeError::Git { source: error }) => Fate::Failed { why: error.to_string() },
        Err(error) => kept(path, &error),
    }
}

/// The expected files, relative to the worktree.
fn expected(task: &Task, workspace: &Workspace) -> Vec<PathBuf> {
    let below = Path::new(&workspace.cwd).strip_prefix(&workspace.root).unwrap_or(Path::new(""));
    task.submission.expects.iter().map(|path| below.join(path)).collect()
}

/// Removes a worktree that no task has stored; without a base only if all of it is in other branches.
pub(super) fn remove_unrecorded(home: &Home, path: &Path, base: Option<&str>, mode: Mode) -> Fate {
    if path.symlink_metadata().is_err() {
        return Fate::Gone;
    }
    let base = match base.map(str::parse).transpose() {
        Ok(base) => base,
        Err(error) => return kept(path, &error),
    };
    let git = Git::open(&home.git()).map_err(WorktreeError::from);
    match git.and_then(|git| Worktree::adopt(&git, path, base.as_ref())) {
        Ok(worktree) => settle(&worktree, None, mode),
        // A repository that is gone or broken cannot say what is in it; that is no failure of ours.
        Err(WorktreeError::Git { source: error @ (GitError::NoProgram | GitError::Start { .. }) }) => {
            Fate::Failed { why: error.to_string() }
        }
        Err(WorktreeError::Git { source }) => kept(path, &source),
        Err(error) => kept(path, &error),
    }
}

/// What a follow-up kept of a task is as good as another branch.
fn settle(worktree: &Worktree, task: Option<TaskId>, mode: Mode) -> Fate {
    let answer = match mode {
        Mode::DryRun => worktree.removable(task),
        Mode::Really => worktree.remove(task),
    };
    match answer {
        Ok(Removal::Removed) => Fate::Gone,
        Ok(Removal::Kept { why }) => kept(worktree.path(), &why),
        Err(error) => Fate::Failed { why: error.to_string() },
    }
}

/// What was kept of a worktree that was put away.
fn remove_final_state(home: &Home, task: &Task, workspace: &Workspace, mode: Mode) -> Fate {
    let project = Path::new(&task.submission.project);
    let is_known = |place: &GitPlace| Path::new(&place.common).is_dir() && project.is_dir();
    let Some(place) = workspace.git.as_ref().filter(|place| mode == Mode::Really && is_known(place)) else {
        return Fate::Gone;
    };
    let found = Git::open(&home.git()).and_then(|git| git.find(project));
    let is_same = |repository: &Repository| repository.common_dir() == Path::new(&place.common);
    match found.map(|found| found.filter(is_same)) {
        Ok(None) => Fate::Gone,
        Ok(Some(repository)) => match repository.remove_snapshots(task.id) {
            Ok(_) => Fate::Gone,
            Err(error) => Fate::Failed { why: format!("what is kept of its work: {error}") },
        },
        Err(error) => Fate::Failed { why: format!("what is kept of its work: {error}") },
    }
}

/// A repository that is gone, or another one now, holds no snapshot of this task.
fn remove_snapshots(home: &Home, task: &Task, workspace: &Workspace, mode: Mode) -> Fate {
    let Some(place) = workspace.git.as_ref().filter(|place| Path::new(&place.common).is_dir()) else {
        return Fate::Gone;
    };
    if mode == Mode::DryRun || !Path::new(&workspace.root).is_dir() {
        return Fate::Gone;
    }
    let found = Git::open(&home.git()).and_then(|git| git.find_recorded(Path::new(&workspace.root), place));
    match found.and_then(|repository| repository.remove_snapshots(task.id)) {
        Ok(_) | Err(GitError::Swapped { .. }) => Fate::Gone,
        Err(error) => Fate::Failed { why: format!("its snapshots in `{}`: {error}", workspace.root) },
    }
}

fn kept(path: &Path, why: &dyn Display) -> Fate {
    Fate::Kept { why: format!("worktree `{}`: {why}", path.display()) }
}
