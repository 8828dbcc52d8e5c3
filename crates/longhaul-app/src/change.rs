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

/// Changes a task by one command. A repeat of it, by its key, is answered with the task as it is and changes nothing. Takes the task's lease in the same commit if asked to and nobody has it: somebody may have been faster,
/// and then that one acts on the change.
pub async fn change(
    store: &dyn Store,
    task: TaskId,
    command: Command,
    actor: &Actor,
    key: Option<Key>,
    claim: Option<NewLease>,
) -> Result<Changed, ChangeError> {
    if let Some(key) = &key
        && let Some(stored) = store.repeat_of(key, actor).await?
    {
        return Ok(Changed { stored, unchanged: true });
    }
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
            claim: claim.clone().filter(|_| stored.owner.is_none()),
            session_cap: None,
        };
        match store.commit(change).await {
            Ok(committed) => return Ok(Changed { stored: committed.stored, unchanged: false }),
            Err(CommitError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use longhaul_core::names::TaskName;
    use longhaul_core::task::{StopMode, Submission, submit};
    use longhaul_store::sqlite::SqliteStore;

    use super::*;
    use crate::clock::{mint_lease, mint_task, mint_worker};

    /// After the first of two equal requests the second one alone would make no sense.
    #[tokio::test]
    async fn a_repeated_command_is_answered_and_not_refused() {
        let home = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(home.path()).unwrap();
        let (task, actor) = (submitted(&store).await, Actor::person("ann"));
        let send = async |command: Command, key: Option<&str>| {
            let key = key.map(|key| Key::new(key.to_owned(), "command", "input"));
            change(&store, task, command, &actor, key, None).await
        };
        let resume = || Command::Resume { reason: None, settings: Vec::new() };
        send(Command::Pause { mode: StopMode::Graceful }, None).await.unwrap();
        let first = send(resume(), Some("k")).await.unwrap();
        assert!(matches!(send(resume(), None).await, Err(ChangeError::Refused(_))), "the control");
        let again = send(resume(), Some("k")).await.unwrap();
        assert!(again.unchanged && again.stored.task.version == first.stored.task.version);
    }

    async fn submitted(store: &SqliteStore) -> TaskId {
        let (task, actor, name) = (mint_task(), Actor::person("ann"), TaskName::new("t").unwrap());
        let events = submit(&Submission::new("do it".into(), name, "/p".into(), "demo".into())).unwrap();
        let (guard, at) = (Guard::New, now());
        let new = Change { task, guard, events, actor, at, key: None, claim: None, session_cap: None };
        store.commit(new).await.unwrap();
        task
    }

    fn lease() -> NewLease {
        NewLease { id: mint_lease(), worker: mint_worker(), host: "h".into() }
    }

    /// Two commands on a task that nobody owned: the second one meets the first one's claim.
    #[tokio::test]
    async fn a_command_that_finds_an_owner_drops_its_claim() {
        let home = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(home.path()).unwrap();
        let (task, actor) = (submitted(&store).await, Actor::person("ann"));
        let tell = |text: &str, lease: NewLease| {
            let change = change(&store, task, Command::Tell { text: text.into() }, &actor, None, Some(lease));
            tokio::time::timeout(Duration::from_secs(60), change)
        };
        let first = lease();
        let owned = tell("one", first.clone()).await.expect("in time").unwrap().stored;
        let told = tell("two", lease()).await.expect("in time").unwrap().stored;
        assert_eq!(owned.owner.as_ref().map(|owner| owner.worker), Some(first.worker));
        assert_eq!((told.owner, told.task.guidance), (owned.owner, vec!["one".to_owned(), "two".to_owned()]));
    }
}
