//! `gc`: removes finished tasks beyond what retention keeps, oldest first, and what crashes left behind.
//! Files go first and the task's rows last: the rows name the files, so the next run finds and finishes whatever a kill left.
//! It never touches an unfinished task, one that an unfinished task needs, or work that exists nowhere else.

mod candidates;
mod checkouts;
mod orphans;
mod removal;
mod retention;
mod stray_worktrees;
mod worktree;

use std::collections::HashSet;
use std::fs::{File, TryLockError};

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::config::{Overrides, RetentionSettings};
use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit};
use crate::session::on_disk;
use crate::views::{KeptTask, PageInput, RemovedTask, Sweep};

use candidates::{Candidate, Needs};
use removal::Outcome;

/// The operation `gc`.
pub struct Gc;

/// What `gc` takes.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GcInput {
    /// Remove nothing, only answer what would be removed.
    pub dry_run: bool,
    /// Keep finished tasks this long, such as `30d`, or `none`; by default `retention.age`.
    pub age: Option<String>,
    /// Keep this many finished tasks, or `none`; by default `retention.count`.
    pub count: Option<String>,
    /// Keep finished tasks within this much disk space, such as `10GiB`, or `none`; by default `retention.bytes`.
    pub bytes: Option<String>,
    /// Only some of the finished tasks, for a worker that sweeps beside its work.
    #[serde(skip)]
    pub batch: Option<Batch>,
    /// The part of the lists.
    #[serde(flatten)]
    pub page: PageInput,
}

/// A part of the finished tasks that are not to be kept.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// So many were looked at before and stay.
    pub skip: usize,
    /// The most that are looked at.
    pub most: usize,
}

/// Whether anything is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Really,
    DryRun,
}

impl Operation for Gc {
    const ABOUT: About =
        About::new("gc", "Remove old finished tasks and what crashes left behind", Action::Manage("gc"), COMMAND_LINE)
            .destroys();
    type Input = GcInput;
    type Output = Sweep;

    fn action(input: &GcInput) -> Action<'static> {
        if input.dry_run { Action::ReadAll("gc") } else { Action::Manage("gc") }
    }

    async fn run(call: &Call, _: Permit, input: GcInput) -> Result<Answer<Sweep>, AppError> {
        let call = &call.of_all_tenants();
        // Nobody asked for a sweep in batches, so no project's file decides about the others.
        let loaded = match input.batch {
            Some(_) => call.load_user_config(&overrides(&input))?,
            None => call.load_config(&overrides(&input))?,
        };
        let mode = if input.dry_run { Mode::DryRun } else { Mode::Really };
        let mut swept = Sweep { dry_run: input.dry_run, ..Sweep::default() };
        match call.store() {
            Ok(_) => sweep(call, mode, &loaded.settings.retention, input.batch, &mut swept).await?,
            Err(error) if error.kind == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let more = swept.cut(input.page);
        Ok(Answer::new(swept).note(more).warn(loaded.warnings()))
    }
}

fn overrides(input: &GcInput) -> Overrides {
    Overrides::default()
        .word("retention.age", "--age", input.age.as_deref())
        .word("retention.count", "--count", input.count.as_deref())
        .word("retention.bytes", "--bytes", input.bytes.as_deref())
}

async fn sweep(
    call: &Call,
    mode: Mode,
    retention: &RetentionSettings,
    batch: Option<Batch>,
    swept: &mut Sweep,
) -> Result<(), AppError> {
    let _alone = if mode == Mode::Really { Some(alone(call.home())?) } else { None };
    let on_disk = on_disk::survey(call.home())?;
    let found = candidates::candidates(call, retention, &on_disk).await?;
    let due = found.len();
    let Batch { skip, most } = batch.unwrap_or(Batch { skip: 0, most: usize::MAX });
    sweep_tasks(call, mode, found.into_iter().skip(skip).take(most), swept).await?;
    swept.next_batch = (skip.saturating_add(most) < due).then_some(skip + swept.kept.len());
    orphans::sweep(call, mode, &on_disk, swept).await?;
    stray_worktrees::sweep(call, mode, swept).await;
    checkouts::sweep(call, mode, swept).await;
    Ok(())
}

/// One sweep at a time: the lock is on the home's directory itself and ends with this process.
fn alone(home: &Home) -> Result<File, AppError> {
    let failed =
        |error: &std::io::Error| AppError::new(ErrorKind::Failure, "cannot lock Longhaul's home").because(error);
    let held = File::open(home.root()).map_err(|error| failed(&error))?;
    match held.try_lock() {
        Ok(()) => Ok(held),
        Err(TryLockError::WouldBlock) => Err(AppError::new(ErrorKind::Conflict, "another `longhaul gc` is running")),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}

async fn sweep_tasks(
    call: &Call,
    mode: Mode,
    found: impl Iterator<Item = Candidate>,
    swept: &mut Sweep,
) -> Result<(), AppError> {
    let (mut gone, mut needs) = (HashSet::new(), Needs::default());
    for candidate in found {
        let child = candidate.children.iter().find(|(child, _)| !gone.contains(child));
        let part = child.map(|(_, name)| format!("its child task `{name}` is kept"));
        let outcome = match needs.why(call, candidate.outline.task).await?.or(part) {
            Some(why) => Outcome::Kept { why },
            None => removal::remove(call, &candidate, mode).await?,
        };
        let task = candidate.outline.task;
        let (id, name) = (task.to_string(), candidate.outline.name);
        match outcome {
            Outcome::Removed { sessions, bytes } => {
                gone.insert(task);
                swept.remove(RemovedTask { id, name, why: candidate.excess.to_string(), sessions, bytes });
            }
            Outcome::Kept { why } => swept.kept.push(KeptTask { id, name, why }),
            Outcome::Failed { why } => {
                swept.failed += 1;
                swept.kept.push(KeptTask { id, name, why });
            }
        }
    }
    Ok(())
}
