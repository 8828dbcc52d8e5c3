//! What a worker notices: news of the store, tasks to claim, owners that died and holds that ended. It wakes the tasks that others
//! changed and opens hubs for those it claims.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::State;
use longhaul_store::{Candidate, MovedTask, StoreError};
use tokio::time::Instant;

use super::task_loops::TaskLoops;
use crate::claim::{self, OtherOwners};
use crate::holds;

/// How often owners are checked when nothing rings.
pub(super) const ROUND: Duration = Duration::from_secs(1);
/// How often every task is checked, in case a ring was lost.
const SAFETY_NET: Duration = Duration::from_secs(30);

/// What this worker has checked in its home, and when.
#[derive(Default)]
pub(super) struct Checked {
    /// The store's position up to which its news were read.
    position: u64,
    /// When all tasks were checked.
    pub(super) everything: Option<Instant>,
    /// When owners and holds were.
    pub(super) others: Option<Instant>,
    /// The tasks in a person's hands.
    held: BTreeSet<TaskId>,
    pub(super) other_owners: Option<OtherOwners>,
}

fn is_over(last: Option<Instant>, span: Duration) -> bool {
    last.is_none_or(|last| last.elapsed() >= span)
}

impl TaskLoops {
    /// Reads the news of the store; checks everything at first, when an owner has died, and now and then in case something was missed.
    pub(super) async fn hear_changes(&mut self) -> Result<(), StoreError> {
        if is_over(self.checked.everything, SAFETY_NET) {
            return self.check_everything().await;
        }
        let news = self.context.store.news(self.checked.position).await?;
        self.checked.position = news.position;
        self.hear(news.tasks).await?;
        // Holds may have to be compared with all processes of the machine, so neither is done at every ring.
        if is_over(self.checked.others, ROUND) {
            self.checked.other_owners = Some(claim::other_owners(&self.context).await?);
            holds::look_at(&self.context, &self.checked.held).await;
            self.checked.others = Some(Instant::now());
        }
        match self.checked.other_owners {
            Some(OtherOwners::SomeDead) => self.check_everything().await,
            Some(OtherOwners::None | OtherOwners::Alive) | None => Ok(()),
        }
    }

    async fn check_everything(&mut self) -> Result<(), StoreError> {
        // The position first: what moves meanwhile is then news.
        self.checked.position = self.context.store.news(u64::MAX).await?.position;
        let candidates = self.context.store.candidates().await?;
        self.checked.held = holds::listed_in_store(&self.context).await;
        holds::look_at(&self.context, &self.checked.held).await;
        let versions: HashMap<TaskId, u64> = candidates.iter().map(|one| (one.task, one.version)).collect();
        for task in self.tasks.keys().copied().collect::<Vec<_>>() {
            self.wake(task, versions.get(&task).copied()).await?;
        }
        self.claim(candidates).await?;
        self.checked.other_owners = Some(claim::other_owners(&self.context).await?);
        let now = Instant::now();
        (self.checked.everything, self.checked.others) = (Some(now), Some(now));
        Ok(())
    }

    async fn hear(&mut self, moved: Vec<MovedTask>) -> Result<(), StoreError> {
        let mut candidates = Vec::new();
        for task in moved {
            self.wake(task.task, Some(task.version)).await?;
            match task.state == State::HELD {
                true => self.checked.held.insert(task.task),
                false => self.checked.held.remove(&task.task),
            };
            candidates.extend(task.candidate);
        }
        self.claim(candidates).await
    }

    async fn claim(&mut self, candidates: Vec<Candidate>) -> Result<(), StoreError> {
        let lease_of = |task| self.tasks.get(&task).map(|owned| owned.lease);
        let claimed = claim::claim_round(&self.context, candidates, lease_of, self.only).await?;
        claimed.into_iter().for_each(|stored| self.start(stored));
        Ok(())
    }
}
