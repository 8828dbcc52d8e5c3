//! Taking leases: queued tasks that nobody owns, and tasks whose owner is proved dead by its lock.
//!
//! Called by the worker at its start, after every ring of the store's bell, and each second.

use std::collections::HashSet;

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_keeper::WorkerLock;
use longhaul_store::{Carrier, CommitError, NewLease, StoreError, Stored};

use crate::clock::{mint_lease, now};
use crate::worker::Context;

/// What a round of claiming found.
pub(crate) struct Round {
    /// Newly ours.
    pub(crate) claimed: Vec<Stored>,
    /// Whether anything is left that this worker stays for.
    pub(crate) reason_to_stay: bool,
}

/// Claims what may be claimed. `mine` are the tasks this worker has hubs for.
pub(crate) async fn claim_round(context: &Context, mine: &HashSet<TaskId>, only: bool) -> Result<Round, StoreError> {
    let mut round = Round { claimed: Vec::new(), reason_to_stay: false };
    let mut dead = Verdicts::default();
    let mut candidates = context.store.candidates().await?;
    // A session that may be alive comes first: only its owner reads its output and sees its end.
    candidates.sort_by_key(|candidate| !candidate.live);
    for candidate in candidates.into_iter().filter(|candidate| candidate.carrier == Carrier::Worker) {
        let ours = candidate.owner == Some(context.worker);
        let child_of_ours = candidate.parent.is_some_and(|parent| mine.contains(&parent));
        let free = match candidate.owner {
            None => !only || child_of_ours,
            Some(owner) => !ours && dead.is_dead(context, owner),
        };
        // A queued task that an `--only` worker may not take is no reason for it to stay for ever.
        round.reason_to_stay |= candidate.owner.is_some() || free;
        if free {
            round.claimed.extend(claim_of(context, candidate.task, candidate.epoch).await?);
        } else if ours && !mine.contains(&candidate.task) {
            // Its hub broke; the lease is still ours, and a new hub asks the same `due`.
            round.claimed.extend(context.store.load(candidate.task).await?);
        }
    }
    Ok(round)
}

/// Takes the lease of a task whose owner, if it has one, was proved dead; none when somebody else was faster.
pub(crate) async fn claim_of(context: &Context, task: TaskId, epoch: u64) -> Result<Option<Stored>, StoreError> {
    let lease = NewLease { id: mint_lease(), worker: context.worker, host: context.host.clone() };
    match context.store.claim(task, epoch, lease, now()).await {
        Ok(committed) => Ok(Some(committed.stored)),
        // Another worker was faster, or the task moved on: both are fine.
        Err(CommitError::Store(error)) if error.passes() => Ok(None),
        Err(CommitError::Store(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// One look at each lock per round.
#[derive(Default)]
struct Verdicts {
    seen: std::collections::HashMap<WorkerId, bool>,
}

impl Verdicts {
    fn is_dead(&mut self, context: &Context, worker: WorkerId) -> bool {
        *self.seen.entry(worker).or_insert_with(|| {
            // A lock that cannot be asked proves nothing.
            WorkerLock::is_dead(&context.home.worker_lock(worker)).unwrap_or(false)
        })
    }
}
