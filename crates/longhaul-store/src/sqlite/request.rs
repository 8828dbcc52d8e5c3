//! What the writer is asked for: a piece of work on its connection, and who waits for its result.
//!
//! Made by the writer's `ask`, run and answered by its thread. Work may run twice, in two transactions, if the first was rolled back. It
//! is answered once, after the transaction that its result belongs to.

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
    /// It was refused; why, if the whole transaction ended with it.
    Refused(StoreError),
}

/// A piece of work in the writer's queue.
pub(super) trait Request: Send {
    /// Does the work inside the current transaction.
    fn run(&mut self, connection: &Connection, cache: &mut Cache) -> Step;

    /// Answers the caller: with the result of the last run, or with why nothing was committed. A caller that left wants no answer; what
    /// was committed stays committed.
    fn answer(self: Box<Self>, failure: Option<StoreError>);
}

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

struct Asked<T, E, Work> {
    work: Work,
    is_written: fn(&T) -> bool,
    outcome: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

impl<T, E, Work> Request for Asked<T, E, Work>
where
    T: Send,
    E: Refusal,
    Work: FnMut(&Connection, &mut Cache) -> Result<T, E> + Send,
{
    fn run(&mut self, connection: &Connection, cache: &mut Cache) -> Step {
        let ended = || StoreError::Failed { what: "the transaction ended early".into() };
        match self.outcome.insert((self.work)(connection, cache)) {
            Ok(made) if (self.is_written)(made) => Step::Written,
            Ok(_) => Step::Unchanged,
            Err(refusal) => Step::Refused(refusal.failure().cloned().unwrap_or_else(ended)),
        }
    }

    fn answer(self: Box<Self>, failure: Option<StoreError>) {
        let Asked { outcome, caller, .. } = *self;
        // Without a failure the work has run. A sender that is dropped reports that the writer is gone.
        drop(failure.map(|why| Err(why.into())).or(outcome).map(|answer| caller.send(answer)));
    }
}

/// A request and where its answer arrives; `is_written` tells whether what the work made was written.
pub(super) fn request<T: Send + 'static, E: Refusal>(
    is_written: fn(&T) -> bool,
    work: impl FnMut(&Connection, &mut Cache) -> Result<T, E> + Send + 'static,
) -> (Box<dyn Request>, oneshot::Receiver<Result<T, E>>) {
    let (caller, answered) = oneshot::channel();
    (Box::new(Asked { work, is_written, outcome: None, caller }), answered)
}
