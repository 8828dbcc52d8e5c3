//! `longhaul show`: everything about one task, from the store and the session's files.
//! Only reads; everything it prints of an agent or a workspace is made safe first.

mod sessions;

use longhaul_app::{in_conversation, mode_warnings, now};
use longhaul_core::task::{SessionRecord, Task};
use longhaul_store::{Stored, StoredEvent};
use serde_json::json;

use crate::cli::Read;
use crate::command_line::CommandLine;
use crate::exit::Code;
use longhaul_app::AppError;
use longhaul_app::Call;
use longhaul_app::describe::{ResultFacts, Waiting};
use longhaul_app::report::{Checks, checks, limits, notices, undelivered};
use longhaul_app::session::live::live;
use longhaul_app::session::turns::cut;

use crate::out;
use longhaul_app::{describe, lookup, ownership, slot_wait};

const ALL: u32 = u32::MAX;

pub(crate) async fn show(line: &CommandLine, args: &Read) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    let events = call.store()?.events(stored.task.id, 0, ALL).await?;
    let records = sessions_of(&events);
    let notices = notices(&stored.task, &call.store()?.notices(stored.task.id).await?);
    let slot = slot_wait::wait_of(&call, &stored).await?;
    if args.json {
        let owner = stored.owner.as_ref().map(|owner| {
            json!({
                "worker": owner.worker,
                "host": owner.host,
                "alive": !ownership::is_dead(call.home(), &stored),
                "stopped": ownership::is_stopped(call.home(), &stored),
            })
        });
        let facts = json!({
            "task": stored.task,
            "result": stored.task.state.verdict().map(ResultFacts::new),
            "epoch": stored.epoch,
            "owner": owner,
            "sessions": records,
            "live": live(&call, &stored.task),
            "held_by": held_by(&stored.task),
            "waiting": describe::waiting(&stored.task).or(slot),
            "agent_limits": describe::unavailable(&stored.task, now()),
            "degraded": records.iter().filter(|record| describe::is_degraded(&record.run)).count(),
            "warnings": mode_warnings(&stored.task.submission),
            "verification": checks(call.home(), &stored.task, &events),
            "limits": limits(&stored.task, &records),
            "notices": notices,
        });
        out::json("task", &facts);
    } else {
        print(&call, &stored, &owner(&call, &stored).await?, slot.as_ref());
        print_used(&stored.task, &records);
        undelivered(&notices).iter().for_each(|words| row("notices", words));
        print_guidance(&stored.task);
        print_checks(&checks(call.home(), &stored.task, &events));
        print_plan(&stored);
        sessions::print(&call, &records);
    }
    Ok(Code::Done)
}

/// The sessions a task's events tell of.
pub(crate) fn sessions_of(events: &[StoredEvent]) -> Vec<SessionRecord> {
    longhaul_core::task::sessions(events.iter().map(|event| (event.at, &event.event)))
}

fn row(label: &str, text: &str) {
    out::data(&format!("{label:10} {}", out::readable(text)));
}

fn print(call: &Call, stored: &Stored, owner: &str, slot: Option<&Waiting>) {
    let task = &stored.task;
    let submission = &task.submission;
    row("task", &format!("{} ({})", submission.name, task.id));
    row("goal", submission.goal.lines().next().unwrap_or_default());
    row("state", &slot.map_or_else(|| describe::state(task), Waiting::in_line));
    row("next", &describe::next_command(stored));
    row("owner", owner);
    if let Some(live) = live(call, task) {
        row("session", &live.words());
        if live.is_agents() {
            row("began", &live.opening);
        }
    }
    if let Some(pids) = held_by(task) {
        let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
        row("held by", &format!("process {}", if pids.is_empty() { "unknown".to_owned() } else { pids.join(", ") }));
    }
    print_agents(task);
    row("workspace", &workspace(task));
    row("files", &describe::task_directory(task));
    row("priority", &submission.priority.to_string());
    let links = [("parent", submission.parent), ("after", submission.after), ("retry of", submission.retry_of)];
    for (label, other) in links {
        if let Some(other) = other {
            row(label, &other.to_string());
        }
    }
    row("created", &task.created.rfc3339());
    row("updated", &format!("{} ({} ago)", task.updated.rfc3339(), out::span(now().since(task.updated))));
}

/// The processes of a person's own work in the agent's conversation; none where nobody holds the task.
fn held_by(task: &Task) -> Option<Vec<u32>> {
    let found = || in_conversation(task.id).unwrap_or_default();
    task.state.is_held().then(|| found().into_iter().map(|process| process.pid).collect())
}

