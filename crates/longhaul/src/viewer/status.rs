//! The live line: one row with the plan, the step, the agent, what was used, and the keys. What does not fit is cut on the right, so the
//! least important comes last. Pure.

use longhaul_app::describe;
use longhaul_core::task::{State, Task, Wait};
use longhaul_core::units::span;

use crate::out::safe;
use crate::when::When;
use crate::width::cut;

const BAR: usize = 14;
const LONGEST_STEP: usize = 40;

/// The live line of a task.
pub(super) fn line(task: &Task, elapsed: std::time::Duration, when: &When) -> String {
    let session = match task.tally.sessions {
        0 => String::new(),
        number => format!("session {number}"),
    };
    let (lead, rest) = lead(task, when);
    let [detach, help] = ["d detach", "? help"].map(str::to_owned);
    let parts = [lead, rest, agents(task, when), span(elapsed), cost(task), detach, help, session, tokens(task)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// What the keys do, for a viewer that may change the task and for one that may not.
pub(super) fn keys(may_change: bool) -> &'static str {
    match may_change {
        true => {
            "keys: p pause · t tell the next session something · d or q detach, the task keeps running · Ctrl+C pause, twice to kill the agent"
        }
        false => "keys: d or q close this view; the task is not affected",
    }
}

/// The row while a person types a message. What does not fit is cut on the left, where it was typed first.
pub(super) fn prompt(typed: &str, columns: usize) -> String {
    let room = columns.saturating_sub(40).max(8);
    let mut shown = safe(typed);
    while crate::width::columns(&shown) > room {
        shown.remove(0);
    }
    format!("tell: {shown}▏  Enter sends, Esc cancels")
}

/// The agent that works, and those that cannot at the moment.
fn agents(task: &Task, when: &When) -> String {
    let Some(session) = task.state.session() else { return String::new() };
    let limited = task.limited.iter().map(|(agent, limit)| (agent, limit.until.rfc3339()));
    let limited = limited.filter(|(agent, until)| **agent != session.agent && !when.left(until).is_zero());
    let limited: String =
        limited.map(|(agent, until)| format!(", {} limited until {}", safe(agent), when.clock(&until))).collect();
    format!("{}{limited}", safe(&session.agent))
}

/// How far it is, and what it does.
fn lead(task: &Task, when: &When) -> (String, String) {
    if let State::Waiting { why, until: Some(until), .. } = &task.state
        && *why != Wait::Delay
    {
        let until = until.rfc3339();
        let whose = describe::waiting(task)
            .and_then(|waiting| waiting.agent)
            .map_or_else(String::new, |agent| format!(" of {}", safe(&agent)));
        let steps = task
            .plan
            .as_ref()
            .map_or_else(String::new, |accepted| format!(" · {}/{}", accepted.plan.done(), accepted.plan.total()));
        let back = format!("back in {} ({}){steps}", span(when.left(&until)), when.clock(&until));
        return (format!("⏸ {why}{whose}"), back);
    }
    let Some(accepted) = &task.plan else { return (state(task), String::new()) };
    let (done, total) = (accepted.plan.done(), accepted.plan.total());
    let filled = (done * BAR).checked_div(total).unwrap_or(0);
    let bar = format!("{}{} {done}/{total}", "█".repeat(filled), "░".repeat(BAR - filled));
    match (&task.state, accepted.plan.current()) {
        (State::Working { .. } | State::Waiting { .. } | State::Preparing, Some(step)) => {
            (bar, cut(&safe(&step.text), LONGEST_STEP))
        }
        _ => (bar, state(task)),
    }
}

fn state(task: &Task) -> String {
    match &task.state {
        State::SettingUp { .. } => "running the setup".to_owned(),
        State::Verifying { .. } => "running the checks".to_owned(),
        State::Queued | State::Preparing => "starting".to_owned(),
        State::Waiting { why: Wait::Delay, .. } => "working".to_owned(),
        _ => safe(&describe::state(task)),
    }
}

fn tokens(task: &Task) -> String {
    let live = task.state.session().map(|session| session.usage).unwrap_or_default();
    let total = task.tally.usage.plus(live).total();
    total.map_or_else(String::new, |total| match total {
        0..10_000 => format!("{total} tokens"),
        _ => format!("{}k tokens", total / 1000),
    })
}

#[expect(clippy::cast_precision_loss, reason = "no task costs billions of dollars")]
pub(super) fn cost(task: &Task) -> String {
    let live = task.state.session().map(|session| session.usage).unwrap_or_default();
    let micros = task.tally.usage.plus(live).cost_micros;
    micros.map_or_else(String::new, |micros| format!("${:.2}", micros as f64 / 1e6))
}
