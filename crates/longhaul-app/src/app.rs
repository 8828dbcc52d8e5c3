//! A home and its store, opened for a front end, and one call to it: who calls, and what they may see.
//! Every operation begins here. Opening for reading makes nothing, and only a home that does not exist means "no tasks".

use std::io::ErrorKind as IoErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use longhaul_core::ids::TaskId;
use longhaul_core::time::Time;
use longhaul_keeper::fail_point;
use longhaul_keeper::files::PrivateDirError;
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Filter, History, Listed, Salvaged, Store, Stored, StoredEvent, Summaries, WholeStore};

use crate::caller::{Caller, Visibility};
use crate::damage::Damage;
use crate::error::{AppError, ErrorKind};
use crate::hold::{is_abandoned, release_if_gone};
use crate::home::{Home, HomeError};
use crate::processes::System;

/// A home, its store, and what the front end passed in. Nothing is opened before an operation needs it.
pub struct App {
    /// Where everything is kept.
    pub home: Home,
    store: OnceLock<Arc<dyn WholeStore>>,
    /// What the front end passed in.
    pub system: System,
}

impl App {
    /// The home at this place, whether it exists or not.
    pub fn new(root: &Path, system: System) -> App {
        App { home: Home::at(root), store: OnceLock::new(), system }
    }

    /// Makes home and database if they are missing.
    pub fn create(&self) -> Result<(), AppError> {
        if self.store.get().is_none() {
            Home::create(self.home.root())?;
            let store = SqliteStore::open_with_probe(self.home.root(), fail_point::reach)?;
            self.store.get_or_init(|| Arc::new(store));
        }
        Ok(())
    }

    /// The store as this caller may use it: bound to the caller's tenant, or to that of the task whose session the caller runs below.
    pub fn store_for(&self, caller: &Caller) -> Result<Arc<dyn Store>, AppError> {
        let whole = self.whole_store()?;
        let tenant = match Visibility::of(&caller.actor, &self.home) {
            Visibility::Family(own) => whole.tenant_of(own)?,
            Visibility::Everything | Visibility::Nothing => None,
        };
        Ok(whole.of_tenant(&tenant.unwrap_or_else(|| caller.tenant.clone())))
    }

    /// The store of every tenant, for workers and for operations on the whole home; `cargo xtask check` knows which files these are. Makes
    /// nothing: without a database there are no tasks.
    pub fn whole_store(&self) -> Result<&Arc<dyn WholeStore>, AppError> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let root = self.home.root();
        let existing = if exists(root)? { SqliteStore::open_existing(root)? } else { None };
        match existing {
            Some(store) => Ok(self.store.get_or_init(|| Arc::new(store))),
            None => Err(AppError::new(ErrorKind::NotFound, "there are no tasks yet")
                .hint("start one with `longhaul run \"goal\"`")),
        }
    }
}

/// Whether there is a home, by the same rules by which one is made: a directory of its own, and ours.
fn exists(root: &Path) -> Result<bool, HomeError> {
    let path = root.to_owned();
    let us = rustix::process::geteuid().as_raw();
    let source = match root.symlink_metadata() {
        Ok(meta) if !meta.is_dir() => PrivateDirError::NotADirectory { path },
        Ok(meta) if meta.uid() != us => PrivateDirError::ForeignOwner { path, owner: meta.uid(), us },
        Ok(_) => return Ok(true),
        Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(false),
        Err(source) => PrivateDirError::Io { path, source },
    };
    Err(HomeError::Unfit { path: root.to_owned(), source })
}

/// One call: the application, who calls, and what they may see.
#[derive(Clone)]
pub struct Call {
    /// The home and its store.
    pub app: Arc<App>,
    /// Who calls.
    pub caller: Caller,
    /// The client's own id for this request, if it has one.
    pub(crate) request_id: Option<String>,
    visibility: Visibility,
    reach: Reach,
    store: OnceLock<Arc<dyn Store>>,
    damage: Damage,
}

/// Whose tasks a call can reach.
#[derive(Clone, Copy)]
enum Reach {
    OwnTenant,
    AllTenants,
}

impl Call {
    /// A call of this caller.
    pub fn new(app: Arc<App>, caller: Caller) -> Call {
        let visibility = Visibility::of(&caller.actor, &app.home);
        Call {
            app,
            caller,
            request_id: None,
            visibility,
            reach: Reach::OwnTenant,
            store: OnceLock::new(),
            damage: Damage::default(),
        }
    }

    /// The same for one request that its client has an id for: a repeat with the same id is answered and not carried out again.
    #[must_use]
    pub fn of_request(&self, id: Option<String>) -> Call {
        Call { request_id: id, ..self.clone() }
    }

