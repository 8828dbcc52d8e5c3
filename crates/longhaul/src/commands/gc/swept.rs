//! What a sweep did, for people and as JSON.
//! Filled by `gc` and its parts; it only tells.

use longhaul_core::units;
use serde::Serialize;

use super::Mode;
use crate::out;

/// Everything a sweep did and did not do.
#[derive(Debug, Serialize)]
pub(super) struct Swept {
    dry_run: bool,
    removed: Vec<Removed>,
    /// Finished tasks that were to go and stay.
    pub(super) kept: Vec<Kept>,
    orphans: Vec<Orphan>,
    /// What lies in the home and is not ours, or cannot be deleted.
    pub(super) left: Vec<Left>,
    /// How many things could not be done although they should.
    pub(super) failed: u32,
    freed_bytes: u64,
}

/// A task that is gone.
#[derive(Debug, Serialize)]
pub(super) struct Removed {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) why: String,
    pub(super) sessions: usize,
    pub(super) bytes: u64,
}

/// A task that stays.
#[derive(Debug, Serialize)]
pub(super) struct Kept {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) why: String,
}

/// Something of ours that no task knew.
#[derive(Debug, Serialize)]
pub(super) struct Orphan {
    pub(super) name: String,
    pub(super) what: &'static str,
    pub(super) bytes: u64,
}

/// Something that was left alone.
#[derive(Debug, Serialize)]
pub(super) struct Left {
    pub(super) name: String,
    pub(super) why: String,
}

impl Swept {
    pub(super) fn new(mode: Mode) -> Swept {
        Swept {
            dry_run: mode == Mode::DryRun,
            removed: Vec::new(),
            kept: Vec::new(),
            orphans: Vec::new(),
            left: Vec::new(),
            failed: 0,
            freed_bytes: 0,
        }
    }

    pub(super) fn removed(&mut self, removed: Removed) {
        self.freed_bytes += removed.bytes;
        self.removed.push(removed);
    }

    pub(super) fn orphan(&mut self, orphan: Orphan) {
        self.freed_bytes += orphan.bytes;
        self.orphans.push(orphan);
    }

    pub(super) fn print(&self) {
        let verb = if self.dry_run { "would go" } else { "removed" };
        let line = |word: &str, name: &str, text: &str| out::data(&out::safe(&format!("{word:8}  {name}  {text}")));
        for task in &self.removed {
            let text = format!("{} session(s), {}: {}", task.sessions, units::bytes(task.bytes), task.why);
            line(verb, &task.name, &text);
        }
        for orphan in &self.orphans {
            line(verb, &orphan.name, &format!("{}: {}", units::bytes(orphan.bytes), orphan.what));
        }
        for kept in &self.kept {
            line("kept", &kept.name, &kept.why);
        }
        for left in &self.left {
            line("left", &left.name, &left.why);
        }
        let freed = units::bytes(self.freed_bytes);
        let (tasks, orphans) = (self.removed.len(), self.orphans.len());
        match (self.dry_run, tasks + orphans) {
            (_, 0) => out::note("nothing to sweep"),
            (true, _) => out::note(&format!("{freed} would be freed: {tasks} task(s), {orphans} leftover(s)")),
            (false, _) => out::note(&format!("{freed} freed: {tasks} task(s), {orphans} leftover(s)")),
        }
    }
}
