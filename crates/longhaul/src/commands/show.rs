//! `longhaul show`: everything about one task, from the store and the session's files.
//! Only reads; everything it prints of an agent or a workspace is made safe first.

use longhaul_core::task::{SessionRecord, SessionRun, sessions};
use longhaul_keeper::SessionDir;
use longhaul_keeper::process::{self, Process};
use longhaul_store::{Stored, StoredEvent};
use serde_json::json;

use super::{Opened, open_existing};
use crate::cli::Read;
use crate::error::CliError;
use crate::exit::Code;
use crate::{describe, lookup, out, owner};

const ALL: u32 = u32::MAX;

pub(crate) async fn show(args: &Read) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find_to_read(&opened, args.which.task.as_deref()).await?;
    let events = opened.store.events(stored.task.id, 0, ALL).await?;
    let records = sessions_of(&events);
    if args.json {
        let owner = stored.owner.as_ref().map(|owner| {
            json!({ "worker": owner.worker, "host": owner.host, "alive": !owner::is_dead(&opened.home, &stored) })
        });
        out::json("task", &json!({ "task": stored.task, "epoch": stored.epoch, "owner": owner, "sessions": records }));
    } else {
        print(&opened, &stored, &owner(&opened, &stored).await?, &records);
    }
    Ok(Code::Done)
}

/// The sessions a task's events tell of.
pub(crate) fn sessions_of(events: &[StoredEvent]) -> Vec<SessionRecord> {
    sessions(events.iter().map(|event| (event.at, &event.event)))
}

fn print(opened: &Opened, stored: &Stored, owner: &str, records: &[SessionRecord]) {
    let task = &stored.task;
    let submission = &task.submission;
    let line = |label: &str, text: &str| out::data(&format!("{label:10} {}", out::safe(text)));
    line("task", &format!("{} ({})", submission.name, task.id));
    line("goal", submission.goal.lines().next().unwrap_or_default());
    line("state", &describe::state(&task.state));
    line("next", &describe::next_command(stored));
    line("owner", owner);
    if let Some(session) = task.state.session() {
        line("session", &live(opened, session));
    }
    line("agent", &submission.agent);
    line("workspace", &submission.workspace);
    line("files", &format!("{}/{}/{}", submission.project, longhaul_worker::STATE_DIR, submission.name));
    line("created", &task.created.rfc3339());
    let tokens = task.tally.usage.total().map_or_else(|| "unknown".to_owned(), |total| total.to_string());
    let worked = out::span(std::time::Duration::from_millis(task.tally.worked_ms));
    line("used", &format!("{} sessions, {worked} of work, {tokens} tokens", task.tally.sessions));
    print_plan(stored);
    print_sessions(opened, records);
}

async fn owner(opened: &Opened, stored: &Stored) -> Result<String, CliError> {
    let missing = owner::is_missing(opened, stored).await?;
    Ok(match &stored.owner {
        None if missing => "none; `longhaul worker -d` starts one that takes it".into(),
        None => "none".into(),
        Some(owner) if missing => {
            format!("worker {} is dead; `longhaul worker -d` starts one that takes over", owner.worker)
        }
        Some(owner) => format!("worker {} on {}, since {}", owner.worker, owner.host, owner.since.rfc3339()),
    })
}

/// The live session's processes and its last sign of life, as the operating system shows them.
fn live(opened: &Opened, session: &SessionRun) -> String {
    let path = opened.home.session(session.id);
    let Some(identity) = SessionDir::at(&path).ok().and_then(|dir| dir.identity().ok().flatten()) else {
        return format!("{}, not started yet", session.number);
    };
    let health = |process: &Process| match process::is_alive(process, &identity.boot) {
        Ok(true) if process::is_stopped(process.pid) => format!("{} (stopped, does not answer)", process.pid),
        Ok(true) => process.pid.to_string(),
        Ok(false) => format!("{} (dead)", process.pid),
        Err(_) => format!("{} (unknown)", process.pid),
    };
    let dir = SessionDir::at(&path).ok();
    let printed = dir.as_ref().and_then(SessionDir::last_output);
    let silent = printed.and_then(|at| at.elapsed().ok()).unwrap_or_default();
    let stalled = dir.and_then(|dir| dir.stalled().ok().flatten());
    let stalled = stalled.map_or_else(String::new, |stalled| {
        format!(", waits for disk space since {} ({})", stalled.since.rfc3339(), out::safe(&stalled.cause))
    });
    format!(
        "{}, agent pid {}, keeper pid {}, last output {} ago{stalled}",
        session.number,
        health(&identity.child),
        health(&identity.keeper),
        out::span(silent)
    )
}

fn print_plan(stored: &Stored) {
    let Some(accepted) = &stored.task.plan else { return };
    out::data(&format!(
        "\nplan       {} ({}%), revision {}",
        accepted.plan.progress(),
        accepted.plan.percent(),
        accepted.revision
    ));
    for step in &accepted.plan.steps {
        let mark = if step.ticked { "x" } else { " " };
        out::data(&format!("  [{mark}] Task {}: {}", step.number, out::safe(&step.text)));
    }
}

fn print_sessions(opened: &Opened, records: &[SessionRecord]) {
    if records.is_empty() {
        return;
    }
    out::data("\nsessions");
    for record in records {
        let run = &record.run;
        let how = record.ended.as_ref().map_or_else(|| "running".to_owned(), |ended| ended.exit.to_string());
        let resumed = run.resumes.as_ref().map_or_else(String::new, |id| format!(", resumed {id}"));
        let lasted = record.ended.as_ref().map_or_else(String::new, |ended| {
            format!(", {}", out::span(std::time::Duration::from_millis(ended.lasted_ms)))
        });
        out::data(&format!(
            "  {:>3}  {:5}  {}{lasted}{}",
            run.number,
            run.purpose.to_string(),
            out::safe(&how),
            out::safe(&resumed)
        ));
        out::data(&format!("       {}", out::safe(&opened.home.session(run.id).display().to_string())));
    }
}
