//! What crashes left behind and no task knows: session directories, locks of dead workers, half-written files of ours.
//! Called by `gc` after the tasks. Only what is at least a day old, so that nothing that is just being made is taken for left behind.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::Home;
use longhaul_core::ids::{SessionId, TaskId, WorkerId};
use longhaul_keeper::{Discarded, WorkerLock, discard_file, discard_session, temporary_of};
use longhaul_store::Filter;

use super::Mode;
use super::removal::{not_ours, unusable};
use crate::app::Call;
use crate::error::AppError;
use crate::session::on_disk::{OnDisk, SessionOnDisk};
use crate::session::recorded::recorded;
use crate::views::Sweep;

pub(super) const DAY: Duration = Duration::from_secs(86_400);
const MINUTE: Duration = Duration::from_secs(60);

/// Files in the home that are replaced as a whole, and so may leave a half-written one.
const REPLACED: [&str; 2] = ["session-cap", "trust.toml"];

/// Sweeps everything that belongs to no task.
pub(super) async fn sweep(call: &Call, mode: Mode, on_disk: &OnDisk, swept: &mut Sweep) -> Result<(), AppError> {
    for name in &on_disk.strange {
        swept.leave(format!("sessions/{name}"), "not ours".to_owned());
    }
    for session in unknown(call, on_disk).await? {
        sweep_session(call.home(), mode, session, swept);
    }
    sweep_files(&call.home().workers(), "workers/", mode, swept, |name, path| {
        let lock = is_dead_lock(name, path).then_some("lock of a dead worker");
        lock.or(is_dead_socket(name, path).then_some("socket of a dead worker"))
    });
    sweep_files(call.home().root(), "", mode, swept, |name, path| {
        let is_ours = temporary_of(name).is_some_and(|base| REPLACED.contains(&base));
        (is_ours && is_older(path, DAY)).then_some("half-written file")
    });
    Ok(())
}

/// The old session directories of no task.
async fn unknown<'a>(call: &Call, on_disk: &'a OnDisk) -> Result<Vec<&'a SessionOnDisk>, AppError> {
    let tasks: HashSet<TaskId> =
        call.store()?.summaries(Filter::default()).await?.tasks.iter().map(|outline| outline.task).collect();
    let is_stranger = |session: &&SessionOnDisk| session.task.is_none_or(|task| !tasks.contains(&task));
    let is_old = |session: &&SessionOnDisk| age(session.files.changed) >= DAY;
    let mut found: Vec<&SessionOnDisk> = on_disk.sessions.iter().filter(is_stranger).filter(is_old).collect();
    // One without a readable spec may still be named of by a task's events.
    if found.iter().any(|session| session.task.is_none()) {
        let named = sessions_recorded(call, &tasks).await?;
        found.retain(|session| !named.contains(&session.id));
    }
    Ok(found)
}

async fn sessions_recorded(call: &Call, tasks: &HashSet<TaskId>) -> Result<HashSet<SessionId>, AppError> {
    let mut named = HashSet::new();
    for task in tasks {
        named.extend(recorded(call, *task).await?.into_iter().map(|record| record.run.id));
    }
    Ok(named)
}

fn sweep_session(home: &Home, mode: Mode, session: &SessionOnDisk, swept: &mut Sweep) {
    let name = format!("sessions/{}", session.id);
    let answer = match mode {
        Mode::DryRun if session.files.strange.is_empty() => Ok(Discarded::Gone { bytes: session.files.bytes }),
        Mode::DryRun => Ok(Discarded::Strange { names: session.files.strange.clone() }),
        Mode::Really => discard_session(&home.sessions(), session.id),
    };
    match answer {
        Ok(Discarded::Gone { bytes }) => swept.orphan(name, "session without a task", Some(bytes)),
        Ok(Discarded::InUse) => swept.leave(name, "in use, although it belongs to no task".to_owned()),
        Ok(Discarded::Strange { names }) => swept.leave(name, not_ours(session.id, &names)),
        Err(error) => swept.fail(name, unusable(session.id, &error)),
    }
}

/// Deletes the files of one directory for which `judge` says what they are.
fn sweep_files(
    directory: &Path,
    prefix: &str,
    mode: Mode,
    swept: &mut Sweep,
    classify: impl Fn(&str, &Path) -> Option<&'static str>,
) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let Some(what) = classify(name, &path) else { continue };
        let bytes = path.symlink_metadata().map_or(0, |meta| meta.len());
        let deleted = if mode == Mode::DryRun { Ok(true) } else { discard_file(directory, name) };
        let name = format!("{prefix}{name}");
        match deleted {
            Ok(true) => swept.orphan(name, what, Some(bytes)),
            Ok(false) => {}
            Err(error) => swept.fail(name, error.to_string()),
        }
    }
}

/// A worker's lock that is free, with its name or before it got one. A missing lock means a dead worker like a free one.
fn is_dead_lock(name: &str, path: &Path) -> bool {
    let is_worker = |id: &str| id.parse::<WorkerId>().is_ok();
    let named = name.strip_suffix(".lock").is_some_and(is_worker);
    let unnamed = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".lock.tmp")).is_some_and(is_worker);
    (named || unnamed && is_older(path, MINUTE)) && WorkerLock::is_dead(path).unwrap_or(false)
}

/// The socket of a worker whose lock is free or gone.
fn is_dead_socket(name: &str, path: &Path) -> bool {
    let is_of_a_worker = name.strip_suffix(".sock").is_some_and(|id| id.parse::<WorkerId>().is_ok());
    is_of_a_worker && WorkerLock::is_dead(&path.with_extension("lock")).unwrap_or(false)
}

pub(super) fn is_older(path: &Path, span: Duration) -> bool {
    path.symlink_metadata().and_then(|meta| meta.modified()).is_ok_and(|changed| age(changed) >= span)
}

/// A time in the future has no age.
fn age(changed: SystemTime) -> Duration {
    changed.elapsed().unwrap_or_default()
}
