//! Stores that break one promise each: the controls that show the suite would notice.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::{AccountLimit, Actor, Event, Purpose, Task};
use longhaul_core::time::Time;
use longhaul_store::{
    ApiKey, Candidate, ChainReport, Change, Changes, CommitError, Committed, Damaged, Earlier, Feed, Filter, Guard,
    History, Holder, Key, Listed, NewLease, News, Notice, RemoveError, Salvaged, Settled, Store, StoreError, Stored,
    StoredEvent, Summaries, Tenant, Turns, WholeStore,
};

use super::Harness;

/// Which promise is broken.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Later changes are acknowledged and not written.
    AcknowledgesWithoutWriting,
    /// The version is not compared.
    IgnoresTheVersion,
    /// Owners are treated as front ends.
    IgnoresTheLease,
    /// A claim always takes the epoch it finds.
    IgnoresTheEpoch,
    /// Sessions are not counted.
    IgnoresTheCap,
    /// Everybody in line may start.
    IgnoresTheLine,
    /// Every task is told that its directory is free.
    SharesDirectories,
    /// Sessions of agents start as if they were checks, which no limit of a family counts.
    IgnoresFamilies,
    /// One event is missing.
    HidesAnEvent,
    /// A listener hears another store.
    IsSilent,
    /// A removal compares no version.
    RemovesAnything,
    /// A removal is acknowledged and not made.
    KeepsWhatIsRemoved,
    /// A copy replaces what is there.
    OverwritesBackups,
    /// Summaries leave the last task out.
    ForgetsATask,
    /// No notice is ever pending.
    LosesNotices,
    /// Every claimer of a notice is told that it has it.
    GivesNoticesToEverybody,
    /// A notice is settled whichever try it is.
    SettlesForAnybody,
    /// No account is ever limited.
    ForgetsLimits,
    /// A revoked API key is still usable.
    ForgetsRevocations,
    /// Keys are not kept.
    ForgetsKeys,
    /// Keys stand for any input.
    IgnoresTheInput,
    /// A guess is kept like a key that somebody chose.
    NeverDropsAGuess,
    /// Every tenant is shown everything.
    IgnoresTenants,
    /// The feed does not report that events are missing.
    HidesTheGap,
    /// A page of the feed is followed by the one after the next.
    SkipsInTheFeed,
}

/// Opens stores with a fault over another harness.
pub(crate) struct FaultyHarness<'a> {
    pub(crate) sound: &'a dyn Harness,
    pub(crate) elsewhere: &'a dyn Harness,
    pub(crate) fault: Fault,
}

#[async_trait]
impl Harness for FaultyHarness<'_> {
    async fn open(&self) -> Arc<dyn WholeStore> {
        Arc::new(Faulty { sound: self.sound.open().await, elsewhere: self.elsewhere.open().await, fault: self.fault })
    }
}

struct Faulty {
    sound: Arc<dyn WholeStore>,
    elsewhere: Arc<dyn WholeStore>,
    fault: Fault,
}

/// Enough to get past everybody else in a race.
const TRIES: usize = 1_000;

impl Faulty {
    async fn insist_on_change(&self, mut change: Change) -> Result<Committed, CommitError> {
        for _ in 0..TRIES {
            let stored = self.sound.load(change.task).await?.ok_or(CommitError::NotFound)?;
            change.guard = Guard::Version(stored.task.version);
            match self.sound.commit(change.clone()).await {
                Err(CommitError::Conflict) => {}
                answer => return answer,
            }
        }
        Err(CommitError::Conflict)
    }

    async fn insist_on_claim(&self, task: TaskId, lease: NewLease, at: Time) -> Result<Committed, CommitError> {
        for _ in 0..TRIES {
            let stored = self.sound.load(task).await?.ok_or(CommitError::NotFound)?;
            match self.sound.claim(task, stored.epoch, lease.clone(), at).await {
                Err(CommitError::Conflict) => {}
                answer => return answer,
            }
        }
        Err(CommitError::Conflict)
    }
}

fn without_input(key: Key) -> Key {
    Key { input: String::new(), ..key }
}

