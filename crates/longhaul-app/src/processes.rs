//! How processes are started: passed in by whoever runs the application, because the application itself starts none.
//! The command line starts detached workers; a server that is a worker can take a hand-over itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::task::Target;
use longhaul_keeper::Environment;

use crate::app::App;
use crate::clock::Clock;
use crate::error::AppError;
use crate::handover::{Answer, Handover};

/// What a front end passes in: the variables of its process, its clock, and how it starts other processes.
#[derive(Clone)]
pub struct System {
    /// The time of every call.
    pub clock: Clock,
    /// The variables that tasks handed over from here run with.
    pub environment: Environment,
    /// How processes are started.
    pub processes: Arc<dyn Processes>,
}

/// How a worker that is started behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewWorker {
    /// It adopts what dead workers left, but claims no task that nobody owned.
    pub only: bool,
    /// It stays when there is nothing to do.
    pub stay: bool,
}

/// Starts processes for the application.
pub trait Processes: Send + Sync {
    /// Starts a detached worker of this home; returns its process id.
    fn start_worker(&self, app: &App, worker: NewWorker) -> Result<u32, AppError>;

    /// Starts a worker, hands it one input and waits for its answer.
    fn start_worker_for(&self, app: &App, handover: &Handover) -> Result<Reply, AppError>;

    /// Asks a program something that it answers at once. What it starts besides ends with it.
    fn ask(&self, program: &Path, arguments: &[&str], patience: Duration) -> Asked;

    /// Sends a test message to someone who is notified about tasks, within this time; waits for the result.
    fn notify(&self, _app: &App, _target: &Target, _within: Duration) -> Result<(), String> {
        Err("this program delivers no notices".to_owned())
    }

    /// The service of ours that starts a worker at boot or login, if one is installed for whoever has these variables.
    fn boot_service(&self, environment: &Environment) -> Result<Option<BootService>, AppError>;
}

/// A service that starts a worker at boot or login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootService {
    /// Its kind, place and state, in words.
    pub facts: String,
    /// Whether it is exactly what would be installed now.
    pub is_current: bool,
    /// Whether it is enabled and running, as far as known.
    pub is_active: bool,
    /// Whether it runs only while its user is logged in or lingers.
    pub needs_login: bool,
}

/// What came back from a worker that was handed something.
pub enum Reply {
    /// Its one line.
    Answer(Answer),
    /// It ended without one: whether anything was committed, only the store can tell.
    Silence,
}

/// What came of asking a program something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It succeeded and printed this.
    Said(String),
    /// It said no.
    Failed,
    /// It did not end in time.
    Late,
    /// It cannot be run.
    Unknown,
}
