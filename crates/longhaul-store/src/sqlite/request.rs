//! What the writer is asked for and what it answers: changes, claims, removals, and what is told of notices.
//!
//! Made by the writer's handle, taken by its thread. An answer is given once, after the transaction that it speaks of.

use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::time::Time;
use tokio::sync::oneshot;

use super::commit::Prepared;
use super::outbox::NoticeWork;
use crate::{CommitError, Guard, NewLease, RemoveError, StoreError, Stored};

/// What the writer is asked for.
pub(super) enum Work {
    /// One change.
    Commit(Box<Prepared>),
    /// A lease to be taken.
    Claim { task: TaskId, epoch_seen: u64, lease: NewLease, at: Time },
    /// A finished task to be removed.
    Remove { task: TaskId, guard: Guard },
    /// A notice to be claimed or settled.
    Notice(NoticeWork),
}

/// What a change made; the caller's own copy is made on the caller's thread.
pub(super) struct Made {
    /// The task and its ownership after it.
    pub(super) stored: Arc<Stored>,
    /// It had been made before.
    pub(super) repeated: bool,
}

/// What became of a piece of work.
pub(super) enum Outcome {
    Change(Result<Made, CommitError>),
    Removal(Result<(), RemoveError>),
    Notice(Result<bool, StoreError>),
}

/// Who waits for it.
pub(super) enum Answer {
    Change(oneshot::Sender<Result<Made, CommitError>>),
    Removal(oneshot::Sender<Result<(), RemoveError>>),
    Notice(oneshot::Sender<Result<bool, StoreError>>),
}

/// A piece of work with who waits for it.
pub(super) struct Request {
    pub(super) work: Work,
    pub(super) answer: Answer,
}

impl Outcome {
    /// Whether something was written.
    pub(super) fn is_written(&self) -> bool {
        match self {
            Outcome::Change(change) => change.as_ref().is_ok_and(|made| !made.repeated),
            Outcome::Removal(removal) => removal.is_ok(),
            Outcome::Notice(notice) => matches!(notice, Ok(true)),
        }
    }

    /// Whether its savepoint is to be taken back.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Outcome::Change(Err(_)) | Outcome::Removal(Err(_)) | Outcome::Notice(Err(_)))
    }

    /// Why the whole transaction ended with this piece.
    pub(super) fn cause(&self) -> StoreError {
        match self {
            Outcome::Change(Err(CommitError::Store(cause)))
            | Outcome::Removal(Err(RemoveError::Store(cause)))
            | Outcome::Notice(Err(cause)) => cause.clone(),
            _ => StoreError::Failed { what: "the transaction ended early".into() },
        }
    }
}

impl Answer {
    /// Tells the caller. One that left does not want its answer; what was committed stays committed.
    pub(super) fn give(self, outcome: Outcome) {
        match (self, outcome) {
            (Answer::Change(caller), Outcome::Change(outcome)) => drop(caller.send(outcome)),
            (Answer::Removal(caller), Outcome::Removal(outcome)) => drop(caller.send(outcome)),
            (Answer::Notice(caller), Outcome::Notice(outcome)) => drop(caller.send(outcome)),
            // Work and answer are made in pairs; a caller whose channel closes is told that the writer is gone.
            (Answer::Change(_) | Answer::Removal(_) | Answer::Notice(_), _) => {}
        }
    }

    /// Tells the caller that nothing was committed.
    pub(super) fn fail(self, error: StoreError) {
        match self {
            Answer::Change(caller) => drop(caller.send(Err(error.into()))),
            Answer::Removal(caller) => drop(caller.send(Err(error.into()))),
            Answer::Notice(caller) => drop(caller.send(Err(error))),
        }
    }
}
