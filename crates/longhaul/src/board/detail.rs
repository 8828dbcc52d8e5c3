//! The detail pane: what a task is to do, where it stands, what it needs, its plan, its checks and what happened last.
//! Pure: rows from the view of `show`.

use std::collections::VecDeque;

use longhaul_app::cut;
use longhaul_app::report::Checks;
use longhaul_app::views::{EventView, PlanView, ShowView, StepView};

use super::text_rows::TextRow;
use crate::commands::list::board::{Group, group_colour};
use crate::out::{readable, safe};
use crate::paint::Colour;
use crate::when::When;

/// How many characters of the goal are shown.
const LONGEST_GOAL: usize = 1_000;
/// Events that say nothing a person waits for.
const QUIET: [&str; 4] = ["session_read", "noted", "claimed", "placed"];

/// The rows of a task.
pub(super) fn rows(show: &ShowView, events: &VecDeque<EventView>, when: &When) -> Vec<TextRow> {
    let task = &show.task;
    let mut rows = labelled("state", &when.localized(&show.status));
    let colour = group_colour(task, Group::of(task));
    rows = rows.into_iter().map(|row| row.tone(colour)).collect();
    rows.extend(labelled("next", &when.localized(&show.next_step)));
    if task.has_worker == Some(false) {
        rows.extend(
            labelled("worker", &when.localized(&show.owner_status)).into_iter().map(|row| row.tone(Colour::Red)),
        );
    }
    rows.extend(labelled("goal", &cut(show.goal.trim(), LONGEST_GOAL)));
    rows.extend(labelled("agent", &agent(show)));
    rows.extend(labelled("used", &used(show)));
    rows.extend(task.branch.iter().flat_map(|branch| labelled("branch", branch)));
    rows.extend(show.guidance.iter().flat_map(|text| labelled("message", text)));
    rows.extend(show.plan.iter().flat_map(plan));
    rows.extend(checks(&show.verification));
    rows.extend(recent(events, when));
    rows
}

fn heading(text: &str) -> TextRow {
    TextRow::new(text).tone(Colour::Bold)
}

/// A text behind its label; further lines are indented.
fn labelled(label: &str, text: &str) -> Vec<TextRow> {
    let rows = text
        .lines()
        .enumerate()
        .map(|(at, line)| TextRow::new(readable(line)).lead(format!("{:8}", if at == 0 { label } else { "" })));
    rows.collect()
}

fn agent(show: &ShowView) -> String {
    let task = &show.task;
    if task.is_run() {
        return "an outside program".to_owned();
    }
    let model = show.choices.model.iter().map(|model| format!("model {model}"));
    let others = (!show.choices.fallbacks.is_empty()).then(|| format!("then {}", show.choices.fallbacks.join(", ")));
    let limits = show.agent_limits.iter().map(|limit| limit.words());
    [task.agent.clone()].into_iter().chain(model).chain(others).chain(limits).collect::<Vec<_>>().join(" · ")
}

fn used(show: &ShowView) -> String {
    if show.task.sessions == 0 {
        return "nothing yet".to_owned();
    }
    let cost = show.task.cost_usd.map_or_else(String::new, |usd| format!(", ${usd:.2}"));
    format!("{}{cost}", show.used)
}

fn plan(plan: &PlanView) -> Vec<TextRow> {
    let title = format!("Plan {}/{}", plan.progress.done, plan.progress.total);
    let step = |step: &StepView| {
        let text = TextRow::new(safe(&step.text));
        let number = step.number;
        match (step.ticked, plan.current == Some(number)) {
            (true, _) => text.lead(format!("  ✓ {number} ")).tone(Colour::Dim),
            (false, true) => text.lead(format!("  ▶ {number} ")).tone(Colour::Bold),
            (false, false) => text.lead(format!("    {number} ")),
        }
    };
    [heading(&title)].into_iter().chain(plan.steps.iter().map(step)).collect()
}

fn checks(known: &Checks) -> Vec<TextRow> {
    let title = (!known.checks.is_empty()).then(|| heading("Checks"));
    let rows = known.checks.iter().map(|check| {
        let why = check.evidence.as_ref().and_then(|evidence| evidence.failure.as_ref());
        let why = why.map_or_else(String::new, |why| format!(" · {why}"));
        let row = TextRow::new(readable(&format!("{}{why}", check.command)));
        match check.result.word() {
            "pass" => row.lead("  ✓ ").tone(Colour::Green),
            "fail" => row.lead("  ✗ ").tone(Colour::Red),
            _ => row.lead("    "),
        }
    });
    title.into_iter().chain(rows).collect()
}

fn recent(events: &VecDeque<EventView>, when: &When) -> Vec<TextRow> {
    let told: Vec<&EventView> = events.iter().filter(|event| !QUIET.contains(&event.kind)).collect();
    let title = (!told.is_empty()).then(|| heading("Events, newest first"));
    let row = |event: &&EventView| {
        TextRow::new(readable(&when.localized(&event.sentence))).lead(format!("  {} ", when.clock(&event.at)))
    };
    title.into_iter().chain(told.iter().rev().map(row)).collect()
}
