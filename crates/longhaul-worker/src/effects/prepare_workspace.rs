//! Before each session: is the workspace there, is the task directory ours, is the plan as accepted? Answers `Prepared`,
//! `PlanRestored` or `CannotPrepare`.

use std::path::Path;

use jiff::tz::TimeZone;
use longhaul_core::task::{Actor, Cause, FileSight, Observation, Phase, Purpose, Task};
use longhaul_keeper::{Beneath, fail_point};

use super::{Job, exclude, keep_work, preflight};
use crate::clock::{mint_session, now};
use crate::task_dir::{ShellLock, TaskDir};
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
    match dir.shell_lock() {
        ShellLock::None | ShellLock::Stale(_) => {}
        ShellLock::Living(pid) => return Err(Cause::OtherRunner { pid: Some(pid) }),
        ShellLock::Unnamed => return Err(Cause::OtherRunner { pid: None }),
    }
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
    let saved = if task.submission.driver.is_runner() { dir.conversation() } else { None };
    Ok(Observation::Prepared { session: mint_session(), plan: dir.sight(), tree, phase, files, opens, saved })
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
