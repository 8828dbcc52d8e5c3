//! What the writer is asked for: a piece of work on its connection, and who waits for what came of it.
//!
//! Made by the writer's `ask`, taken by its thread. An answer is given once, after the transaction that it speaks of.

use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::cache::Cache;
use crate::{CommitError, RemoveError, StoreError, Stored};

/// What a change made; the caller's own copy is made on the caller's thread.
pub(super) struct Made {
    /// The task and its ownership after it.
    pub(super) stored: Arc<Stored>,
    /// It had been made before.
    pub(super) repeated: bool,
}

/// What became of a piece of work inside the transaction.
pub(super) enum Step {
    /// Something was written.
    Written,
    /// Nothing was, and nothing is to be undone.
    Unchanged,
    /// Its savepoint is to be rolled back; why, if the whole transaction ended with it.
    Refused(StoreError),
}

/// Does its work, or none of it if the transaction failed before; then gives back who waits.
pub(super) type Request = Box<dyn FnOnce(Result<(&Connection, &mut Cache), StoreError>) -> (Step, Answer) + Send>;

/// Answers a caller: with what came of its work, or with why nothing was committed. A caller that left wants no answer; what was committed
/// stays committed.
pub(super) type Answer = Box<dyn FnOnce(Option<StoreError>)>;

/// Why work can be refused.
pub(super) trait Refusal: From<StoreError> + Send + 'static {
    /// The failure of the database behind it, if it is one.
    fn failure(&self) -> Option<&StoreError>;
}

impl Refusal for StoreError {
    fn failure(&self) -> Option<&StoreError> {
        Some(self)
    }
}

impl Refusal for CommitError {
    fn failure(&self) -> Option<&StoreError> {
        if let CommitError::Store(failure) = self { Some(failure) } else { None }
    }
}

impl Refusal for RemoveError {
    fn failure(&self) -> Option<&StoreError> {
        if let RemoveError::Store(failure) = self { Some(failure) } else { None }
    }
}

/// A request and where its answer arrives; `is_written` tells whether what the work made was written.
pub(super) fn request<T: Send + 'static, E: Refusal>(
    is_written: fn(&T) -> bool,
    work: impl FnOnce(&Connection, &mut Cache) -> Result<T, E> + Send + 'static,
) -> (Request, oneshot::Receiver<Result<T, E>>) {
    let (caller, answered) = oneshot::channel();
    let request: Request = Box::new(move |transaction| {
        let outcome = transaction.map_err(E::from).and_then(|(connection, cache)| work(connection, cache));
        let ended = || StoreError::Failed { what: "the transaction ended early".into() };
        let step = match &outcome {
            Ok(made) if is_written(made) => Step::Written,
            Ok(_) => Step::Unchanged,
            Err(refusal) => Step::Refused(refusal.failure().cloned().unwrap_or_else(ended)),
        };
        let give = move |failure: Option<StoreError>| drop(caller.send(failure.map_or(outcome, |why| Err(why.into()))));
        (step, Box::new(give))
    });
    (request, answered)
}
