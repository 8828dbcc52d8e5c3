//! Worktrees whose task is not known any more: a store was put back from a backup, or a sweep was killed at the worst moment.
//! Called by `gc` after the tasks. Only old ones, and only through the git wrapper: what it does not remove is listed and stays.

use std::path::{Path, PathBuf};

use longhaul_core::ids::TaskId;

use super::Mode;
use super::orphans::{DAY, is_older};
use super::worktree::{Fate, remove_unrecorded};
use crate::app::Call;
use crate::views::Sweep;

/// Sweeps the worktrees of no task.
pub(super) async fn sweep(call: &Call, mode: Mode, swept: &mut Sweep) {
    for (task, path) in named_by_a_task(&call.home().worktrees()) {
        if !is_older(&path, DAY) {
            continue;
        }
        let name = format!("worktrees/{task}");
        // Asked one by one and now: a task is stored before its worktree is made.
        let fate = match call.load(task).await {
            Ok(None) => remove_unrecorded(call.home(), &path, None, mode),
            Ok(Some(_)) => continue,
            Err(error) => Fate::Failed { why: error.sentence() },
        };
        match fate {
            Fate::Gone => swept.orphan(name, "worktree without a task", None),
            Fate::Kept { why } => swept.leave(name, why),
            Fate::Failed { why } => swept.fail(name, why),
        }
    }
}

fn named_by_a_task(directory: &Path) -> Vec<(TaskId, PathBuf)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())));
    let mut found: Vec<(TaskId, PathBuf)> = named.collect();
    found.sort();
    found
}
