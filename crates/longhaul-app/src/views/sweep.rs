//! What `gc` removed, what it kept, and why. After a dry run: what it would remove.
//! Filled by `gc` and its parts.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Page, PageInput};
use crate::operation::View;

/// What a sweep did.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Sweep {
    /// Whether nothing was removed, and `removed` and `orphans` are what would be.
    pub dry_run: bool,
    /// Finished tasks, the oldest first.
    pub removed: Vec<RemovedTask>,
    /// Finished tasks that are due for removal but kept.
    pub kept: Vec<KeptTask>,
    /// Files and directories of Longhaul that belong to no task.
    pub orphans: Vec<Orphan>,
    /// What Longhaul did not create in its home, or cannot delete.
    pub left: Vec<LeftAlone>,
    /// How many tasks were removed.
    pub tasks_total: usize,
    /// How many files and directories of no task were removed.
    pub orphans_total: usize,
    /// How many removals failed.
    pub failed: u32,
    /// The sum of the known sizes.
    pub freed_bytes: u64,
    /// The four lists are one list with a limit, in this order. After a dry run, pass this as `after` for the rest; null at the end, and
    /// after a sweep, which leaves nothing to read again.
    pub next: Option<u64>,
    /// How many tasks the next batch skips, if there is one.
    #[serde(skip)]
    pub next_batch: Option<usize>,
}

/// A task that was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemovedTask {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The reason.
    pub why: String,
    /// How many sessions it had.
    pub sessions: usize,
    /// The size of its session directories and its history.
    pub bytes: u64,
}

/// A task that stays.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeptTask {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The reason.
    pub why: String,
}

/// A file or directory of Longhaul that belongs to no task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Orphan {
    /// Its path in the home.
    pub name: String,
    /// What it is, in words.
    pub what: &'static str,
    /// Null for a worktree or a checkout, whose size is not measured.
    pub bytes: Option<u64>,
}

/// Something that was not touched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeftAlone {
    /// Its path in the home.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl View for Sweep {
    const KIND: &'static str = "gc";
}

impl Sweep {
    pub(crate) fn remove(&mut self, task: RemovedTask) {
        self.freed_bytes += task.bytes;
        self.tasks_total += 1;
        self.removed.push(task);
    }

    pub(crate) fn orphan(&mut self, name: String, what: &'static str, bytes: Option<u64>) {
        self.freed_bytes += bytes.unwrap_or(0);
        self.orphans_total += 1;
        self.orphans.push(Orphan { name, what, bytes });
    }

    pub(crate) fn leave(&mut self, name: String, why: String) {
        self.left.push(LeftAlone { name, why });
    }

    /// Leaves in the lists what one answer has, and tells how much a sweep did beyond that.
    pub(crate) fn cut(&mut self, input: PageInput) -> Option<String> {
        let all = self.lines();
        let mut page = Page::new(input);
        page.cut(&mut self.removed);
        page.cut(&mut self.kept);
        page.cut(&mut self.orphans);
        page.cut(&mut self.left);
        self.next = page.next().filter(|_| self.dry_run);
        let more = all - self.lines();
        (more > 0 && !self.dry_run)
            .then(|| format!("the lists end here; {more} more tasks and leftovers are not listed"))
    }

    fn lines(&self) -> usize {
        self.removed.len() + self.kept.len() + self.orphans.len() + self.left.len()
    }

    /// Leaves something alone because it cannot be removed.
    pub(crate) fn fail(&mut self, name: String, why: String) {
        self.failed += 1;
        self.leave(name, why);
    }
}
