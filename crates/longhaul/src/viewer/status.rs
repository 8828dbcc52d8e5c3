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
    let agent = task.state.session().map(|session| session.agent.clone()).unwrap_or_default();
    let [detach, pause] = ["d detach", "Ctrl+C pause"].map(str::to_owned);
    let parts = [lead, rest, safe(&agent), span(elapsed), cost(task), detach, session, tokens(task), pause];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
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
        return (format!("⏸ {why}{whose}"), format!("back in {} ({})", span(when.left(&until)), when.clock(&until)));
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
