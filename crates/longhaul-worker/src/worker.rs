//! One worker process: takes its lock, commits what was handed over, claims, and keeps a hub for each task that is not in line, until there is nothing to stay for.
//! Called by `longhaul worker`. It never touches a session when it leaves: whoever comes next adopts it.

mod changes;
mod context;
mod owned_task;
mod task_loops;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_keeper::{WorkerLock, fail_point, raise_descriptor_limit};
use longhaul_store::StoreError;

pub use self::context::{Context, Watcher};
use self::task_loops::TaskLoops;
use crate::reception::take_on;
use crate::turns;
use longhaul_app::{Answer, AppError, ErrorKind, Handover, Home};

/// How a worker is to run.
#[derive(Debug, Default)]
pub struct Options {
    /// Claims no queued task but the one handed over.
    pub only: bool,
    /// Never exits on its own.
    pub stay: bool,
    /// What was handed over.
    pub handover: Option<Handover>,
}

/// Why a worker could not continue.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Its lock could not be taken.
    #[error("failed to lock the worker's lock file")]
    Lock(#[source] std::io::Error),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

impl From<WorkerError> for AppError {
    fn from(error: WorkerError) -> AppError {
        match error {
            WorkerError::Store(error) => error.into(),
            WorkerError::Lock(_) => AppError::new(ErrorKind::Failure, "the worker cannot start").because(&error),
        }
    }
}

/// Runs a worker until there is nothing to stay for, or `leave` resolves. Sessions keep running in either case.
pub async fn run(
    context: Arc<Context>,
    options: Options,
    answer: impl FnOnce(&Answer),
    leave: impl Future<Output = ()>,
) -> Result<(), WorkerError> {
    let lock = WorkerLock::take(&context.home.workers(), context.worker).map_err(WorkerError::Lock)?;
    // With the limit of before there are fewer sessions, nothing else.
    raise_descriptor_limit().ok();
    fail_point::reach("worker.locked");
    let mut hubs = TaskLoops::new(Arc::clone(&context), &options, lock);
    // Before the answer: whoever waits for this start finds the socket then.
    hubs.open_reception();
    if let Some(handover) = options.handover {
        let answered = take_on(&context, handover, context.environments.own()).await;
        let accepted = match &answered {
            Answer::Accepted { task, .. } => Some(*task),
            Answer::Refused { .. } => None,
        };
        answer(&answered);
        if let Some(task) = accepted {
            hubs.open(task).await?;
        }
    }
    sweep_dead_locks(&context.home);
    tokio::pin!(leave);
    let served = tokio::select! {
        served = hubs.serve(leave) => served,
        error = turns::serve(&context) => Err(error.into()),
    };
    if let Some(reception) = hubs.reception.take() {
        reception.abandon().await;
    }
    if served.is_ok() && hubs.tasks.is_empty() {
        return hubs.retire();
    }
    // An effect may be about to spawn a keeper. Only the end of this process proves that none will, so the lock is held until
    // then; the next worker sweeps the file.
    std::mem::forget(hubs.lock);
    served
}

/// Locks and sockets of dead workers say nothing any more: a missing lock means dead too.
fn sweep_dead_locks(home: &Home) {
    let Ok(entries) = std::fs::read_dir(home.workers()) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let left_behind = match path.extension().and_then(|end| end.to_str()) {
            Some("lock") => WorkerLock::is_dead(&path),
            Some("sock") => WorkerLock::is_dead(&path.with_extension("lock")),
            // Of a worker killed before its lock had a name; a young one may be about to take it.
            Some("tmp") if is_older_than_a_minute(&path) => WorkerLock::is_dead(&path),
            _ => Ok(false),
        };
        if left_behind.unwrap_or(false) {
            std::fs::remove_file(&path).ok();
        }
    }
}

fn is_older_than_a_minute(path: &Path) -> bool {
    let age = path.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > Duration::from_secs(60))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;
    use longhaul_app::mint_worker;

    #[test]
    fn only_locks_of_the_dead_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::create(&dir.path().join("home")).unwrap();
        let held = WorkerLock::take(&home.workers(), mint_worker()).unwrap();
        let [dead, young, old, strange] =
            ["a.lock", ".b.lock.tmp", ".c.lock.tmp", "notes"].map(|name| home.workers().join(name));
        for path in [&dead, &young, &old, &strange] {
            File::create(path).unwrap();
        }
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        sweep_dead_locks(&home);
        let left = [held.path(), &dead, &young, &old, &strange].map(Path::exists);
        assert_eq!(left, [true, false, true, false, true]);
    }
}
