//! A person's hold on a task: who proves that somebody works in the agent's conversation, and what follows when nobody does any more.
//!
//! `longhaul takeover` takes the hold before it asks for the task and lets the agent's program inherit it, so the hold outlives its own
//! death. The next worker, or the next operation that changes the task, gives it back once the hold is free and nobody carries its marker.
//! Reading only shows that. It never ends a process, and never starts one.

mod interface;
mod lock;
#[cfg(test)]
mod tests;

use std::io;

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Actor, Command, ReleasedBy};
use longhaul_keeper::process::Process;
use longhaul_keeper::{carriers, fail_point};
use longhaul_store::{Store, Stored};

pub use interface::{Interface, NoInterface, interface_of};
pub use lock::{Free, Hold, HoldError, listed as listed_holds};

use crate::change::{ChangeError, change};
use crate::clock::Clock;
use crate::home::Home;
use crate::intake::{blocking, blocking_here};

/// Why it is unknown whether a person is still working.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// The hold cannot be looked at.
    #[error(transparent)]
    Hold(#[from] HoldError),
    /// The processes cannot be listed.
    #[error("failed to find the processes of the conversation")]
    Processes(#[source] io::Error),
    /// The task was not changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// What the marker variable of a held conversation's processes holds. A session never has a task's id.
pub fn marker(task: TaskId) -> SessionId {
    task.to_string().parse().expect("an id of one kind is spelled like that of another")
}

/// The processes that were started in a held conversation and live. After an orderly end some may be left, such as servers.
pub fn in_conversation(task: TaskId) -> io::Result<Vec<Process>> {
    carriers(marker(task))
}

/// Gives a task back whose agent's program was waited for, and then the hold on it.
pub async fn release(
    store: &dyn Store,
    clock: Clock,
    task: TaskId,
    hold: Hold,
    actor: &Actor,
) -> Result<Stored, ChangeError> {
    let released = change(store, clock, task, Command::Release { how: ReleasedBy::Ended }, actor, None, None).await;
    fail_point::reach("takeover.released");
    hold.retire();
    Ok(released?.stored)
}

/// Gives a held task back when nobody works in its conversation any more; every other is left as it is.
///
/// The hold cannot be taken while this looks and commits, so a person who takes the task over again is never thrown out.
pub async fn release_if_gone(
    store: &dyn Store,
    clock: Clock,
    home: &Home,
    stored: Stored,
    actor: &Actor,
) -> Result<Stored, ReleaseError> {
    let task = stored.task.id;
    if !stored.task.state.is_held() {
        return Ok(stored);
    }
    let home = home.clone();
    let look = move || match Free::check(&home, task)? {
        // A free hold alone proves nothing: programs close descriptors that are strange to them.
        Some(free) => Ok(in_conversation(task).map_err(ReleaseError::Processes)?.is_empty().then_some(free)),
        None => Ok::<_, ReleaseError>(None),
    };
    let Some(free) = blocking(look).await? else { return Ok(stored) };
    let changed = change(store, clock, task, Command::Release { how: ReleasedBy::Gone }, actor, None, None).await?;
    free.retire();
    Ok(changed.stored)
}

/// Whether a held task's person has left. Only looks: the next worker or operation that changes the task releases it.
pub(crate) fn is_abandoned(home: &Home, task: TaskId) -> bool {
    blocking_here(|| lock::is_free(home, task) && in_conversation(task).is_ok_and(|processes| processes.is_empty()))
}
