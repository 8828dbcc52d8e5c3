//! How anyone changes a task: load it, ask `decide`, commit compare-and-set; on conflict load and decide again.
//!
//! Used by every front end. Owners do the same in the dispatcher, with their lease in the guard.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Command, Input, Refusal, decide};
use longhaul_store::{Change, CommitError, Guard, Key, NewLease, Store, StoreError, Stored};

use crate::clock::now;

/// What a change made.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The task after it.
    pub stored: Stored,
    /// Nothing was written: it was so already.
    pub unchanged: bool,
}

/// Why a task was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// There is no such task.
    #[error("no such task")]
    NotFound,
    /// The core said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store said no, for a reason that deciding again does not mend.
    #[error("the change could not be committed")]
    Commit(#[from] CommitError),
}

impl From<StoreError> for ChangeError {
    fn from(error: StoreError) -> Self {
        ChangeError::Commit(CommitError::Store(error))
    }
}

/// Changes a task by one command, and takes its lease in the same commit if asked to.
pub async fn change(
    store: &dyn Store,
    task: TaskId,
    command: Command,
    actor: &Actor,
    key: Option<Key>,
    claim: Option<NewLease>,
) -> Result<Changed, ChangeError> {
    let input = Input::from(command);
    loop {
        let stored = store.load(task).await?.ok_or(ChangeError::NotFound)?;
        let at = now();
        let events = decide(&stored.task, &input, actor, at)?;
        if events.is_empty() {
            return Ok(Changed { stored, unchanged: true });
        }
        let change = Change {
            task,
            guard: Guard::Version(stored.task.version),
            events,
            actor: actor.clone(),
            at,
            key: key.clone(),
            claim: claim.clone(),
            session_cap: None,
        };
        match store.commit(change).await {
            Ok(committed) => return Ok(Changed { stored: committed.stored, unchanged: false }),
            Err(CommitError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
