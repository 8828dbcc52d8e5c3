//! `longhaul gc`: takes away finished tasks beyond what is to be kept, oldest first, and what crashes left behind.
//! Files go first and the task's rows last: the rows are what knows of the files, so whatever a kill leaves, the next run still finds
//! and finishes. It never touches an unfinished task, one that an unfinished task needs, or work that is nowhere else.

mod candidates;
mod checkouts;
mod orphans;
mod removal;
mod retention;
mod stray_worktrees;
mod swept;
mod worktree;

use std::collections::HashSet;
use std::fs::{File, TryLockError};

use longhaul_app::Home;

use crate::cli::Gc;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::Call;
use longhaul_app::config::Overrides;
use longhaul_app::session::on_disk::survey;
use longhaul_app::{AppError, ErrorKind};

use candidates::{Candidate, Needs};
use removal::Outcome;
use swept::{Kept, Removed, Swept};

/// Whether anything is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Really,
    DryRun,
}

pub(crate) async fn gc(line: &CommandLine, args: &Gc) -> Result<Code, AppError> {
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Really };
    let loaded = line.load(&line.caller.project()?.root, &overrides(args))?;
    super::config::tell(&loaded.notices);
    let mut swept = Swept::new(mode);
    match line.open_existing() {
        Ok(call) => {
            let _alone = if mode == Mode::Really { Some(alone(call.home())?) } else { None };
            let on_disk = survey(call.home()).map_err(|error| cannot_look(&error))?;
            let found = candidates::candidates(&call, &loaded.settings.retention, &on_disk).await?;
            sweep_tasks(&call, mode, found, &mut swept).await?;
            orphans::sweep(&call, mode, &on_disk, &mut swept).await?;
            stray_worktrees::sweep(&call, mode, &mut swept).await;
            checkouts::sweep(&call, mode, &mut swept).await;
        }
        Err(error) if error.kind == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if args.json {
        out::json("gc", &swept);
    } else {
        swept.print();
    }
    Ok(if swept.failed == 0 { Code::Done } else { Code::Failure })
}

fn overrides(args: &Gc) -> Overrides {
    Overrides::default()
        .word("retention.age", "--age", args.age.as_deref())
        .word("retention.count", "--count", args.count.as_deref())
        .word("retention.bytes", "--bytes", args.bytes.as_deref())
}

/// One sweep at a time: the lock is on the home's directory itself and goes with this process.
fn alone(home: &Home) -> Result<File, AppError> {
    let failed =
        |error: &std::io::Error| AppError::new(ErrorKind::Failure, "cannot lock Longhaul's home").because(error);
    let held = File::open(home.root()).map_err(|error| failed(&error))?;
    match held.try_lock() {
        Ok(()) => Ok(held),
        Err(TryLockError::WouldBlock) => Err(AppError::new(ErrorKind::Conflict, "another `longhaul gc` is at work")),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}

fn cannot_look(error: &std::io::Error) -> AppError {
    AppError::new(ErrorKind::Failure, "cannot look at the session directories").because(error)
}

async fn sweep_tasks(call: &Call, mode: Mode, found: Vec<Candidate>, swept: &mut Swept) -> Result<(), AppError> {
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
                swept.removed(Removed { id, name, why: candidate.excess.to_string(), sessions, bytes });
            }
            Outcome::Kept { why } => swept.kept.push(Kept { id, name, why }),
            Outcome::Failed { why } => {
                swept.failed += 1;
                swept.kept.push(Kept { id, name, why });
            }
        }
    }
    Ok(())
}
