//! `longhaul show`: everything about one task, from the store and the session's files.
//! Only reads; everything it prints of an agent or a workspace is made safe first.

use longhaul_core::task::{SessionRecord, SessionRun, Task, sessions};
use longhaul_keeper::SessionDir;
use longhaul_keeper::process::{self, Process};
use longhaul_store::{Stored, StoredEvent};
use longhaul_worker::now;
use serde_json::json;

use super::turns::cut;
use super::{Opened, open_existing};
use crate::cli::Read;
use crate::error::CliError;
use crate::exit::Code;
use crate::report::{Checks, checks, limits};
use crate::{describe, lookup, out, owner};

const ALL: u32 = u32::MAX;

pub(crate) async fn show(args: &Read) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find_to_read(&opened, args.which.task.as_deref()).await?;
    let events = opened.store.events(stored.task.id, 0, ALL).await?;
    let records = sessions_of(&events);
    if args.json {
        let owner = stored.owner.as_ref().map(|owner| {
            json!({
                "worker": owner.worker,
                "host": owner.host,
                "alive": !owner::is_dead(&opened.home, &stored),
                "stopped": owner::is_stopped(&opened.home, &stored),
            })
        });
        let facts = json!({
            "task": stored.task,
            "epoch": stored.epoch,
            "owner": owner,
            "sessions": records,
            "verification": checks(&opened.home, &stored.task, &events),
            "limits": limits(&stored.task),
        });
        out::json("task", &facts);
    } else {
        print(&opened, &stored, &owner(&opened, &stored).await?);
        print_limits(&stored.task);
        print_guidance(&stored.task);
        print_checks(&checks(&opened.home, &stored.task, &events));
        print_plan(&stored);
        print_sessions(&opened, &records);
    }
    Ok(Code::Done)
}

/// The sessions a task's events tell of.
pub(crate) fn sessions_of(events: &[StoredEvent]) -> Vec<SessionRecord> {
    sessions(events.iter().map(|event| (event.at, &event.event)))
}

fn line(label: &str, text: &str) {
    out::data(&format!("{label:10} {}", out::safe(text)));
}

fn print(opened: &Opened, stored: &Stored, owner: &str) {
    let task = &stored.task;
    let submission = &task.submission;
    line("task", &format!("{} ({})", submission.name, task.id));
    line("goal", submission.goal.lines().next().unwrap_or_default());
    line("state", &describe::state(&task.state));
    line("next", &describe::next_command(stored));
    line("owner", owner);
    if let Some(session) = task.state.session() {
        line("session", &live(opened, session));
    }
    line("agent", &agent(task));
    line("workspace", &workspace(task));
    line("files", &describe::task_directory(task));
    line("priority", &submission.priority.to_string());
    let links = [("parent", submission.parent), ("after", submission.after), ("retry of", submission.retry_of)];
    for (label, other) in links {
        if let Some(other) = other {
            line(label, &other.to_string());
        }
    }
    line("created", &task.created.rfc3339());
    line("updated", &format!("{} ({} ago)", task.updated.rfc3339(), out::span(now().since(task.updated))));
    let tokens = task.tally.usage.total().map_or_else(|| "unknown".to_owned(), |total| total.to_string());
    let worked = out::span(std::time::Duration::from_millis(task.tally.worked_ms));
    line("used", &format!("{} sessions, {worked} of work, {tokens} tokens", task.tally.sessions));
    let policy = &submission.policy;
    line("attempts", &format!("{} of {} failed in a row", task.tally.failures, policy.attempts));
}

fn agent(task: &Task) -> String {
    let submission = &task.submission;
    let model = submission.model.as_ref().map_or_else(String::new, |model| format!(", model {model}"));
    let live = task.state.session().and_then(|session| session.conversation.as_ref());
    let conversation = live.or(task.conversation.as_ref());
    let conversation = conversation.map_or_else(String::new, |id| format!(", conversation {id}"));
    format!("{}{model}{conversation}", submission.agent)
}

fn workspace(task: &Task) -> String {
    match task.workspace.as_ref().and_then(|workspace| workspace.branch.as_ref()) {
        Some(branch) => format!("{} (worktree on branch {branch})", task.cwd()),
        None if task.workspace.is_some() => format!("{} (in place)", task.cwd()),
        None => format!("{} (not made yet)", task.cwd()),
    }
}

fn print_limits(task: &Task) {
    let rows = limits(task).into_iter().filter(|row| row.cap.is_some());
    let words: Vec<String> = rows.map(|row| format!("{} {}", row.limit.flag(), row.words)).collect();
    line("limits", &if words.is_empty() { "none".to_owned() } else { words.join(", ") });
}

fn print_guidance(task: &Task) {
    for text in &task.guidance {
        line(
            "guidance",
            &format!("waits for the next session: {}", cut(&text.lines().collect::<Vec<_>>().join(" "), 200)),
        );
    }
}

fn print_checks(facts: &Checks) {
    if !facts.possible {
        return;
    }
    let round = facts.round.as_ref().map_or_else(
        || "not run on the work as it is now".to_owned(),
        |round| format!("round {}: {}", round.number, round.outcome.as_deref().unwrap_or("runs")),
    );
    out::data(&format!("\nchecks     {}", out::safe(&round)));
    for check in &facts.checks {
        out::data(&format!("  {:7}  {}", check.result.word(), out::safe(&check.command)));
        if let Some(evidence) = &check.evidence {
            let lasted = out::span(std::time::Duration::from_millis(evidence.lasted_ms));
            let why = evidence.failure.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            let seen = format!("session {}, {}, {lasted}{why}", evidence.session, evidence.exit);
            out::data(&format!("           {}", out::safe(&seen)));
        }
    }
    for criterion in &facts.criteria {
        out::data(&format!("  {:7}  {}", criterion.result.word(), out::safe(&criterion.text)));
    }
    for file in &facts.expected_files {
        out::data(&format!("  {:7}  expected file {}", file.result.word(), out::safe(&file.path)));
    }
}

async fn owner(opened: &Opened, stored: &Stored) -> Result<String, CliError> {
    let missing = owner::is_missing(opened, stored).await?;
    Ok(match &stored.owner {
        None if missing => "none; `longhaul worker -d` starts one that takes it".into(),
        None => "none".into(),
        Some(owner) if missing => {
            format!("worker {} is dead; `longhaul worker -d` starts one that takes over", owner.worker)
        }
        Some(owner) if owner::is_stopped(&opened.home, stored) => format!(
            "worker {} is stopped and does not answer; `longhaul pause --force {}` ends it",
            owner.worker, stored.task.submission.name
        ),
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
            "  {:>3}  {:5}  {}{lasted}{}{}",
            run.number,
            run.purpose.to_string(),
            out::safe(&how),
            out::safe(&resumed),
            out::safe(&run.command.as_ref().map_or_else(String::new, |command| format!(", `{command}`")))
        ));
        out::data(&format!("       {}", out::safe(&opened.home.session(run.id).display().to_string())));
    }
}
