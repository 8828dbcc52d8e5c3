//! What a worker notices: news of the store, tasks to claim, owners that died and holds that ended. It wakes the tasks that others
//! changed and opens hubs for those it claims.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_store::{Candidate, MovedTask, StoreError};
use tokio::time::Instant;

use super::task_loops::TaskLoops;
use crate::claim::{self, OtherOwners};
use crate::hold;

/// How often a dead owner is looked for when nothing rings.
pub(super) const ROUND: Duration = Duration::from_secs(1);
/// How often every task is looked at although nothing was heard of it.
const SAFETY_NET: Duration = Duration::from_secs(30);

/// How far this worker has looked around in its home.
#[derive(Default)]
pub(super) struct Look {
    /// The store's position up to which its news were heard.
    position: u64,
    /// When all tasks were looked at.
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
    /// Hears the news of the store; looks at everything at first, when an owner has died, and now and then in case something was missed.
    pub(super) async fn look_around(&mut self) -> Result<(), StoreError> {
        if is_over(self.look.everything, SAFETY_NET) {
            return self.look_at_everything().await;
        }
        let news = self.context.store.news(self.look.position).await?;
        self.look.position = news.position;
        self.hear(news.tasks).await?;
        // A look at the holds may go through all processes of the machine, so neither is done at every ring.
        if is_over(self.look.others, ROUND) {
            self.look.other_owners = Some(claim::other_owners(&self.context).await?);
            hold::look_at(&self.context, &self.look.held).await;
            self.look.others = Some(Instant::now());
        }
        match self.look.other_owners {
            Some(OtherOwners::SomeDead) => self.look_at_everything().await,
            Some(OtherOwners::None | OtherOwners::Alive) | None => Ok(()),
        }
    }

    async fn look_at_everything(&mut self) -> Result<(), StoreError> {
        // The position first: what moves meanwhile is then news.
        self.look.position = self.context.store.news(u64::MAX).await?.position;
        let candidates = self.context.store.candidates().await?;
        self.look.held = hold::listed_in_store(&self.context).await;
        hold::look_at(&self.context, &self.look.held).await;
        let versions: HashMap<TaskId, u64> = candidates.iter().map(|one| (one.task, one.version)).collect();
        for task in self.tasks.keys().copied().collect::<Vec<_>>() {
            self.wake(task, versions.get(&task).copied()).await?;
        }
        self.claim(candidates).await?;
        self.look.other_owners = Some(claim::other_owners(&self.context).await?);
        let now = Instant::now();
        (self.look.everything, self.look.others) = (Some(now), Some(now));
        Ok(())
    }

    async fn hear(&mut self, moved: Vec<MovedTask>) -> Result<(), StoreError> {
        let mut candidates = Vec::new();
        for task in moved {
            self.wake(task.task, Some(task.version)).await?;
            match task.state == hold::HELD {
                true => self.look.held.insert(task.task),
                false => self.look.held.remove(&task.task),
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
