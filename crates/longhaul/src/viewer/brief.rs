//! The lines of a followed task without `-v`: one for each session, step and check, and what a person must know besides.
//! Pure. What is left out here is in `events` and `logs`.

use longhaul_app::views::EventView;
use longhaul_core::task::Task;
use longhaul_core::units::span;

use crate::out::safe;
use crate::when::When;
use crate::width::cut;
use std::time::Duration;

/// Events that say nothing a person waits for, or that the last lines of the viewer repeat.
const QUIET: [&str; 19] = [
    "submitted",
    "claimed",
    "placed",
    "driven",
    "after_met",
    "session_read",
    "session_ended",
    "noted",
    "wait_ended",
    "plan_restored",
    "round_started",
    "stop_asked",
    "paused",
    "stopped",
    "help_needed",
    "help_asked",
    "cancelled",
    "failed",
    "finished",
];

/// The columns before the text of a line: the clock, the mark, and what it is about.
const BEFORE: usize = 23;

/// The lines of an event of this task, without the clock, for a terminal of so many columns. The task is as it is after the event.
pub(super) fn lines(event: &EventView, task: &Task, when: &When, columns: Option<usize>) -> Vec<String> {
    let facts = &event.facts;
    match event.kind {
        "session_started" => started(event, task, columns).into_iter().collect(),
        "session_ended" if facts.reason.is_some() => vec![line('✗', "session", &when.localized(&event.sentence))],
        "plan_revised" | "plan_accepted" => planned(event, task),
        "checked" => vec![checked(event)],
        "wait_started" if is_pause(event) => Vec::new(),
        kind if QUIET.contains(&kind) => Vec::new(),
        _ => notable(event, when),
    }
}

/// One line with its mark and what it is about.
fn line(mark: char, about: &str, text: &str) -> String {
    format!("{mark} {about:10} {}", safe(text)).trim_end().to_owned()
}

fn notable(event: &EventView, when: &When) -> Vec<String> {
    // A round that passed is what its checks have said.
    let is_repeated = event.kind == "round_ended" && event.facts.passed == Some(true) && event.facts.reason.is_none();
    if is_repeated {
        Vec::new()
    } else {
        vec![line('·', "", &when.localized(&event.sentence)).replacen("·            ", "· ", 1)]
    }
}

fn is_pause(event: &EventView) -> bool {
    // A usage limit has its own line.
    matches!(event.facts.reason.as_deref(), Some("delay between sessions" | "usage limit"))
}

fn started(event: &EventView, task: &Task, columns: Option<usize>) -> Option<String> {
    let facts = &event.facts;
    let agent = facts.agent.as_ref()?;
    let session = format!("{agent}, session {}", facts.session.unwrap_or_default());
    let purpose = facts.purpose.as_deref().unwrap_or("work");
    let step = task
        .plan
        .as_ref()
        .filter(|_| purpose == "work")
        .and_then(|accepted| Some((accepted.plan.current()?, accepted.plan.total())));
    Some(match step {
        Some((step, total)) => {
            // The agent and the session are shown even if the step's text is long.
            let text = match columns {
                Some(columns) => cut(&safe(&step.text), columns.saturating_sub(BEFORE + session.len() + 3).max(8)),
                None => step.text.clone(),
            };
            line('▶', &format!("step {}/{total}", step.number), &format!("{text} ({session})"))
        }
        None => line('▶', purpose, &session),
    })
}

fn planned(event: &EventView, task: &Task) -> Vec<String> {
    let Some(accepted) = &task.plan else { return Vec::new() };
    let total = accepted.plan.total();
    let ticked = event.facts.ticked.as_deref().unwrap_or_default();
    let steps = if total == 1 { "1 step".to_owned() } else { format!("{total} steps") };
    let first = (event.facts.revision == Some(1)).then(|| line('✓', "planned", &steps));
    let done = ticked.iter().map(|number| {
        let text = accepted.plan.step(*number).map_or("", |step| step.text.as_str());
        line('✓', &format!("step {number}/{total}"), text)
    });
    let accepted = (event.kind == "plan_accepted").then(|| line('·', "plan", &event.sentence));
    first.into_iter().chain(accepted).chain(done).collect()
}

fn checked(event: &EventView) -> String {
    let facts = &event.facts;
    let command = facts.check.as_deref().unwrap_or_default();
    let took = Duration::from_millis(facts.lasted_ms.unwrap_or_default());
    match &facts.reason {
        None => line('✓', "check", &format!("{command}  {}", seconds(took))),
        Some(why) => line('✗', "check", &format!("{command}  {why}, {}", seconds(took))),
    }
}

/// Short times with a tenth of a second.
fn seconds(took: Duration) -> String {
    if took < Duration::from_secs(10) { format!("{:.1}s", took.as_secs_f64()) } else { span(took) }
}
