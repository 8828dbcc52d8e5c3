//! How anyone changes a task: load it, ask `decide`, commit compare-and-set; on conflict load and decide again.
//!
//! Front ends send commands with `change`. Owners offer their observations to `commit_input`, with their lease in the guard.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Command, Event, Input, Refusal, decide};
use longhaul_store::{Change, CommitError, Committed, Earlier, Guard, Key, NewLease, Store, StoreError, Stored};

use crate::clock::Clock;

/// Why a task was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// There is no such task.
    #[error("no such task")]
    NotFound,
    /// The core refused it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store refused it, for a reason that deciding again does not fix.
    #[error("the change could not be committed")]
    Commit(#[from] CommitError),
}

impl From<StoreError> for ChangeError {
    fn from(error: StoreError) -> Self {
        ChangeError::Commit(CommitError::Store(error))
    }
}

/// What a commit depends on besides the events.
#[derive(Debug)]
pub struct Terms {
    /// What must still be true of the task.
    pub guard: Guard,
    /// A key that makes a repeat harmless.
    pub key: Option<Key>,
    /// A lease to take in the same commit.
    pub claim: Option<NewLease>,
    /// How many sessions may be live, if the commit starts one.
    pub session_cap: Option<u32>,
}

impl From<Guard> for Terms {
    fn from(guard: Guard) -> Self {
        Terms { guard, key: None, claim: None, session_cap: None }
    }
}

/// Changes a task by one command. A repeat of it, by its key, is answered with the task as it is and changes nothing. Takes the task's
/// lease in the same commit if the task has no owner: another process may have been faster, and then that one acts on the change.
pub async fn change(
    store: &dyn Store,
    clock: Clock,
    task: TaskId,
    command: Command,
    actor: &Actor,
    key: Option<Key>,
    claim: Option<NewLease>,
) -> Result<Committed, ChangeError> {
    if let Some(key) = &key
        && let Some(Earlier { stored, .. }) = store.repeat_of(key, actor).await?
    {
        return Ok(Committed { stored, repeated: true });
    }
    let mut stored = load(store, task).await?;
    let terms = |stored: &Stored| {
        let claim = claim.clone().filter(|_| stored.owner.is_none());
        Some(Terms { key: key.clone(), claim, ..Guard::Version(stored.task.version).into() })
    };
    let (_, repeated) = decide_and_commit(store, clock, &mut stored, &command.into(), actor, terms).await?;
    Ok(Committed { stored, repeated })
}

/// Decides on an input and commits what follows; after a conflict it loads the task and decides again. `stored` is the task as the caller
/// knows it, and afterwards as it is. `terms` sees each task that is decided upon; none means that it is no longer the caller's to change.
/// Answers with the events, none if nothing follows.
pub async fn commit_input(
    store: &dyn Store,
    clock: Clock,
    stored: &mut Stored,
    input: &Input,
    actor: &Actor,
    terms: impl Fn(&Stored) -> Option<Terms>,
) -> Result<Vec<Event>, ChangeError> {
    Ok(decide_and_commit(store, clock, stored, input, actor, terms).await?.0)
}

/// The events, and whether an equal request with the same key was committed a moment before, so that nothing was written now.
async fn decide_and_commit(
    store: &dyn Store,
    clock: Clock,
    stored: &mut Stored,
    input: &Input,
    actor: &Actor,
    terms: impl Fn(&Stored) -> Option<Terms>,
) -> Result<(Vec<Event>, bool), ChangeError> {
    loop {
        let Terms { guard, key, claim, session_cap } = terms(stored).ok_or(CommitError::Fenced)?;
        let (task, at) = (stored.task.id, clock());
        let events = decide(&stored.task, input, actor, at)?;
        // Without events there is nothing to claim the task for, but a key is used up.
        let claim = claim.filter(|_| !events.is_empty());
        if events.is_empty() && key.is_none() {
            return Ok((events, false));
        }
        let change = Change { task, guard, events: events.clone(), actor: actor.clone(), at, key, claim, session_cap };
        match store.commit(change).await {
            Ok(committed) => {
                *stored = committed.stored;
                return Ok((events, committed.repeated));
            }
            Err(CommitError::Conflict | CommitError::Fenced) => *stored = load(store, task).await?,
            Err(error) => return Err(error.into()),
        }
    }
}

async fn load(store: &dyn Store, task: TaskId) -> Result<Stored, ChangeError> {
    store.load(task).await?.ok_or(ChangeError::NotFound)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use longhaul_core::names::TaskName;
    use longhaul_core::task::{Setting, StopMode, Submission, submit};
    use longhaul_store::sqlite::SqliteStore;

    use super::*;
    use crate::clock::{mint_lease, mint_task, mint_worker, now};

    /// After the first of two equal requests the second one alone would make no sense.
    #[tokio::test]
    async fn a_repeated_command_is_answered_and_not_refused() {
        let home = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(home.path()).unwrap();
        let (task, actor) = (submitted(&store).await, Actor::person("ann"));
        let send = async |command: Command, key: Option<&str>| {
            let key = key.map(|key| Key::new(key.to_owned(), "command", "input"));
            change(&store, now, task, command, &actor, key, None).await
        };
        let resume = || Command::Resume { reason: None, settings: Vec::new() };
        send(Command::Pause { mode: StopMode::Graceful }, None).await.unwrap();
        let first = send(resume(), Some("k")).await.unwrap();
        assert!(matches!(send(resume(), None).await, Err(ChangeError::Refused(_))), "the control");
        let again = send(resume(), Some("k")).await.unwrap();
        assert_eq!(again.stored.task.version, first.stored.task.version);
        assert_eq!((first.repeated, again.repeated), (false, true));
    }

    #[tokio::test]
    async fn a_command_that_changes_nothing_uses_its_key() {
        let home = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(home.path()).unwrap();
        let (task, actor) = (submitted(&store).await, Actor::person("ann"));
        let edit = async |priority: i64| {
            let key = Key::new("k", "edit", &priority.to_string());
            let command = Command::Edit { settings: vec![Setting::Priority(priority)] };
            change(&store, now, task, command, &actor, Some(key), Some(lease())).await
        };
        let (first, again) = (edit(0).await.unwrap(), edit(0).await.unwrap());
        assert_eq!((first.repeated, again.repeated), (false, true));
        assert_eq!((again.stored.task.version, again.stored.owner), (1, None), "nothing happened, so nobody claims it");
        assert!(matches!(edit(5).await, Err(ChangeError::Commit(CommitError::KeyReused))));
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
            let change = change(&store, now, task, Command::Tell { text: text.into() }, &actor, None, Some(lease));
            tokio::time::timeout(Duration::from_secs(60), change)
        };
        let first = lease();
        let owned = tell("one", first.clone()).await.expect("in time").unwrap();
        let told = tell("two", lease()).await.expect("in time").unwrap();
        let (owned, told) = (owned.stored, told.stored);
        assert_eq!(owned.owner.as_ref().map(|owner| owner.worker), Some(first.worker));
        assert_eq!((told.owner, told.task.guidance), (owned.owner, vec!["one".to_owned(), "two".to_owned()]));
    }
}
