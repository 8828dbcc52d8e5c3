//! Which tasks wait for a free slot or for their directory: one look at the store, then an answer for each task. Used by `why`, `list`,
//! `show` and whoever follows a task.
//! Only reads. A task that is preparing and has no turn waits, whatever its worker does.

use longhaul_core::ids::TaskId;
use longhaul_core::task::State;
use longhaul_store::{Stored, TaskSummary, Turns};

use crate::app::Call;
use crate::describe::Waiting;
use crate::directory_wait::DirectoryWait;
use crate::error::AppError;

/// What one task waits for, if it waits for a slot or for its directory.
pub(crate) async fn wait_of(call: &Call, stored: &Stored) -> Result<Option<Waiting>, AppError> {
    if is_in_line(stored) { Slots::now(call).await?.wait(call, stored.task.id).await } else { Ok(None) }
}

/// Whether a task is about to start a session and has an owner who asks for its turn.
pub(crate) fn is_in_line(stored: &Stored) -> bool {
    let Stored { task, owner, .. } = stored;
    matches!(task.state, State::Preparing) && task.submission.driver.conduct().takes_turns && owner.is_some()
}

/// The slots of a home.
pub(crate) struct Slots {
    turns: Turns,
    cap: u32,
}

impl Slots {
    /// The slots as they are now.
    pub(crate) async fn now(call: &Call) -> Result<Slots, AppError> {
        let cap = call.home().session_cap();
        Ok(Slots { turns: call.store()?.turns(cap, &[]).await?, cap })
    }

    /// The same for a line of a list.
    pub(crate) async fn wait_in_list(&self, call: &Call, outline: &TaskSummary) -> Result<Option<Waiting>, AppError> {
        let in_line = outline.state == State::PREPARING && outline.driver.conduct().takes_turns;
        if in_line && outline.owner.is_some() { self.wait(call, outline.task).await } else { Ok(None) }
    }

    /// Whether every slot is taken.
    pub(crate) fn are_taken(&self) -> bool {
        self.turns.in_use >= self.cap
    }

    async fn wait(&self, call: &Call, task: TaskId) -> Result<Option<Waiting>, AppError> {
        if self.turns.next.iter().any(|turn| turn.task == task) {
            return Ok(None);
        }
        if let Some(directory) = DirectoryWait::of(call, task).await? {
            return Ok(Some(directory.waiting()));
        }
        // A slot that is about to be taken by another task is as good as used.
        let used = self.turns.in_use.max(self.cap);
        let why = format!("free slot ({used} of {} in use)", self.cap);
        Ok(Some(Waiting { why, until: None, agent: None }))
    }
}
