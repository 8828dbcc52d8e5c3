//! Before each session: is the workspace there, is the task directory ours, is the plan as accepted? Answers `Prepared`,
//! `PlanRestored` or `CannotPrepare`.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use longhaul_core::task::{Actor, Cause, Observation, Task};
use longhaul_keeper::{fail_point, process};

use super::{Job, exclude};
use crate::clock::mint_session;
use crate::task_dir::TaskDir;

pub(super) async fn prepare(job: Job) {
    let task = job.task.clone();
    let looked = tokio::task::spawn_blocking(move || look(&task)).await;
    let seen = match looked {
        Ok(Ok(seen)) => seen,
        Ok(Err(cause)) => Observation::CannotPrepare { cause },
        // The look itself panicked; the hub must not hang on it.
        Err(error) => Observation::CannotPrepare { cause: Cause::Workspace { why: error.to_string() } },
    };
    fail_point::reach("worker.prepared");
    job.answer(seen, Actor::workspace()).await;
}

fn look(task: &Task) -> Result<Observation, Cause> {
    let submission = &task.submission;
    variables(&submission.needs_env)?;
    directory(Path::new(&submission.workspace))?;
    let project = Path::new(&submission.project);
    directory(project)?;
    let dir = TaskDir::open(project, submission.name.as_ref())?;
    other_runner(&dir)?;
    exclude::keep_out_of_git(project);
    if let Some(restore) = &task.restore {
        dir.restore(restore)?;
        return Ok(Observation::PlanRestored);
    }
    Ok(Observation::Prepared { session: mint_session(), plan: dir.sight() })
}

fn variables(names: &[String]) -> Result<(), Cause> {
    match names.iter().find(|name| std::env::var_os(name).is_none()) {
        Some(name) => Err(Cause::Variable { name: name.clone() }),
        None => Ok(()),
    }
}

fn directory(path: &Path) -> Result<(), Cause> {
    let unfit = |why: String| Cause::Workspace { why: format!("{}: {why}", path.display()) };
    let meta = path.metadata().map_err(|error| unfit(error.to_string()))?;
    if meta.is_dir() { Ok(()) } else { Err(unfit("not a directory".into())) }
}

/// The existing shell runner's lock counts only while its process lives; one that began after the lock was made is another.
/// A stale one is announced with the next session and left alone.
fn other_runner(dir: &TaskDir) -> Result<(), Cause> {
    let Some(pid) = dir.other_runner() else { return Ok(()) };
    let made = dir.path().join(".runner.lock").symlink_metadata().map_or(0, |meta| meta.mtime());
    let began = Path::new("/proc").join(pid.to_string()).symlink_metadata().map_or(0, |meta| meta.mtime());
    let lives = matches!(process::start_time(pid), Ok(Some(_))) && began <= made;
    if lives { Err(Cause::OtherRunner { pid }) } else { Ok(()) }
}
