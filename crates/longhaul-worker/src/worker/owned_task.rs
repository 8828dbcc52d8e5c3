//! One task of this worker: its lease, and its hub while it has something to do. In line it has none, and costs a few words of memory.
//! Kept by `task_loops`.

use longhaul_core::ids::LeaseId;

use super::Context;
use crate::dispatcher::{Hub, InLine, Waker};

/// A task of this worker.
pub(super) struct OwnedTask {
    pub(super) lease: LeaseId,
    /// The latest version that its hub was woken for.
    announced: u64,
    stage: Stage,
}

enum Stage {
    /// Its hub runs.
    Running(Waker),
    /// It waits for its turn.
    InLine(InLine),
}

impl OwnedTask {
    /// A task with a hub that knows this version.
    pub(super) fn running(lease: LeaseId, version: u64, waker: Waker) -> OwnedTask {
        OwnedTask { lease, announced: version, stage: Stage::Running(waker) }
    }

    pub(super) fn has_hub(&self) -> bool {
        matches!(self.stage, Stage::Running(_))
    }

    /// Makes its hub load it, if it has one.
    pub(super) fn wake_hub(&self) {
        if let Stage::Running(waker) = &self.stage {
            waker.wake();
        }
    }

    /// Wakes the hub for this version. True if it has no hub, and the task has changed since it got in line.
    pub(super) fn needs_hub_for(&mut self, version: Option<u64>) -> bool {
        self.announced = self.announced.max(version.unwrap_or(u64::MAX));
        match &self.stage {
            Stage::Running(waker) => {
                version.map_or_else(|| waker.wake(), |version| waker.wake_for(version));
                false
            }
            Stage::InLine(line) => self.announced > line.version,
        }
    }

    /// Its hub has ended, because it is in line. True if it changed before its hub could see that.
    pub(super) fn is_changed_in(&mut self, line: InLine) -> bool {
        let has_changed = self.announced > line.version;
        self.stage = Stage::InLine(line);
        has_changed
    }

    /// The hub of this task after it was in line, under this lease.
    pub(super) fn continued_by(self, hub: Hub, lease: LeaseId, context: &Context) -> Hub {
        if self.lease != lease {
            context.environments.forget(self.lease);
        }
        match self.stage {
            Stage::InLine(line) => hub.after(line),
            Stage::Running(_) => hub,
        }
    }
}
