//! Before each session: is the workspace there, is the task directory ours, is the plan as accepted? Answers `Prepared`,
//! `PlanRestored` or `CannotPrepare`.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jiff::tz::TimeZone;
use longhaul_core::task::{Actor, Cause, FileSight, Observation, Phase, Purpose, Task};
use longhaul_keeper::{Beneath, fail_point, process};

use super::{Job, exclude, keep_work, preflight};
use crate::clock::{mint_session, now};
use crate::task_dir::TaskDir;
use crate::worker::Context;
use crate::{fingerprint, floors, work_place};

pub(super) async fn prepare(job: Job) {
    let (task, context) = (job.task.clone(), job.context.clone());
    let looked = tokio::task::spawn_blocking(move || look(&task, &context)).await;
    let seen = match looked {
        Ok(Ok(seen)) => seen,
        Ok(Err(cause)) => Observation::CannotPrepare { cause },
        // The look itself panicked; the hub must not hang on it.
        Err(error) => Observation::CannotPrepare { cause: Cause::Workspace { why: error.to_string() } },
    };
    fail_point::reach(match seen {
        Observation::Placed { .. } => "worker.placed",
        _ => "worker.prepared",
    });
    job.answer(seen, Actor::workspace()).await;
}

fn look(task: &Task, context: &Context) -> Result<Observation, Cause> {
    variables(&task.submission.needs_env)?;
    if task.phase() != Phase::Verify {
        preflight::check(task.next_agent(now()), &task.submission, context.home.root())?;
    }
    floors::check(task, &context.home)?;
    let Some(workspace) = &task.workspace else {
        directory(Path::new(&task.submission.project))?;
        directory(Path::new(&task.submission.workspace))?;
        return Ok(Observation::Placed { workspace: work_place::make(task, &context.home)? });
    };
    let root = Path::new(&workspace.root);
    directory(root)?;
    directory(Path::new(&workspace.cwd))?;
    let found = work_place::find(workspace, &context.home)?;
    let dir = TaskDir::open(task)?;
    other_runner(&dir)?;
    exclude::keep_out_of_git(root);
    if let Some(restore) = &task.restore {
        dir.restore(restore)?;
        return Ok(Observation::PlanRestored);
    }
    let purpose = if task.phase() == Phase::Verify { Purpose::Check } else { Purpose::Work };
    keep_work::before(&found, task, purpose);
    let tree = found.repository().and_then(|repository| keep_work::tree_of(repository, purpose));
    let files = expected(task);
    let phase = Some(task.phase());
    let opens = task.submission.hours.and_then(|hours| hours.opens(now(), &TimeZone::system()));
    Ok(Observation::Prepared { session: mint_session(), plan: dir.sight(), tree, phase, files, opens })
}

/// The expected files, when every step is ticked and the result is about to be verified.
fn expected(task: &Task) -> Vec<FileSight> {
    if task.phase() != Phase::Verify {
        return Vec::new();
    }
    let see = |path: &String| FileSight { path: path.clone(), sha256: hash(Path::new(task.cwd()), path) };
    task.submission.expects.iter().map(see).collect()
}

fn hash(root: &Path, path: &str) -> Option<String> {
    let file = Beneath::open(root).ok()?.open_file(path).ok()??;
    fingerprint::of_reader(file).ok()
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
