//! Workers and sessions: which are alive, stopped or missing.
//! One part of `doctor`; it starts and signals nothing.

use std::path::Path;

use longhaul_keeper::process::{self, Process};
use longhaul_keeper::{SessionDir, WorkerLock};
use longhaul_store::{Filter, Stored, Which};

use super::Patient;
use crate::app::Call;
use crate::home::Home;
use crate::ownership;
use crate::views::Finding;

const WORKERS: &str = "workers";
const SESSIONS: &str = "sessions";

pub(super) async fn check(patient: &Patient<'_>) -> Vec<Finding> {
    let Ok(call) = patient.opened.as_ref() else { return Vec::new() };
    let filter = Filter { which: Which::Unfinished, ..Filter::default() };
    let tasks = match call.list(filter).await {
        Ok(listed) => listed.tasks,
        Err(error) => return vec![Finding::unknown(WORKERS, format!("the tasks cannot be listed: {}", error.what))],
    };
    vec![workers(call, &tasks).await, sessions(call.home(), &tasks)]
}

/// The workers of this home that are alive.
pub(super) fn living_workers(home: &Home) -> Vec<Process> {
    locks(home).iter().filter_map(|lock| living(lock)).collect()
}

async fn workers(call: &Call, tasks: &[Stored]) -> Finding {
    let living = living_workers(call.home());
    let still: Vec<String> =
        living.iter().filter(|worker| process::is_stopped(worker.pid)).map(|worker| worker.pid.to_string()).collect();
    let mut orphaned = 0;
    let mut left = Vec::new();
    for stored in tasks {
        match ownership::is_left_by_runner(call, stored).await.unwrap_or(false) {
            true => left.push(stored.task.submission.name.as_str()),
            false => orphaned += usize::from(ownership::is_missing(call, stored).await.unwrap_or(false)),
        }
    }
    let facts = format!("{} alive, {} unfinished task(s)", living.len(), tasks.len());
    if !still.is_empty() {
        let pids = still.join(", ");
        let facts = format!("{facts}; stopped and not answering: {pids}");
        return Finding::problem(
            WORKERS,
            facts,
            format!("let it continue (`kill -CONT {}`) or end it", still.join(" ")),
        );
    }
    if orphaned > 0 {
        let facts = format!("{facts}; {orphaned} of them need a worker and have none");
        return Finding::warning(WORKERS, facts, "`longhaul worker -d` starts one");
    }
    if !left.is_empty() {
        let facts = format!("{facts}; left by a run-session that died: {}", left.join(", "));
        return Finding::warning(
            WORKERS,
            facts,
            "continue with `longhaul run-session --task-name NAME --continue` or `longhaul resume NAME`",
        );
    }
    Finding::ok(WORKERS, facts)
}

fn locks(home: &Home) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(home.workers()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "lock")).collect()
}

fn living(lock: &Path) -> Option<Process> {
    let lives = !WorkerLock::is_dead(lock).unwrap_or(true);
    let text = std::fs::read_to_string(lock).ok().filter(|_| lives)?;
    serde_json::from_str(&text).ok()
}

fn sessions(home: &Home, tasks: &[Stored]) -> Finding {
    let live: Vec<&Stored> = tasks.iter().filter(|stored| stored.task.state.session().is_some()).collect();
    let troubles: Vec<String> = live.iter().filter_map(|stored| trouble(home, stored)).collect();
    let facts = format!("{} live", live.len());
    if troubles.is_empty() {
        return Finding::ok(SESSIONS, facts);
    }
    let advice = "`longhaul show TASK` shows more; `longhaul pause TASK --force` ends what does not answer";
    Finding::warning(SESSIONS, format!("{facts}; {}", troubles.join("; ")), advice)
}

/// What is wrong with a task's live session, if anything.
fn trouble(home: &Home, stored: &Stored) -> Option<String> {
    let session = stored.task.state.session()?;
    let place = format!("session {} of task {}", session.number, stored.task.id);
    let directory = SessionDir::at(&home.session(session.id)).ok()?;
    let identity = match directory.identity() {
        Ok(Some(identity)) => identity,
        Ok(None) => return Some(format!("{place} has not begun yet")),
        Err(error) => return Some(format!("{place}: {error}")),
    };
    for (name, who) in [("keeper", identity.keeper), ("agent", identity.child)] {
        match process::is_alive(&who, &identity.boot) {
            Ok(true) if process::is_stopped(who.pid) => {
                return Some(format!("{place}: its {name} {} is stopped", who.pid));
            }
            Ok(true) => {}
            Ok(false) if directory.exit().is_ok_and(|exit| exit.is_some()) => {}
            Ok(false) => {
                return Some(format!("{place}: its {name} {} is dead, and its end has not been observed yet", who.pid));
            }
            Err(error) => return Some(format!("{place}: its {name} cannot be examined: {error}")),
        }
    }
    None
}