    /// The home.
    pub fn home(&self) -> &Home {
        &self.app.home
    }

    /// The time by the clock that the front end passed in.
    pub fn now(&self) -> Time {
        (self.app.system.clock)()
    }

    /// The same call with the tasks of every tenant, for operations on the whole home.
    pub(crate) fn of_all_tenants(&self) -> Call {
        Call { reach: Reach::AllTenants, store: OnceLock::new(), ..self.clone() }
    }

    /// The store as the caller may use it.
    pub fn store(&self) -> Result<&dyn Store, AppError> {
        if let Some(store) = self.store.get() {
            return Ok(&**store);
        }
        let store = match self.reach {
            Reach::OwnTenant => self.app.store_for(&self.caller)?,
            Reach::AllTenants => Arc::<dyn WholeStore>::clone(self.app.whole_store()?),
        };
        Ok(&**self.store.get_or_init(|| store))
    }

    /// The task whose session the caller runs below, if it does.
    pub fn own_task(&self) -> Option<TaskId> {
        match self.visibility {
            Visibility::Family(own) => Some(own),
            Visibility::Everything | Visibility::Nothing => None,
        }
    }

    /// The tasks that the caller may see.
    pub async fn list(&self, filter: Filter) -> Result<Listed, AppError> {
        let Some(filter) = self.visible(filter) else { return Ok(Listed::default()) };
        let mut listed = self.store()?.list(filter).await?;
        listed.damaged.retain(|damaged| self.visibility.allows_row(&damaged.row));
        Ok(listed)
    }

    /// What lists show of the tasks that the caller may see.
    pub async fn summaries(&self, filter: Filter) -> Result<Summaries, AppError> {
        let Some(filter) = self.visible(filter) else { return Ok(Summaries::default()) };
        let mut summaries = self.store()?.summaries(filter).await?;
        summaries.damaged.retain(|damaged| self.visibility.allows_row(&damaged.row));
        Ok(summaries)
    }

    /// The filter without what the caller may not see, so that pages and limits count visible tasks; none if that is everything.
    fn visible(&self, filter: Filter) -> Option<Filter> {
        match self.visibility {
            Visibility::Everything => Some(filter),
            Visibility::Family(own) => Some(Filter { family_of: Some(own), ..filter }),
            Visibility::Nothing => None,
        }
    }

    /// A task that the caller may see; any other looks like none.
    pub async fn load(&self, task: TaskId) -> Result<Option<Stored>, AppError> {
        Ok(self.store()?.load(task).await?.filter(|stored| self.visibility.allows(&stored.task)))
    }

    /// A task that the caller may see, for showing: what can be read of it. What cannot is a warning of the answer.
    pub async fn read(&self, task: TaskId) -> Result<Option<Stored>, AppError> {
        match self.load(task).await {
            Err(error) if error.kind == ErrorKind::Damaged => {}
            loaded => return loaded,
        }
        let Some(Salvaged { stored, damaged }) = self.store()?.salvage(task).await? else { return Ok(None) };
        if !self.visibility.allows(&stored.task) {
            return Ok(None);
        }
        self.damage.add(damaged);
        Ok(Some(stored))
    }

    /// The newest events of a task that can be read; see the store. What cannot is a warning of the answer.
    pub(crate) async fn newest_events(
        &self,
        task: TaskId,
        kinds: &[&str],
        limit: u32,
    ) -> Result<Vec<StoredEvent>, AppError> {
        let History { events, damaged } = self.store()?.newest_events(task, kinds, limit).await?;
        self.damage.add(damaged);
        Ok(events)
    }

    /// The same call without what was found so far: one for each answer.
    pub(crate) fn fresh(&self) -> Call {
        Call { damage: Damage::default(), ..self.clone() }
    }

    /// What was found damaged on the way to an answer, in a sentence.
    pub(crate) fn damage(&self) -> Option<String> {
        self.damage.sentence()
    }

    /// Whether a person held the task and is gone. Only looks.
    pub(crate) fn is_abandoned(&self, stored: &Stored) -> bool {
        stored.task.state.is_held() && is_abandoned(self.home(), stored.task.id)
    }

    /// The task, released if the person who held it is gone. For operations that change it: reading commits nothing.
    pub async fn released(&self, stored: Stored) -> Result<Stored, AppError> {
        if !self.caller.is_person() || !stored.task.state.is_held() {
            return Ok(stored);
        }
        let held = stored.clone();
        // If nobody can tell whether the person is gone, the task stays held.
        let released = release_if_gone(self.store()?, self.app.system.clock, self.home(), stored, &self.caller.actor);
        Ok(released.await.unwrap_or(held))
    }
}
