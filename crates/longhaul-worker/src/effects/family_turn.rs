//! Before a session of a task with children or a parent: do the limits of its family leave it one?
//! Called by the prepare effect. Members of a family start sessions one after the other, so that none spends what another one is about
//! to use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Family, Phase, Reached, Task};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::clock::now;
use crate::worker::Context;

/// How long to wait before a store that cannot answer now is asked again.
const TRY_AGAIN: Duration = Duration::from_millis(250);

/// One lock for each family, held by the one member that is about to start a session. Families do not wait for each other.
#[derive(Default)]
pub(crate) struct FamilyTurns {
    by_top: Mutex<HashMap<TaskId, Weak<AsyncMutex<()>>>>,
}

impl FamilyTurns {
    async fn lock(&self, top: TaskId) -> OwnedMutexGuard<()> {
        self.of(top).lock_owned().await
    }

    fn of(&self, top: TaskId) -> Arc<AsyncMutex<()>> {
        let mut locks = self.by_top.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(&top).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(top, Arc::downgrade(&lock));
        lock
    }
}

/// A member's turn, for as long as this lives.
pub(super) struct FamilyTurn {
    _alone: Option<OwnedMutexGuard<()>>,
    /// The limit that the family has used up.
    pub(super) reached: Option<Reached>,
}

/// Waits for the task's turn in its family, if it has one. Checks of the result count for no limit.
pub(super) async fn wait(context: &Context, task: &Task) -> FamilyTurn {
    let top = if task.phase() == Phase::Verify { None } else { top(&family(context, task).await) };
    let Some(top) = top else { return FamilyTurn { _alone: None, reached: None } };
    let alone = context.family_turns.lock(top).await;
    let members = family(context, task).await;
    FamilyTurn { _alone: Some(alone), reached: Family::new(&members, now()).limit_reached(task.id) }
}

/// The member that is nobody's child here; none without a family.
fn top(members: &[Task]) -> Option<TaskId> {
    let is_member = |id: TaskId| members.iter().any(|member| member.id == id);
    members.iter().find(|member| !member.submission.parent.is_some_and(is_member)).map(|member| member.id)
}

async fn family(context: &Context, task: &Task) -> Vec<Task> {
    loop {
        match context.store.family(task.id).await {
            Ok(members) => return members,
            Err(error) if error.passes() => tokio::time::sleep(TRY_AGAIN).await,
            // The commit fails in the same way, and the hub leaves.
            Err(_) => return Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::mint_task;

    #[tokio::test]
    async fn members_of_one_family_take_turns_and_other_families_do_not_wait() {
        let (turns, one, other) = (FamilyTurns::default(), mint_task(), mint_task());
        let held = turns.lock(one).await;
        assert!(turns.of(one).try_lock().is_err());
        assert!(turns.of(other).try_lock().is_ok());
        drop(held);
        assert!(turns.of(one).try_lock().is_ok());
        assert_eq!(turns.by_top.lock().unwrap().len(), 1, "families without a turn are forgotten");
    }
}
