//! Before each session: is it this task's turn, is the workspace there, is the task directory ours, is the plan as accepted?
//! Answers `Prepared`, `Placed`, `AccountsLimited`, `PlanRestored` or `CannotPrepare`.

use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use longhaul_core::check_files;
use longhaul_core::task::{
    Actor, Basis, Cause, Checkout, FileHash, NameList, Observation, Phase, Remarks, Round, Task,
};
use longhaul_keeper::process::boot_id;
use longhaul_keeper::{Beneath, Environment, fail_point};

use super::{Job, Outcome, account, keep_work, preflight};
use crate::turns::Answer;
use crate::work_place;
use crate::work_place::OpenedWorkspace;
use longhaul_app::{ShellLock, check_floors, checkouts, mint_session, now};

pub(super) async fn prepare(mut job: Job) -> Outcome {
    // First, so that a task whose account is limited is not in line.
    if let Some(seen) = account::limits_of_others(&job).await {
        job.answer(seen, Actor::worker()).await;
        return Outcome::Over;
    }
    match turn(&job).await {
        Some(task) => job.task = task,
        None => return Outcome::InLine,
    }
    let permit = job.context.inspections.acquire().await;
    let inspecting = job.clone();
    let inspected = tokio::task::spawn_blocking(move || inspect(&inspecting)).await;
    drop(permit);
    let seen = match inspected {
        Ok(Ok(seen)) => seen,
        Ok(Err(cause)) => Observation::CannotPrepare { cause },
        // It panicked; the hub must not hang on it.
        Err(error) => Observation::CannotPrepare { cause: Cause::Workspace { why: error.to_string() } },
    };
    let is_placed = matches!(seen, Observation::Placed { .. });
    fail_point::reach(if is_placed { "worker.placed" } else { "worker.prepared" });
    job.answer(seen, Actor::workspace()).await;
    Outcome::Over
}

/// The task, if it is its turn to start a session: as it is now, because a person may have changed it meanwhile. An invocation of the
/// runner waits for nobody.
async fn turn(job: &Job) -> Option<Arc<Task>> {
    if !job.task.submission.driver.conduct().takes_turns {
        return Some(Arc::clone(&job.task));
    }
    match job.context.line.ask(job.task.id).await {
        Answer::Now => {}
        Answer::NotYet => return None,
    }
    match job.context.store.load(job.task.id).await {
        Ok(Some(stored)) => Some(Arc::new(stored.task)),
        // The hub meets the same store and reports it.
        Ok(None) | Err(_) => Some(Arc::clone(&job.task)),
    }
}

fn inspect(job: &Job) -> Result<Observation, Cause> {
    let (task, context) = (&*job.task, &*job.context);
    variables(&task.submission.needs_env, &job.environment)?;
    if task.phase() != Phase::Verify {
        preflight::check(task.next_agent(now()), &task.submission, context.home.root(), &job.environment)?;
    }
    check_floors(task, &context.home)?;
    let Some(workspace) = &task.workspace else {
        directory(Path::new(&task.submission.project))?;
        directory(Path::new(&task.submission.workspace))?;
        return Ok(Observation::Placed { workspace: work_place::make(task, &context.home, &job.environment)? });
    };
    let root = Path::new(&workspace.root);
    directory(root)?;
    directory(Path::new(&workspace.cwd))?;
    let found = work_place::find(task.author_of_work(), workspace, &context.home)?;
    let dir = job.task_dir()?;
    match dir.shell_lock() {
        ShellLock::None | ShellLock::Stale(_) => {}
        ShellLock::Living(pid) => return Err(Cause::OtherRunner { pid: Some(pid) }),
        ShellLock::Unnamed => return Err(Cause::OtherRunner { pid: None }),
    }
    longhaul_git::keep_out_of_git(root);
    if let Some(restore) = &task.restore {
        dir.restore(restore)?;
        return Ok(Observation::PlanRestored);
    }
    let (tree, basis) = match task.phase() {
        Phase::Verify => before_checks(job, &found)?,
        Phase::Plan | Phase::Work => (keep_work::before_session(&found, task)?, Basis::default()),
    };
    let files = expected(task, basis.checkout.as_ref().map_or(task.cwd(), |checkout| &checkout.cwd));
    let phase = Some(task.phase());
    let opens = task.submission.hours.and_then(|hours| hours.opens(now(), &TimeZone::system()));
    let saved = if task.submission.driver.conduct().keeps_conversation_file { dir.conversation() } else { None };
    let (session, plan, basis) = (mint_session(), dir.sight(), Box::new(basis));
    Ok(Observation::Prepared { session, plan, tree, phase, files, basis, opens, saved })
}

/// The tree that checks are about, and what a round rests on: that of the open one, or that of a new one.
fn before_checks(job: &Job, found: &OpenedWorkspace) -> Result<(Option<String>, Basis), Cause> {
    let task = &*job.task;
    let boot = boot_id().ok();
    let is_there = |checkout: &Checkout| Path::new(&checkout.cwd).is_dir();
    let open = task.round.as_ref().filter(|round| round.is_open() && round.basis.boot == boot);
    let open = open.filter(|round| round.basis.checkout.as_ref().is_none_or(is_there));
    if let (OpenedWorkspace::Ours(worktree), None) = (found, open) {
        worktree
            .repository()
            .clear_left_by_checks(task.author_of_work())
            .map_err(|error| longhaul_app::unfit(&error))?;
    }
    if task.needs_comparison() {
        return before_comparison(job, found, boot, open);
    }
    let (tree, basis) = keep_work::before_checks(found, task)?;
    let basis = with_conflicts(task, found, tree.as_ref(), basis)?;
    if !task.submission.can_be_verified() || basis.problem.is_some() {
        return Ok((tree, basis));
    }
    if let Some(round) = open {
        return Ok((tree, Basis { boot, checkout: round.basis.checkout.clone(), ..basis }));
    }
    // What is ignored in the workspace is not there in a clean checkout, unless it was copied.
    let (checkout, ignored) = match checkout(job, found, tree.as_ref())? {
        Some((checkout, copied)) => (Some(checkout), copied),
        None => (None, basis.remarks.ignored),
    };
    let check_files = changed_check_files(task, found, tree.as_ref()).unwrap_or_default();
    let remarks = Remarks { ignored, check_files, ..basis.remarks };
    Ok((tree, Basis { boot, checkout, remarks, ..basis }))
}