/// Who works, what they may do, and what holds them up.
fn print_agents(task: &Task) {
    let submission = &task.submission;
    row("agent", &agent(task));
    row("sandbox", &submission.sandbox.to_string());
    for words in describe::network(submission) {
        row("network", &words);
    }
    for warning in mode_warnings(submission) {
        row("warning", &warning);
    }
    row("context", &format!("{}; at a usage limit: {}", submission.context, submission.on_limit));
    if let Some(hours) = submission.hours {
        row("hours", &format!("sessions start at {hours} only"));
    }
    for agent in describe::unavailable(task, now()) {
        row(agent.label(), &agent.words());
    }
    if let Some(why) = task.handover(now()) {
        row("handover", &format!("the next session starts afresh, with a note, because {why}"));
    }
    for name in submission.prompts.keys() {
        row("prompt", &format!("{name}: a template of its own, as it was at submit"));
    }
}

fn agent(task: &Task) -> String {
    let submission = &task.submission;
    let model = submission.model.as_ref().map_or_else(String::new, |model| format!(", model {model}"));
    let conversation = conversation(task).map_or_else(String::new, |words| format!(", {words}"));
    let others = submission.fallbacks.join(", ");
    let others = if others.is_empty() { others } else { format!(", then {others}") };
    format!("{}{others}{model}{conversation}", submission.agent)
}

/// The conversation of the live session, else the one that the next session goes on with; whose it is where it could be another's.
fn conversation(task: &Task) -> Option<String> {
    let live = task.state.session().and_then(|run| Some((run.agent.as_str(), run.conversation.as_deref()?)));
    let next = task.conversations.last().map(|talk| (talk.agent.as_str(), talk.id.as_str()));
    let (agent, id) = live.or(next)?;
    let several = !task.submission.fallbacks.is_empty() || agent != task.submission.agent;
    let owner = if several && !agent.is_empty() { format!(" of {agent}") } else { String::new() };
    Some(format!("conversation {id}{owner}"))
}

fn workspace(task: &Task) -> String {
    match task.workspace.as_ref().and_then(|workspace| workspace.branch.as_ref()) {
        Some(branch) => format!("{} (worktree on branch {branch})", task.cwd()),
        None if task.workspace.is_some() => format!("{} (in place)", task.cwd()),
        None => format!("{} (not made yet)", task.cwd()),
    }
}

fn print_used(task: &Task, records: &[SessionRecord]) {
    let tokens = describe::tokens(task.tally.usage.total(), records);
    let worked = out::span(std::time::Duration::from_millis(task.tally.worked_ms));
    row("used", &format!("{}, {worked} of work, {tokens}", describe::count(task.tally.sessions, "session")));
    let attempts = task.submission.patience.attempts;
    row("attempts", &format!("{} of {attempts} failed in a row", task.tally.failures));
    let rows = limits(task, records).into_iter().filter(|row| row.cap.is_some());
    let words: Vec<String> = rows.map(|row| format!("{} {}", row.flag, row.words)).collect();
    row("limits", &if words.is_empty() { "none".to_owned() } else { words.join(", ") });
}

fn print_guidance(task: &Task) {
    for text in &task.guidance {
        row(
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
            for (what, names) in evidence.effects() {
                out::data(&format!("           {what}: {}", out::safe(&names.to_string())));
            }
        }
    }
    for criterion in &facts.criteria {
        out::data(&format!("  {:7}  {}", criterion.result.word(), out::safe(&criterion.text)));
    }
    for file in &facts.expected_files {
        out::data(&format!("  {:7}  expected file {}", file.result.word(), out::safe(&file.path)));
    }
    for earlier in &facts.earlier_rounds {
        for (command, what, names) in earlier.effects() {
            let words = format!("round {}: `{command}`, {what}: {names}", earlier.round.number);
            out::data(&format!("  earlier  {}", out::safe(&words)));
        }
    }
}

async fn owner(call: &Call, stored: &Stored) -> Result<String, AppError> {
    if ownership::is_left_by_runner(call, stored).await? {
        return Ok(format!("its run-session is dead; {}", describe::go_on_after_runner(stored)));
    }
    let missing = ownership::is_missing(call, stored).await?;
    Ok(match &stored.owner {
        None if missing => "none; `longhaul worker -d` starts one that takes it".into(),
        None => "none".into(),
        Some(owner) if missing => {
            format!("worker {} is dead; `longhaul worker -d` starts one that takes over", owner.worker)
        }
        Some(owner) if ownership::is_stopped(call.home(), stored) => format!(
            "worker {} is stopped and does not answer; `longhaul pause --force {}` ends it",
            owner.worker, stored.task.submission.name
        ),
        Some(owner) => format!("worker {} on {}, since {}", owner.worker, owner.host, owner.since.rfc3339()),
    })
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
