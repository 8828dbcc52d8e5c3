//! `longhaul show`: prints what a person wants to know about one task as labelled rows, and with `-v` ids and directories too.
//! Times are local. Text from an agent or a workspace is made safe before it is printed.

mod sessions;

use std::time::Duration;

use longhaul_app::AppError;
use longhaul_app::cut;
use longhaul_app::operations::{Show, TaskPageInput};
use longhaul_app::report::{Checks, undelivered};
pub(crate) use longhaul_app::sessions_of;
use longhaul_app::views::{PlanView, RunView, ShowView};

use super::plan::words;
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::when::When;

/// So many items of a tracked run are printed; the report has all that are kept.
const SHOWN_ITEMS: usize = 5;

pub(crate) async fn show(line: &CommandLine, args: &cli::Show) -> Result<Code, AppError> {
    let input = TaskPageInput { task: args.read.which.task.clone(), page: args.page.into() };
    let detail = if args.verbose { Detail::Everything } else { Detail::Usual };
    out::answer(&line.call()?.perform::<Show>(input).await?, args.read.json, |view| print(view, detail))
}

/// How much is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Usual,
    /// Ids, directories and rows that only repeat what is usual, too.
    Everything,
}

fn print(view: &ShowView, detail: Detail) {
    if let Some(run) = view.run.as_ref().filter(|_| view.is_tracked()) {
        print_run(view, run, detail);
        return;
    }
    print_state(view, detail);
    print_agents(view, detail);
    print_place(view, detail);
    print_times(view);
    print_used(view, detail);
    view.run.iter().for_each(print_reports);
    undelivered(&view.notices).iter().for_each(|words| row("notices", words));
    for text in &view.guidance {
        let text = cut(&text.lines().collect::<Vec<_>>().join(" "), 200);
        row("guidance", &format!("for the next session: {text}"));
    }
    print_checks(&view.verification);
    view.plan.iter().for_each(print_plan);
    sessions::print(&view.sessions, detail);
    out::more(view.next);
}

/// Prints one row, with local times.
fn row(label: &str, text: &str) {
    out::data(&format!("{label:10} {}", out::readable(&When::here().localized(text))));
}

fn print_state(view: &ShowView, detail: Detail) {
    print_heading(view, detail);
    if detail == Detail::Everything || !view.task.is_finished {
        row("worker", &view.owner_status);
    }
    if let Some(live) = &view.live {
        row("session", &live.words());
        if live.is_agents() {
            row("began", &live.opening);
        }
    }
    let pids: Vec<String> = view.held_by.iter().flatten().map(ToString::to_string).collect();
    if !pids.is_empty() {
        row("held by", &format!("process {}", pids.join(", ")));
    }
}

/// What every task has.
fn print_heading(view: &ShowView, detail: Detail) {
    row("task", &view.task.name);
    if detail == Detail::Everything {
        row("id", &view.task.id);
    }
    row("goal", view.goal.lines().next().unwrap_or_default());
    row("state", &view.status);
    row("next", &view.next_step);
}

fn print_times(view: &ShowView) {
    let when = When::here();
    let (created, updated) = (&view.task.created, &view.task.updated);
    row("created", &format!("{} ({})", when.clock(created), when.ago(created)));
    row("updated", &format!("{} ({})", when.clock(updated), when.ago(updated)));
}

/// A run that an outside program executes: what it reported. It has no agent, owner or workspace.
fn print_run(view: &ShowView, run: &RunView, detail: Detail) {
    print_heading(view, detail);
    row("executed", "by an outside program");
    print_reports(run);
    print_times(view);
    for criterion in &view.verification.criteria {
        out::data(&format!("  {:7}  {}", criterion.result.word(), out::safe(&criterion.text)));
    }
}

/// What the agents of a task or its outside program said.
fn print_reports(run: &RunView) {
    for (label, text) in [("reported", &run.summary), ("at", &run.cursor), ("checkpoint", &run.checkpoint)] {
        text.iter().for_each(|text| row(label, &cut(&text.lines().collect::<Vec<_>>().join(" "), 200)));
    }
    if let Some(answer) = &run.answer {
        row("answer", &format!("{} (by {}, {})", answer.reason, answer.by, answer.at));
    }
    if let Some(at) = &run.said_done_at {
        row("said done", &format!("at {at}; not taken as proof"));
    }
    if run.completed_total + run.failed_total > 0 {
        row("items", &format!("{} completed, {} failed", run.completed_total, run.failed_total));
    }
    let newest = run.failed.iter().rev().take(SHOWN_ITEMS).rev();
    newest.for_each(|failed| row("failed", &format!("{}: {}", failed.item, failed.reason)));
    run.references.iter().rev().take(SHOWN_ITEMS).rev().for_each(|reference| row("reference", &reference.words()));
}