fn chosen(key: Key) -> Key {
    Key { guessed_after: None, ..key }
}

fn as_check(event: &mut Event) {
    if let Event::SessionStarted { session } = event {
        session.purpose = Purpose::Check;
    }
}

#[async_trait]
impl Store for Faulty {
    async fn commit(&self, mut change: Change) -> Result<Committed, CommitError> {
        match (self.fault, self.sound.load(change.task).await?, change.guard) {
            (Fault::AcknowledgesWithoutWriting, Some(stored), _) => return Ok(Committed { stored, repeated: false }),
            (Fault::IgnoresTheVersion, Some(_), Guard::Version(_)) => return self.insist_on_change(change).await,
            (Fault::IgnoresTheLease, _, Guard::Owner { version, .. }) => change.guard = Guard::Version(version),
            (Fault::ForgetsKeys, ..) => change.key = None,
            (Fault::IgnoresTheInput, ..) => change.key = change.key.map(without_input),
            (Fault::NeverDropsAGuess, ..) => change.key = change.key.map(chosen),
            (Fault::IgnoresTheCap, ..) => change.session_cap = None,
            (Fault::IgnoresFamilies, ..) => change.events.iter_mut().for_each(as_check),
            _ => {}
        }
        self.sound.commit(change).await
    }

    async fn repeat_of(&self, key: &Key, actor: &Actor) -> Result<Option<Earlier>, CommitError> {
        self.sound.repeat_of(key, actor).await
    }

    async fn load(&self, task: TaskId) -> Result<Option<Stored>, StoreError> {
        self.sound.load(task).await
    }

    async fn salvage(&self, task: TaskId) -> Result<Option<Salvaged>, StoreError> {
        self.sound.salvage(task).await
    }

    async fn list(&self, filter: Filter) -> Result<Listed, StoreError> {
        self.sound.list(filter).await
    }

    async fn summaries(&self, filter: Filter) -> Result<Summaries, StoreError> {
        let mut outlines = self.sound.summaries(filter).await?;
        if matches!(self.fault, Fault::ForgetsATask) {
            outlines.tasks.pop();
        }
        Ok(outlines)
    }

    async fn events(&self, task: TaskId, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let mut events = self.sound.events(task, after, limit).await?;
        if matches!(self.fault, Fault::HidesAnEvent) && events.len() > 1 {
            events.remove(1);
        }
        Ok(events)
    }

    async fn newest_events(&self, task: TaskId, kinds: &[&str], limit: u32) -> Result<History, StoreError> {
        self.sound.newest_events(task, kinds, limit).await
    }

    async fn feed(&self, after: u64, events: u32, bytes: u64) -> Result<Feed, StoreError> {
        let mut feed = self.sound.feed(after, events, bytes).await?;
        match self.fault {
            Fault::HidesTheGap => feed.has_gap = false,
            Fault::SkipsInTheFeed => feed.position += u64::from(feed.more),
            _ => {}
        }
        Ok(feed)
    }

    async fn turns(&self, cap: u32, passed_over: &[WorkerId]) -> Result<Turns, StoreError> {
        let cap = if matches!(self.fault, Fault::IgnoresTheLine) { u32::MAX } else { cap };
        self.sound.turns(cap, passed_over).await
    }

    async fn family(&self, task: TaskId) -> Result<Vec<Task>, StoreError> {
        self.sound.family(task).await
    }

    async fn directory_holder(&self, task: TaskId) -> Result<Option<Holder>, StoreError> {
        match self.fault {
            Fault::SharesDirectories => Ok(None),
            _ => self.sound.directory_holder(task).await,
        }
    }

    async fn works_in(&self, directory: &str) -> Result<Option<Holder>, StoreError> {
        self.sound.works_in(directory).await
    }

    async fn verify(&self, task: TaskId) -> Result<ChainReport, StoreError> {
        self.sound.verify(task).await
    }

    async fn account_limits(&self) -> Result<Vec<AccountLimit>, StoreError> {
        match self.fault {
            Fault::ForgetsLimits => Ok(Vec::new()),
            _ => self.sound.account_limits().await,
        }
    }

