//! Keeping work where it cannot be lost: committed in a worktree of ours, in a snapshot in a directory of the user's.
//! Called when a session has ended, before the end is reported, and before a round of checks. Safe to repeat. It never touches the user's
//! branch, index or files.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_core::causes::with_causes;
use longhaul_core::recovery::git_backoff;
use longhaul_core::task::{Basis, Cause, Doubt, FileEffects, Purpose, Saved, SessionRun, Task};
use longhaul_keeper::fail_point;

use super::Job;
use super::prepare_workspace::hash_expected;
use crate::work_place::{self, OpenedWorkspace, answer};
use longhaul_app::{Home, unfit};
use longhaul_git::{CommitId, Committed, GitError, LockAnswer, Repository, Survey, Worktree};

/// What became of the work.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The files as they are now; none where git cannot tell.
    pub(super) tree: Option<String>,
    pub(super) saved: Saved,
    /// What a check did to the files.
    pub(super) files: FileEffects,
}

/// Keeps the work. While git cannot run it is tried again; the session counts as live meanwhile, so nothing is built on a guess.
pub(super) async fn keep(job: &Job, session: &SessionRun) -> Kept {
    let mut failures = 0;
    let kept = loop {
        let (task, home, run) = (job.task.clone(), job.context.home.clone(), session.clone());
        let kept =
            tokio::task::spawn_blocking(move || keep_now(&task, &home, &run)).await.unwrap_or(Ok(Kept::default()));
        let cause = match kept {
            Ok(kept) => break kept,
            Err(cause) => cause,
        };
        failures += 1;
        let Some(pause) = git_backoff(failures, &job.task.submission.patience) else {
            break Kept { saved: Saved::Left(cause.to_string()), ..Kept::default() };
        };
        job.report(&format!("task {}: the work is not saved yet: {cause}; trying again", job.task.id));
        tokio::time::sleep(pause).await;
    };
    fail_point::reach("worker.work_kept");
    kept
}

/// Fails only where git could not run.
fn keep_now(task: &Task, home: &Home, session: &SessionRun) -> Result<Kept, Cause> {
    let Some(workspace) = &task.workspace else { return Ok(Kept::default()) };
    let found = match work_place::find(task.author_of_work(), workspace, home) {
        Ok(found) => found,
        Err(cause @ Cause::Git { .. }) => return Err(cause),
        Err(cause) => return Ok(Kept { saved: Saved::Left(cause.to_string()), ..Kept::default() }),
    };
    if session.purpose == Purpose::Setup {
        // What it changed belongs to the workspace as the first session finds it.
        let tree = found.repository().map_or(Ok(None), content_of)?;
        return Ok(Kept { tree, saved: Saved::Nothing, ..Kept::default() });
    }
    match (&found, session.purpose) {
        (OpenedWorkspace::NoGit, _) => Ok(Kept::default()),
        (OpenedWorkspace::InPlace(repository), Purpose::Check) => after_check(repository, task, session),
        (OpenedWorkspace::Ours(worktree), Purpose::Check) => after_check(worktree.repository(), task, session),
        (OpenedWorkspace::InPlace(repository), _) => snapshot(repository, task, session),
        (OpenedWorkspace::Ours(worktree), _) => commit(worktree, task, session),
    }
}

