//! The finished tasks that are not to be kept, oldest first, and those that must be although they are old.
//! Asked by `gc`. What a damaged row needs is unknown, so damage is an error and there are no candidates.

use std::collections::{HashMap, HashSet};

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_store::{Damaged, Filter, StoreError, Stored, TaskSummary, Which};

use super::retention::{Excess, Size, excess};
use crate::app::Call;
use crate::config::RetentionSettings;
use crate::error::AppError;
use crate::session::on_disk::OnDisk;

/// A finished task that is not to be kept.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) outline: TaskSummary,
    pub(super) excess: Excess,
    /// Its session directories, as far as their specs show.
    pub(super) sessions: Vec<SessionId>,
    /// What they and its history take.
    pub(super) bytes: u64,
    /// The tasks that are parts of it; they must go first.
    pub(super) children: Vec<(TaskId, String)>,
}

/// Finished tasks beyond what is to be kept, oldest first, but children before their parents.
pub(super) async fn candidates(
    call: &Call,
    retention: &RetentionSettings,
    on_disk: &OnDisk,
) -> Result<Vec<Candidate>, AppError> {
    let filter = Filter { which: Which::Finished, ..Filter::default() };
    let listed = call.store()?.summaries(filter).await?;
    sound(&listed.damaged)?;
    let mut finished = listed.tasks;
    // A follow-up goes with the task that it follows.
    let ids: HashSet<TaskId> = finished.iter().map(|outline| outline.task).collect();
    finished.retain(|outline| outline.follows.is_none_or(|task| !ids.contains(&task)));
    finished.sort_by_key(|outline| std::cmp::Reverse((outline.updated, outline.task)));
    let bytes = |outline: &TaskSummary| on_disk.bytes_of(outline.task).saturating_add(outline.history_bytes);
    let sizes: Vec<Size> =
        finished.iter().map(|outline| Size { finished: outline.updated, bytes: bytes(outline) }).collect();
    let judged = excess(retention, call.now(), &sizes);
    let mut children: HashMap<TaskId, Vec<(TaskId, String)>> = HashMap::new();
    for outline in &finished {
        if let Some(parent) = outline.parent {
            children.entry(parent).or_default().push((outline.task, outline.name.clone()));
        }
    }
    let parents: HashMap<TaskId, TaskId> =
        finished.iter().filter_map(|outline| Some((outline.task, outline.parent?))).collect();
    let mut found: Vec<Candidate> = Vec::new();
    for ((outline, excess), size) in finished.into_iter().zip(judged).zip(sizes).rev() {
        let Some(excess) = excess else { continue };
        let sessions = on_disk.of(outline.task).map(|session| session.id).collect();
        let children = children.remove(&outline.task).unwrap_or_default();
        found.push(Candidate { outline, excess, sessions, bytes: size.bytes, children });
    }
    found.sort_by_cached_key(|candidate| std::cmp::Reverse(depth(candidate.outline.task, &parents)));
    Ok(found)
}

/// How many finished tasks are above this one.
fn depth(task: TaskId, parents: &HashMap<TaskId, TaskId>) -> usize {
    // A damaged store could close a ring.
    std::iter::successors(Some(task), |below| parents.get(below).copied()).take(parents.len() + 1).count()
}

/// The tasks that unfinished ones need, each with the reason.
#[derive(Debug, Default)]
pub(super) struct Needs {
    unfinished: HashSet<TaskId>,
    needed: HashMap<TaskId, String>,
}

impl Needs {
    /// Why an unfinished task needs this one, if one does. A task may have been submitted since the last question, so each one
    /// looks which there are now; what a known one needs does not change.
    pub(super) async fn why(&mut self, call: &Call, task: TaskId) -> Result<Option<String>, AppError> {
        let filter = Filter { which: Which::Unfinished, ..Filter::default() };
        let now = call.store()?.summaries(filter.clone()).await?;
        sound(&now.damaged)?;
        if now.tasks.iter().any(|outline| !self.unfinished.contains(&outline.task)) {
            let listed = call.store()?.list(filter).await?;
            sound(&listed.damaged)?;
            self.learn(&listed.tasks);
        }
        Ok(self.needed.get(&task).cloned())
    }

    fn learn(&mut self, tasks: &[Stored]) {
        self.needed.clear();
        for stored in tasks {
            let submission = &stored.task.submission;
            let name = &submission.name;
            self.needed.extend(submission.after.map(|task| (task, format!("task `{name}` waits for it"))));
            let followed = submission.follow_up.as_ref();
            let followed = followed.map(|followed| (followed.task, format!("task `{name}` is at work on it")));
            self.needed.extend(followed);
            // What it starts from may be kept by the old task's references alone.
            let reopened = submission.reopens.map(|task| (task, format!("task `{name}` continues its work")));
            self.needed.extend(reopened);
            let parent = submission.parent.map(|task| (task, format!("its child task `{name}` is not finished")));
            self.needed.extend(parent);
        }
        self.unfinished = tasks.iter().map(|stored| stored.task.id).collect();
    }
}

fn sound(damaged: &[Damaged]) -> Result<(), AppError> {
    match damaged.first() {
        Some(row) => {
            let error = StoreError::Damaged { what: format!("{}: {}", row.row, row.what) };
            Err(AppError::from(error).hint("nothing was removed; `longhaul store check` lists all damage"))
        }
        None => Ok(()),
    }
}
