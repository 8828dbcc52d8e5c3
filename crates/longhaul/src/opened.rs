//! A home and its store, opened for a verb, with what the caller may see of it.
//! Every verb begins here. Reading verbs make nothing, and only a home that is not there means "no tasks".

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_keeper::fail_point;
use longhaul_keeper::files::PrivateDirError;
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Filter, Listed, Store, Stored, Summaries};
use longhaul_worker::{Home, HomeError, release_if_gone};

use crate::error::CliError;
use crate::exit::Code;
use crate::place;
use crate::visibility::Visibility;

/// The name of the state in which a person works in the agent's conversation.
const HELD: &str = "held";

/// The home and its store.
pub(crate) struct Opened {
    pub(crate) home: Home,
    pub(crate) store: Arc<dyn Store>,
    /// Added to this shell's environment for workers that this process starts.
    pub(crate) worker_env: Vec<(&'static str, String)>,
    sight: Visibility,
}

/// Opens the store, making home and database if they are missing.
pub(crate) fn open() -> Result<Opened, CliError> {
    open_at(&place::home()?)
}

/// The same at a given place.
pub(crate) fn open_at(root: &Path) -> Result<Opened, CliError> {
    let home = Home::create(root)?;
    let store = SqliteStore::open_with_probe(home.root(), fail_point::reach)?;
    Ok(Opened::new(home, store))
}

/// Opens the store for a verb that needs a task. Makes nothing: without a database there is no task.
pub(crate) fn open_existing() -> Result<Opened, CliError> {
    let root = place::home()?;
    let store = if is_there(&root)? { SqliteStore::open_existing(&root)? } else { None };
    match store {
        Some(store) => Ok(Opened::new(Home::at(&root), store)),
        None => {
            Err(CliError::new(Code::NotFound, "there are no tasks yet").hint("start one with `longhaul run \"goal\"`"))
        }
    }
}

/// Whether there is a home, by the same rules by which one is made: a directory of its own, and ours.
fn is_there(root: &Path) -> Result<bool, HomeError> {
    let path = root.to_owned();
    let us = rustix::process::geteuid().as_raw();
    let source = match root.symlink_metadata() {
        Ok(meta) if !meta.is_dir() => PrivateDirError::NotADirectory { path },
        Ok(meta) if meta.uid() != us => PrivateDirError::ForeignOwner { path, owner: meta.uid(), us },
        Ok(_) => return Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(source) => PrivateDirError::Io { path, source },
    };
    Err(HomeError::Unfit { path: root.to_owned(), source })
}

impl Opened {
    fn new(home: Home, store: SqliteStore) -> Opened {
        let sight = Visibility::of_caller(&home);
        Opened { home, store: Arc::new(store), worker_env: Vec::new(), sight }
    }

    /// The task whose session the caller runs below, if it does.
    pub(crate) fn own_task(&self) -> Option<TaskId> {
        match self.sight {
            Visibility::Family(own) => Some(own),
            Visibility::Everything | Visibility::Nothing => None,
        }
    }

    /// The tasks that the caller may see.
    pub(crate) async fn list(&self, filter: Filter) -> Result<Listed, CliError> {
        let mut listed = self.store.list(filter).await?;
        listed.tasks.retain(|stored| self.sight.allows(&stored.task));
        for stored in listed.tasks.iter_mut().filter(|stored| stored.task.state.is_held()) {
            *stored = self.looked_at(stored.clone()).await;
        }
        listed.damaged.retain(|damaged| self.sight.allows_row(&damaged.row));
        Ok(listed)
    }

    /// What lists show of the tasks that the caller may see.
    pub(crate) async fn outlines(&self, filter: Filter) -> Result<Summaries, CliError> {
        let mut outlines = self.store.summaries(filter.clone()).await?;
        if self.gives_back(&outlines).await {
            outlines = self.store.summaries(filter).await?;
        }
        outlines.tasks.retain(|outline| self.sight.allows_outline(outline));
        outlines.damaged.retain(|damaged| self.sight.allows_row(&damaged.row));
        Ok(outlines)
    }

    /// A task that the caller may see; any other looks like none.
    pub(crate) async fn load(&self, task: TaskId) -> Result<Option<Stored>, CliError> {
        match self.store.load(task).await?.filter(|stored| self.sight.allows(&stored.task)) {
            Some(stored) => Ok(Some(self.looked_at(stored).await)),
            None => Ok(None),
        }
    }

    /// The one look at who holds a task: a person who is gone is told by whoever sees it first. Where nobody can tell, it stays held.
    async fn looked_at(&self, stored: Stored) -> Stored {
        if !place::is_person() {
            return stored;
        }
        let before = stored.clone();
        release_if_gone(&*self.store, &self.home, stored, &place::actor()).await.unwrap_or(before)
    }

    /// The same for all of a list; says whether any was given back.
    async fn gives_back(&self, outlines: &Summaries) -> bool {
        let mut given = false;
        for outline in outlines.tasks.iter().filter(|outline| outline.state == HELD) {
            // A row that cannot be read is told among the damaged ones.
            if let Ok(Some(stored)) = self.store.load(outline.task).await {
                given |= !self.looked_at(stored).await.task.state.is_held();
            }
        }
        given
    }
}