/// The work stays where it is, unless git merely could not run.
fn left(error: &(dyn std::error::Error + 'static)) -> Result<Saved, Cause> {
    let cause = unfit(error);
    if matches!(cause, Cause::Git { .. }) { Err(cause) } else { Ok(Saved::Left(with_causes(error))) }
}

/// What a check changed is not kept: it is compared with the tree that was checked.
fn after_check(repository: &Repository, task: &Task, session: &SessionRun) -> Result<Kept, Cause> {
    let Some(Ok(tree)) = session.tree.as_ref().map(|tree| tree.parse()) else { return Ok(Kept::default()) };
    let after = match task.checkout() {
        Some(checkout) => repository.after_clean_check(Path::new(&checkout.root), &tree),
        None => repository.after_check(task.author_of_work(), &tree),
    };
    match after {
        Ok(after) => Ok(Kept { tree: Some(after.tree.as_str().to_owned()), saved: Saved::Nothing, files: after.files }),
        Err(error) => Ok(Kept { saved: left(&error)?, ..Kept::default() }),
    }
}

fn commit(worktree: &Worktree, task: &Task, session: &SessionRun) -> Result<Kept, Cause> {
    // The tree is proved empty, so whoever made a lock before now is gone.
    let saved = match worktree.clear_stale_lock(SystemTime::now()) {
        Ok(LockAnswer::Kept { name, why }) => Saved::Left(format!("{name}: {why}")),
        Err(error) => left(&error)?,
        Ok(LockAnswer::NoLock | LockAnswer::Removed { .. }) => match worktree.commit_all(&message(task, session)) {
            Ok(Committed::All { commit, survey }) => {
                let left = || survey.left_to_filter().map_or(Saved::Nothing, Saved::Left);
                let saved = commit.map_or_else(left, |commit| Saved::Commit(commit.as_str().to_owned()));
                return Ok(Kept { tree: Some(content(&survey)), saved, ..Kept::default() });
            }
            Ok(Committed::LeftToAgent { why }) => Saved::Left(why),
            Err(error) => left(&error)?,
        },
    };
    Ok(Kept { tree: content_of(worktree.repository())?, saved, ..Kept::default() })
}

fn snapshot(repository: &Repository, task: &Task, session: &SessionRun) -> Result<Kept, Cause> {
    let tree = content_of(repository)?;
    if tree.is_some() && tree == session.tree {
        return Ok(Kept { tree, saved: Saved::Nothing, ..Kept::default() });
    }
    let name = format!("refs/longhaul/{}/{}", task.id, session.number);
    let saved = match repository.snapshot(&name, &message(task, session)) {
        Ok(_) => Saved::Snapshot(name),
        Err(error) => left(&error)?,
    };
    Ok(Kept { tree, saved, ..Kept::default() })
}

/// Progress is measured by the exact content.
fn content(survey: &Survey) -> String {
    survey.content.as_str().to_owned()
}

fn content_of(repository: &Repository) -> Result<Option<String>, Cause> {
    Ok(answer(repository.survey())?.as_ref().map(content))
}

fn message(task: &Task, session: &SessionRun) -> String {
    let name = &task.submission.name;
    format!("longhaul: {name}, session {} ({})\n\nTask: {}\n", session.number, session.purpose, task.id)
}

/// The files before a session of the agent. On another branch its work would be lost; only a fixing session can be about that.
pub(super) fn before_session(found: &OpenedWorkspace, task: &Task) -> Result<Option<String>, Cause> {
    if let OpenedWorkspace::Ours(worktree) = found
        && !task.needs_fix()
        && let Some(why) = worktree.switched().map_err(|error| unfit(&error))?
    {
        return Err(Cause::Workspace { why: format!("{}: {why}", worktree.path().display()) });
    }
    found.repository().map_or(Ok(None), content_of)
}

/// The tree that a round of checks is about, stored in the branch or in a snapshot, and what is known of it.
pub(super) fn before_checks(found: &OpenedWorkspace, task: &Task) -> Result<(Option<String>, Basis), Cause> {
    let message = format!("longhaul: {}, before its checks\n\nTask: {}\n", task.submission.name, task.id);
    let known = match found {
        OpenedWorkspace::NoGit => {
            let had_git = task.workspace.as_ref().is_some_and(|workspace| workspace.git.is_some());
            let doubts = if had_git { vec![Doubt::GitGone] } else { Vec::new() };
            return Ok((None, Basis { doubts, ..Basis::default() }));
        }
        OpenedWorkspace::Ours(worktree) => match worktree.commit_all(&message) {
            Ok(Committed::All { survey, .. }) => basis(worktree.repository(), task, &survey),
            Ok(Committed::LeftToAgent { why }) => return Ok((None, problem(why))),
            Err(error @ GitError::IndexLocked { .. }) => return Ok((None, problem(with_causes(&error)))),
            Err(error) => Err(error),
        },
        OpenedWorkspace::InPlace(repository) => match repository.snapshot_to_check(task.id, &message) {
            Ok(survey) => basis(repository, task, &survey),
            Err(error) => return Err(unfit(&error)),
        },
    };
    known.map_err(|error| unfit(&error))
}

fn basis(repository: &Repository, task: &Task, survey: &Survey) -> Result<(Option<String>, Basis), GitError> {
    let base = task.workspace.as_ref().and_then(|workspace| workspace.base.as_ref()?.parse::<CommitId>().ok());
    let mut doubts = repository.doubts(survey, base.as_ref())?;
    if task.submission.can_be_verified() && !task.submission.checks_clean() {
        doubts.extend(repository.doubts_in_workspace(survey, &expected(task))?);
    }
    let basis = Basis {
        problem: survey.problem(),
        doubts,
        remarks: repository.remarks(survey, base.as_ref())?,
        ..Basis::default()
    };
    Ok((Some(survey.tree.as_str().to_owned()), basis))
}

/// The expected files that exist, relative to the root of the workspace.
fn expected(task: &Task) -> Vec<PathBuf> {
    let below = Path::new(task.cwd()).strip_prefix(task.root()).unwrap_or(Path::new(""));
    let files = hash_expected(task, task.cwd()).into_iter().filter(|file| file.sha256.is_some());
    files.map(|file| below.join(file.path)).collect()
}

fn problem(why: String) -> Basis {
    Basis { problem: Some(why), ..Basis::default() }
}
