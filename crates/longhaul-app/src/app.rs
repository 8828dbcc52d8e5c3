//! A home and its store, opened for a front end, and one call to it: who calls, and what they may see.
//! Every operation begins here. Opening for reading makes nothing, and only a home that does not exist means "no tasks".

use std::io::ErrorKind as IoErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::task::State;
use longhaul_keeper::fail_point;
use longhaul_keeper::files::PrivateDirError;
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Filter, Listed, Store, Stored, Summaries};

use crate::caller::{Caller, Visibility};
use crate::error::{AppError, ErrorKind};
use crate::hold::release_if_gone;
use crate::home::{Home, HomeError};
use crate::processes::System;

/// A home, its store, and what the front end passed in.
pub struct App {
    pub home: Home,
    store: Arc<dyn Store>,
    pub system: System,
}

impl App {
    /// Opens the store, making home and database if they are missing.
    pub fn open(root: &Path, system: System) -> Result<App, AppError> {
        let home = Home::create(root)?;
        let store = SqliteStore::open_with_probe(home.root(), fail_point::reach)?;
        Ok(App { home, store: Arc::new(store), system })
    }

    /// Opens the store for an operation that needs a task. Makes nothing: without a database there is no task.
    pub fn open_existing(root: &Path, system: System) -> Result<App, AppError> {
        let store = if exists(root)? { SqliteStore::open_existing(root)? } else { None };
        match store {
            Some(store) => Ok(App { home: Home::at(root), store: Arc::new(store), system }),
            None => Err(AppError::new(ErrorKind::NotFound, "there are no tasks yet")
                .hint("start one with `longhaul run \"goal\"`")),
        }
    }

    /// The store as this caller may use it. The tenant will be bound here.
    pub fn store_for(&self, _caller: &Caller) -> &Arc<dyn Store> {
        &self.store
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
    pub app: Arc<App>,
    pub caller: Caller,
    visibility: Visibility,
}

impl Call {
    /// A call of this caller.
    pub fn new(app: Arc<App>, caller: Caller) -> Call {
        let visibility = Visibility::of(&caller.actor, &app.home);
        Call { app, caller, visibility }
    }

    /// The home.
    pub fn home(&self) -> &Home {
        &self.app.home
    }

    /// The store as the caller may use it.
    pub fn store(&self) -> &dyn Store {
        &**self.app.store_for(&self.caller)
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
        let mut listed = self.store().list(filter).await?;
        listed.tasks.retain(|stored| self.visibility.allows(&stored.task));
        for stored in listed.tasks.iter_mut().filter(|stored| stored.task.state.is_held()) {
            *stored = self.looked_at(stored.clone()).await;
        }
        listed.damaged.retain(|damaged| self.visibility.allows_row(&damaged.row));
        Ok(listed)
    }

    /// What lists show of the tasks that the caller may see.
    pub async fn outlines(&self, filter: Filter) -> Result<Summaries, AppError> {
        let mut outlines = self.store().summaries(filter.clone()).await?;
        if self.gives_back(&outlines).await {
            outlines = self.store().summaries(filter).await?;
        }
        outlines.tasks.retain(|outline| self.visibility.allows_outline(outline));
        outlines.damaged.retain(|damaged| self.visibility.allows_row(&damaged.row));
        Ok(outlines)
    }

    /// A task that the caller may see; any other looks like none.
    pub async fn load(&self, task: TaskId) -> Result<Option<Stored>, AppError> {
        match self.store().load(task).await?.filter(|stored| self.visibility.allows(&stored.task)) {
            Some(stored) => Ok(Some(self.looked_at(stored).await)),
            None => Ok(None),
        }
    }

    /// The one look at who holds a task: a person who is gone is told by whoever sees it first. Where nobody can tell, it stays held.
    async fn looked_at(&self, stored: Stored) -> Stored {
        if !self.caller.is_person() {
            return stored;
        }
        let before = stored.clone();
        release_if_gone(self.store(), self.home(), stored, &self.caller.actor).await.unwrap_or(before)
    }

    /// The same for all of a list; says whether any was given back.
    async fn gives_back(&self, outlines: &Summaries) -> bool {
        let mut given = false;
        for outline in outlines.tasks.iter().filter(|outline| outline.state == State::HELD) {
            // A row that cannot be read is told among the damaged ones.
            if let Ok(Some(stored)) = self.store().load(outline.task).await {
                given |= !self.looked_at(stored).await.task.state.is_held();
            }
        }
        given
    }
}
