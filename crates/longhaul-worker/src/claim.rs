//! Taking leases: queued tasks that nobody owns, and tasks whose owner is proved dead by its lock.
//!
//! Called by the worker for all tasks at its start and now and then, and for those that moved after every ring of the store's bell.

use std::collections::HashMap;

use longhaul_core::ids::{LeaseId, TaskId, WorkerId};
use longhaul_keeper::WorkerLock;
use longhaul_store::{Candidate, Carrier, CommitError, StoreError, Stored};

use crate::worker::Context;
use longhaul_app::now;

/// Claims those of the candidates that may be claimed. `lease_of` knows the leases of the tasks that this worker owns.
pub(crate) async fn claim_round(
    context: &Context,
    mut candidates: Vec<Candidate>,
    lease_of: impl Fn(TaskId) -> Option<LeaseId>,
    only: bool,
) -> Result<Vec<Stored>, StoreError> {
    let mut claimed = Vec::new();
    let mut dead = Verdicts::default();
    // A session that may be alive comes first: only its owner reads its output and sees its end.
    candidates.sort_by_key(|candidate| !candidate.live);
    for candidate in candidates.into_iter().filter(|candidate| candidate.carrier == Carrier::Worker) {
        let ours = candidate.owner == Some(context.worker);
        let parent = candidate.parent.and_then(&lease_of);
        let free = match candidate.owner {
            None => parent.is_some() || !only && !belongs_to_another(context, &candidate, &mut dead).await?,
            Some(owner) => !ours && dead.is_dead(context, owner),
        };
        if free {
            let taken = claim_of(context, candidate.task, candidate.epoch).await?;
            if let (Some(lease), Some(owner)) = (parent, taken.as_ref().and_then(|stored| stored.owner.as_ref())) {
                // A child runs with what its parent was handed over with.
                context.environments.keep(owner.lease.id, context.environments.of(lease));
            }
            claimed.extend(taken);
        } else if ours && lease_of(candidate.task).is_none() {
            // Its hub broke; the lease is still ours, and a new hub asks the same `due`.
            claimed.extend(context.store.load(candidate.task).await?);
        }
    }
    Ok(claimed)
}

/// Whether another worker that lives carries out the task's parent: that one takes the child, with the environment of the parent. A
/// runner carries out no task but its own.
async fn belongs_to_another(context: &Context, candidate: &Candidate, dead: &mut Verdicts) -> Result<bool, StoreError> {
    let Some(parent) = candidate.parent else { return Ok(false) };
    let parent = context.store.load(parent).await?.filter(|parent| parent.task.submission.driver.conduct().any_worker);
    let owner = parent.and_then(|parent| parent.owner).map(|owner| owner.worker);
    Ok(owner.is_some_and(|owner| owner != context.worker && !dead.is_dead(context, owner)))
}

/// The other workers that own tasks of this home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherOwners {
    /// It does not exist.
    None,
    /// All of them live.
    Alive,
    /// Some are dead: their tasks can be claimed.
    SomeDead,
}

/// Looks at the locks of the other owners, once each.
pub(crate) async fn other_owners(context: &Context) -> Result<OtherOwners, StoreError> {
    let others = context.store.other_owners(context.worker).await?;
    let mut dead = Verdicts::default();
    Ok(match others.iter().any(|owner| dead.is_dead(context, *owner)) {
        true => OtherOwners::SomeDead,
        false if others.is_empty() => OtherOwners::None,
        false => OtherOwners::Alive,
    })
}

/// Takes the lease of a task whose owner, if it has one, was proved dead; none when somebody else was faster.
pub(crate) async fn claim_of(context: &Context, task: TaskId, epoch: u64) -> Result<Option<Stored>, StoreError> {
    match context.store.claim(task, epoch, context.new_lease(), now()).await {
        Ok(committed) => Ok(Some(committed.stored)),
        Err(CommitError::Store(error)) if !error.is_transient() => Err(error),
        // Another worker was faster, the task moved on, or the store is busy: the next round looks again.
        Err(_) => Ok(None),
    }
}

/// One look at each lock per round.
#[derive(Default)]
struct Verdicts {
    seen: HashMap<WorkerId, bool>,
}

impl Verdicts {
    fn is_dead(&mut self, context: &Context, worker: WorkerId) -> bool {
        *self.seen.entry(worker).or_insert_with(|| {
            // A lock that cannot be asked proves nothing.
            WorkerLock::is_dead(&context.home.worker_lock(worker)).unwrap_or(false)
        })
    }
}