/// The agents, their permissions, and what blocks them.
fn print_agents(view: &ShowView, detail: Detail) {
    let choices = &view.choices;
    row("agent", &agent(view, detail));
    row("sandbox", &choices.sandbox);
    choices.network.iter().for_each(|words| row("network", words));
    view.warnings.iter().for_each(|warning| row("warning", warning));
    row("context", &format!("{}; at a usage limit: {}", choices.context, choices.on_limit));
    if let Some(hours) = &choices.hours {
        row("hours", &format!("sessions start only at {hours}"));
    }
    view.agent_limits.iter().for_each(|agent| row(agent.label(), &agent.words()));
    if let Some(why) = &view.handover {
        row("handover", &format!("the next session starts a new conversation with a handover note, because {why}"));
    }
    for name in &choices.prompts {
        row("prompt", &format!("{name}: a custom template, as it was at submission"));
    }
}

fn agent(view: &ShowView, detail: Detail) -> String {
    let (agent, choices) = (&view.task.agent, &view.choices);
    let others = choices.fallbacks.join(", ");
    let others = if others.is_empty() { others } else { format!(", then {others}") };
    let model = choices.model.as_ref().map_or_else(String::new, |model| format!(", model {model}"));
    let conversation = view.conversation.as_ref().filter(|_| detail == Detail::Everything);
    let conversation = conversation.map_or_else(String::new, |talk| {
        // Name its agent only if there are several.
        let several = !choices.fallbacks.is_empty() || talk.agent != *agent;
        let owner = if several && !talk.agent.is_empty() { format!(" of {}", talk.agent) } else { String::new() };
        format!(", conversation {}{owner}", talk.id)
    });
    format!("{agent}{others}{model}{conversation}")
}

fn print_place(view: &ShowView, detail: Detail) {
    let (place, task) = (&view.workspace, &view.task);
    let kind = match (&place.branch, place.kind) {
        (Some(branch), _) => format!("worktree on branch {branch}"),
        (None, kind) => kind.unwrap_or("not created yet").to_owned(),
    };
    if detail == Detail::Everything {
        row("workspace", &format!("{} ({kind})", place.directory));
        row("files", &place.task_directory);
    } else {
        row("workspace", &kind);
    }
    if detail == Detail::Everything || task.priority != 0 {
        row("priority", &task.priority.to_string());
    }
    for (label, other) in [("parent", &task.parent), ("after", &view.after), ("retry of", &view.retry_of)] {
        other.iter().for_each(|other| row(label, other));
    }
}

fn print_used(view: &ShowView, detail: Detail) {
    row("used", &view.used);
    if detail == Detail::Everything || view.attempts.failed > 0 {
        row("attempts", &format!("{} of {} failed in a row", view.attempts.failed, view.attempts.allowed));
    }
    let rows = view.limits.iter().filter(|row| row.cap.is_some());
    let words: Vec<String> = rows.map(|row| format!("{} {}", row.flag, row.words)).collect();
    row("limits", &if words.is_empty() { "none".to_owned() } else { words.join(", ") });
}

fn print_checks(facts: &Checks) {
    if !facts.possible {
        return;
    }
    let round = facts.round.as_ref().map_or_else(
        || "not run on the current work".to_owned(),
        |round| format!("round {}: {}", round.number, round.outcome.as_deref().unwrap_or("running")),
    );
    out::data(&format!("\nchecks     {}", out::safe(&round)));
    for check in &facts.checks {
        out::data(&format!("  {:7}  {}", check.result.word(), out::safe(&check.command)));
        if let Some(evidence) = &check.evidence {
            let lasted = out::span(Duration::from_millis(evidence.lasted_ms));
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

fn print_plan(plan: &PlanView) {
    out::data(&format!("\nplan       {} ({}%), revision {}", words(plan.progress), plan.percent, plan.revision));
    for step in &plan.steps {
        let mark = if step.ticked { "x" } else { " " };
        out::data(&format!("  [{mark}] Task {}: {}", step.number, out::safe(&step.text)));
    }
}
