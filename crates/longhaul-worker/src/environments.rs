//! The environments of tasks: that of the shell that handed a task over, its parent's for a child, or this worker's own for a task it
//! adopted.
//! Kept in memory only, because values may be secrets.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use longhaul_core::ids::LeaseId;
use longhaul_keeper::Environment;

/// The environments of tasks that were handed over, by the lease that the hand-over took. A task without one was adopted.
#[derive(Debug)]
pub(crate) struct Environments {
    own: Environment,
    handed_over: Mutex<HashMap<LeaseId, Environment>>,
}

impl Environments {
    pub(crate) fn new() -> Environments {
        Environments { own: Environment::of_process(), handed_over: Mutex::default() }
    }

    /// This process's own.
    pub(crate) fn own(&self) -> &Environment {
        &self.own
    }

    /// What a task runs with under this lease.
    pub(crate) fn of(&self, lease: LeaseId) -> Environment {
        self.lock().get(&lease).unwrap_or(&self.own).clone()
    }

    pub(crate) fn keep(&self, lease: LeaseId, environment: Environment) {
        let mut kept = self.lock();
        // Many tasks of one shell share one copy.
        let same = kept.values().chain([&self.own]).find(|other| **other == environment).cloned();
        kept.insert(lease, same.unwrap_or(environment));
    }

    pub(crate) fn forget(&self, lease: LeaseId) {
        self.lock().remove(&lease);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LeaseId, Environment>> {
        self.handed_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
