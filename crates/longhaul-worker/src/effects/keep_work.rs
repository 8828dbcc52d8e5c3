//! Keeping a session's work once none of its processes is left: committed in a worktree of ours, snapshot in a directory of the user's.
//! Called by the attend effect before the end is told, and safe to repeat. It never touches the user's branch, index or files.

use std::time::SystemTime;

use longhaul_core::causes::with_causes;
use longhaul_core::task::{Purpose, Saved, SessionRun, Task};
use longhaul_keeper::fail_point;

use super::Job;
use crate::git::{Committed, LockAnswer, Repository, Worktree};
use crate::home::Home;
use crate::work_place::{self, Found};

/// What became of the work.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The files as they are now; none where there is no git to tell.
    pub(super) tree: Option<String>,
    pub(super) saved: Saved,
}

pub(super) async fn keep(job: &Job, session: &SessionRun) -> Kept {
    let (task, home, session) = (job.task.clone(), job.context.home.clone(), session.clone());
    let kept = tokio::task::spawn_blocking(move || keep_now(&task, &home, &session)).await.unwrap_or_default();
    fail_point::reach("worker.work_kept");
    kept
}

fn keep_now(task: &Task, home: &Home, session: &SessionRun) -> Kept {
    let Some(workspace) = &task.workspace else { return Kept::default() };
    let found = match work_place::find(workspace, home) {
        Ok(found) => found,
        Err(cause) => return Kept { tree: None, saved: Saved::Left(cause.to_string()) },
    };
    let saved = match (&found, session.purpose) {
        (Found::NoGit, _) => return Kept::default(),
        // A check changes nothing that is to be kept; what it changed is told by the tree.
        (_, Purpose::Check) => Saved::Nothing,
        (Found::InPlace(repository), _) => snapshot(repository, task, session),
        (Found::Ours(worktree), _) => commit(worktree, task, session),
    };
    Kept { tree: found.repository().and_then(|repository| tree_of(repository, session.purpose)), saved }
}

/// Before checks: what is judged is what the branch holds, also what a person or an earlier check changed.
pub(super) fn before(found: &Found, task: &Task, purpose: Purpose) {
    if let (Found::Ours(worktree), Purpose::Check) = (found, purpose) {
        let name = &task.submission.name;
        // Where it is left to the agent the tree is judged as it is, and the report says what is not committed.
        worktree.commit_all(&format!("longhaul: {name}, before its checks\n\nTask: {}\n", task.id)).ok();
    }
}

/// The tree a session of this purpose is measured by: checks are judged on tracked files, work also by what is new.
pub(super) fn tree_of(repository: &Repository, purpose: Purpose) -> Option<String> {
    let tree = match purpose {
        Purpose::Check => repository.tree_id(),
        Purpose::Plan | Purpose::Work | Purpose::Fix => repository.tree_id_with_untracked(),
    };
    tree.ok().map(|tree| tree.as_str().to_owned())
}

fn commit(worktree: &Worktree, task: &Task, session: &SessionRun) -> Saved {
    // The tree is proved empty, so whoever made a lock before now is gone.
    match worktree.clear_stale_lock(SystemTime::now()) {
        Ok(LockAnswer::Kept { name, why }) => return Saved::Left(format!("{name}: {why}")),
        Ok(LockAnswer::NoLock | LockAnswer::Removed { .. }) => {}
        Err(error) => return Saved::Left(with_causes(&error)),
    }
    let message = message(task, session);
    match worktree.commit_all(&message) {
        Ok(Committed::Commit(id)) => Saved::Commit(id.as_str().to_owned()),
        Ok(Committed::Nothing) => Saved::Nothing,
        Ok(Committed::LeftToAgent { why }) => Saved::Left(why),
        Err(error) => Saved::Left(with_causes(&error)),
    }
}

fn snapshot(repository: &Repository, task: &Task, session: &SessionRun) -> Saved {
    let now = tree_of(repository, session.purpose);
    if now.is_some() && now == session.tree {
        return Saved::Nothing;
    }
    let name = format!("refs/longhaul/{}/{}", task.id, session.number);
    match repository.snapshot(&name, &message(task, session)) {
        Ok(_) => Saved::Snapshot(name),
        Err(error) => Saved::Left(with_causes(&error)),
    }
}

fn message(task: &Task, session: &SessionRun) -> String {
    let name = &task.submission.name;
    format!("longhaul: {name}, session {} ({})\n\nTask: {}\n", session.number, session.purpose, task.id)
}