    async fn notices(&self, task: TaskId) -> Result<Vec<Notice>, StoreError> {
        self.sound.notices(task).await
    }

    fn changes(&self) -> Result<Changes, StoreError> {
        match self.fault {
            Fault::IsSilent => self.elsewhere.changes(),
            _ => self.sound.changes(),
        }
    }

    fn ring(&self) -> Result<(), StoreError> {
        self.sound.ring()
    }
}

#[async_trait]
impl WholeStore for Faulty {
    fn of_tenant(&self, tenant: &Tenant) -> Arc<dyn Store> {
        match self.fault {
            Fault::IgnoresTenants => Arc::<dyn WholeStore>::clone(&self.sound),
            _ => self.sound.of_tenant(tenant),
        }
    }

    fn tenant_of(&self, task: TaskId) -> Result<Option<Tenant>, StoreError> {
        self.sound.tenant_of(task)
    }

    async fn claim(&self, task: TaskId, epoch_seen: u64, lease: NewLease, at: Time) -> Result<Committed, CommitError> {
        match self.fault {
            Fault::IgnoresTheEpoch => self.insist_on_claim(task, lease, at).await,
            _ => self.sound.claim(task, epoch_seen, lease, at).await,
        }
    }

    async fn candidates(&self) -> Result<Vec<Candidate>, StoreError> {
        self.sound.candidates().await
    }

    async fn news(&self, after: u64) -> Result<News, StoreError> {
        self.sound.news(after).await
    }

    async fn other_owners(&self, worker: WorkerId) -> Result<Vec<WorkerId>, StoreError> {
        self.sound.other_owners(worker).await
    }

    async fn pending_notices(&self) -> Result<Vec<Notice>, StoreError> {
        match self.fault {
            Fault::LosesNotices => Ok(Vec::new()),
            _ => self.sound.pending_notices().await,
        }
    }

    async fn claim_notice(&self, id: u64, tries_seen: u32, until: Time) -> Result<bool, StoreError> {
        let claimed = self.sound.claim_notice(id, tries_seen, until).await?;
        Ok(claimed || matches!(self.fault, Fault::GivesNoticesToEverybody))
    }

    async fn settle_notice(&self, id: u64, tries: u32, settled: Settled) -> Result<bool, StoreError> {
        let tries = match self.fault {
            Fault::SettlesForAnybody => {
                let pending = self.sound.pending_notices().await?;
                pending.iter().find(|notice| notice.id == id).map_or(tries, |notice| notice.tries)
            }
            _ => tries,
        };
        self.sound.settle_notice(id, tries, settled).await
    }

    async fn remove(&self, task: TaskId, guard: Guard) -> Result<(), RemoveError> {
        match self.fault {
            Fault::RemovesAnything => {
                let version = self.sound.load(task).await?.map_or(0, |stored| stored.task.version);
                self.sound.remove(task, Guard::Version(version)).await
            }
            Fault::KeepsWhatIsRemoved => Ok(()),
            _ => self.sound.remove(task, guard).await,
        }
    }

    async fn create_api_key(&self, key: ApiKey, digest: &str) -> Result<bool, StoreError> {
        self.sound.create_api_key(key, digest).await
    }

    async fn api_keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        self.sound.api_keys().await
    }

    async fn find_api_key(&self, digest: &str) -> Result<Option<ApiKey>, StoreError> {
        let found = self.sound.find_api_key(digest).await?;
        let revoked = |key: &ApiKey| key.revoked.filter(|_| !matches!(self.fault, Fault::ForgetsRevocations));
        Ok(found.map(|key| ApiKey { revoked: revoked(&key), ..key }))
    }

    async fn revoke_api_key(&self, id: &str, at: Time) -> Result<Option<ApiKey>, StoreError> {
        self.sound.revoke_api_key(id, at).await
    }

    async fn backup(&self, target: &Path) -> Result<(), StoreError> {
        if matches!(self.fault, Fault::OverwritesBackups) {
            std::fs::write(target, "copy").expect("a copy");
            return Ok(());
        }
        self.sound.backup(target).await
    }

    async fn check(&self) -> Result<Vec<Damaged>, StoreError> {
        self.sound.check().await
    }
}