/// What a round rests on that runs on the branch to land on alone: a clean checkout of it.
fn before_comparison(
    job: &Job,
    found: &OpenedWorkspace,
    boot: Option<String>,
    open: Option<&Round>,
) -> Result<(Option<String>, Basis), Cause> {
    let (task, home) = (&*job.task, &job.context.home);
    let basis = Basis { on_target: true, boot, ..Basis::default() };
    if let Some(round) = open.filter(|round| round.basis.on_target) {
        return Ok((round.tree.clone(), Basis { checkout: round.basis.checkout.clone(), ..basis }));
    }
    let (Some(repository), Some(merging)) = (found.repository(), &task.merging) else { return Ok((None, basis)) };
    let target = merging.merge.target.parse().map_err(|error| longhaul_app::unfit(&error))?;
    let tree = repository.tree_of_commit(&target).map_err(|error| longhaul_app::unfit(&error))?;
    let (checkout, _) = checkouts::make_at(task, home, &job.environment, repository, &target)?;
    Ok((Some(tree.as_str().to_owned()), Basis { checkout: Some(checkout), ..basis }))
}

/// No check is worth running while files contain both versions of a conflict. That is known by the markers, and before anybody has worked on
/// the merge by what git reported.
fn with_conflicts(task: &Task, found: &OpenedWorkspace, tree: Option<&String>, basis: Basis) -> Result<Basis, Cause> {
    let (Some(merging), Some(order)) = (&task.merging, task.order()) else { return Ok(basis) };
    let (Some(repository), Some(tree)) = (found.repository(), tree) else { return Ok(basis) };
    if merging.merge.conflicts.is_empty() || basis.problem.is_some() {
        return Ok(basis);
    }
    let failed = |error| longhaul_app::unfit(&error);
    let commit = merging.merge.commit.parse().map_err(|error| longhaul_app::unfit(&error))?;
    let is_as_merged = repository.tree_of_commit(&commit).map_err(failed)?.as_str() == tree;
    let left = match is_as_merged {
        true => merging.merge.conflicts.clone(),
        false => repository.conflict_markers(tree, &merging.merge.conflicts).map_err(failed)?,
    };
    Ok(Basis { problem: conflict(&left, &order.onto), ..basis })
}

/// What a fixing session is to do about conflicts.
fn conflict(paths: &[String], onto: &str) -> Option<String> {
    let names: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    (!paths.is_empty()).then(|| {
        format!(
            "conflicts with `{onto}`, onto which this work is to land, in {}. Text files contain both versions between lines that begin with \
             <<<<<<< and >>>>>>>: keep what each side intended and remove these lines. Where one side deleted a file or both added one, decide \
             which is right",
            names.join(", ")
        )
    })
}

/// The clean checkout for a new round, where one is wanted and git can make it.
fn checkout(job: &Job, found: &OpenedWorkspace, tree: Option<&String>) -> Result<Option<(Checkout, NameList)>, Cause> {
    let (task, home) = (&*job.task, &job.context.home);
    match (found.repository(), tree) {
        (Some(repository), Some(tree)) if task.submission.checks_clean() => {
            checkouts::make(task, home, &job.environment, repository, tree).map(Some)
        }
        (None | Some(_), _) => Ok(None),
    }
}

/// None where git cannot tell.
fn changed_check_files(task: &Task, found: &OpenedWorkspace, tree: Option<&String>) -> Option<NameList> {
    let base = task.workspace.as_ref()?.base.as_ref().and_then(|base| base.parse().ok());
    let paths = found.repository()?.changed_paths(base.as_ref(), tree?).ok()?;
    let directory = Path::new(task.cwd()).strip_prefix(task.root()).ok()?.to_string_lossy();
    Some(check_files::changed(paths.iter().map(String::as_str), &directory, &task.submission.commands()))
}

/// The expected files, when every step is ticked and the result is about to be verified.
fn expected(task: &Task, directory: &str) -> Vec<FileHash> {
    if task.phase() == Phase::Verify { hash_expected(task, directory) } else { Vec::new() }
}

/// The expected files in a directory.
pub(super) fn hash_expected(task: &Task, directory: &str) -> Vec<FileHash> {
    let see = |path: &String| FileHash { path: path.clone(), sha256: hash(Path::new(directory), path) };
    task.submission.expects.iter().map(see).collect()
}

fn hash(root: &Path, path: &str) -> Option<String> {
    let file = Beneath::open(root).ok()?.open_file(path).ok()??;
    longhaul_core::fingerprint::of_reader(file).ok()
}

fn variables(names: &[String], environment: &Environment) -> Result<(), Cause> {
    match names.iter().find(|name| environment.get(name).is_none()) {
        Some(name) => Err(Cause::Variable { name: name.clone() }),
        None => Ok(()),
    }
}

fn directory(path: &Path) -> Result<(), Cause> {
    let unfit = |why: String| Cause::Workspace { why: format!("{}: {why}", path.display()) };
    let meta = path.metadata().map_err(|error| unfit(error.to_string()))?;
    if meta.is_dir() { Ok(()) } else { Err(unfit("not a directory".into())) }
}
