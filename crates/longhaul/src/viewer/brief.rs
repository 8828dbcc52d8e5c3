//! The lines of a followed task without `-v`: one for each session, step and check, and what a person must know besides.
//! Reads nothing but events and the task. What is left out here is in `events` and `logs`.

use longhaul_app::views::EventView;
use longhaul_core::task::{State, Task};
use longhaul_core::units::span;

use crate::out::safe;
use crate::paint::{Colour, Paint};
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

/// Events that come between a usage limit and the session of another agent.
const BETWEEN: [&str; 5] = ["session_ended", "session_read", "wait_ended", "plan_revised", "noted"];

/// The columns before the text of a line: the clock, the mark, and what it is about.
pub(super) const BEFORE: usize = 23;

/// Makes the lines, and remembers what the next one adds to.
pub(super) struct Brief {
    paint: Paint,
    /// How long the last session took, until a step is done.
    lasted: Option<Duration>,
    /// The usage limit of an agent: if another one takes over, one line names both.
    limit: Option<(String, String)>,
}

impl Brief {
    pub(super) fn new(paint: Paint) -> Brief {
        Brief { paint, lasted: None, limit: None }
    }

    /// The lines of an event of this task, without the clock, for a terminal of so many columns. The task is as it is after the event.
    pub(super) fn lines(&mut self, event: &EventView, task: &Task, when: &When, columns: Option<usize>) -> Vec<String> {
        let facts = &event.facts;
        let switch = self.switch(event, task);
        let lines = match event.kind {
            "session_started" => self.started(event, task, columns).into_iter().collect(),
            "session_ended" => {
                self.lasted = facts.lasted_ms.map(Duration::from_millis);
                facts.reason.iter().map(|_| self.line('✗', "session", &when.localized(&event.sentence))).collect()
            }
            "plan_revised" | "plan_accepted" => self.planned(event, task),
            "checked" => vec![self.checked(event)],
            "wait_started" if is_pause(event) => Vec::new(),
            "agent_limited" if self.limit.is_some() => Vec::new(),
            kind if QUIET.contains(&kind) => Vec::new(),
            _ => self.notable(event, when),
        };
        switch.map(|words| self.note(&when.localized(&words))).into_iter().chain(lines).collect()
    }

    /// The line about a limit that was kept back. It waits for the session of another agent as long as one is being prepared.
    fn switch(&mut self, event: &EventView, task: &Task) -> Option<String> {
        let facts = &event.facts;
        match (event.kind, self.limit.take()) {
            ("agent_limited", earlier) => {
                let goes_on = matches!(task.state, State::Preparing | State::Planning { .. } | State::Working { .. });
                self.limit = facts.agent.clone().zip(Some(event.sentence.clone())).filter(|_| goes_on);
                earlier.map(|(_, sentence)| sentence)
            }
            ("session_started", Some((limited, sentence))) => Some(match &facts.agent {
                Some(agent) if *agent != limited => format!("{sentence}; {agent} takes over"),
                Some(_) | None => sentence,
            }),
            (kind, kept) if BETWEEN.contains(&kind) || is_delay(event) => {
                self.limit = kept;
                None
            }
            (_, kept) => kept.map(|(_, sentence)| sentence),
        }
    }

    /// One line with its mark and what it is about.
    fn line(&self, mark: char, about: &str, text: &str) -> String {
        let colour = match mark {
            '✓' => Colour::Green,
            '✗' => Colour::Red,
            _ => Colour::Bold,
        };
        let text = format!("{about:10} {}", safe(text));
        format!("{} {}", self.paint.in_colour(colour, &mark.to_string()), text.trim_end())
    }

    fn note(&self, text: &str) -> String {
        format!("{} {}", self.paint.in_colour(Colour::Yellow, "·"), safe(text))
    }

    fn notable(&self, event: &EventView, when: &When) -> Vec<String> {
        // A round that passed is what its checks have said.
        let facts = &event.facts;
        let is_repeated = event.kind == "round_ended" && facts.passed == Some(true) && facts.reason.is_none();
        if is_repeated { Vec::new() } else { vec![self.note(&when.localized(&event.sentence))] }
    }

    fn started(&self, event: &EventView, task: &Task, columns: Option<usize>) -> Option<String> {
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
                self.line('▶', &format!("step {}/{total}", step.number), &format!("{text} ({session})"))
            }
            None => self.line('▶', purpose, &session),
        })
    }

    fn planned(&mut self, event: &EventView, task: &Task) -> Vec<String> {
        let Some(accepted) = &task.plan else { return Vec::new() };
        let total = accepted.plan.total();
        let ticked = event.facts.ticked.as_deref().unwrap_or_default();
        let steps = if total == 1 { "1 step".to_owned() } else { format!("{total} steps") };
        let first = (event.facts.revision == Some(1)).then(|| self.line('✓', "planned", &steps));
        // The time of a session that did several steps belongs to none of them.
        let took = self.lasted.take().filter(|_| ticked.len() == 1 && first.is_none());
        let took = took.map_or_else(String::new, |took| format!("  {}", seconds(took)));
        let done = ticked.iter().map(|number| {
            let text = accepted.plan.step(*number).map_or("", |step| step.text.as_str());
            self.line('✓', &format!("step {number}/{total}"), &format!("{text}{took}"))
        });
        let done: Vec<String> = done.collect();
        let accepted = (event.kind == "plan_accepted").then(|| self.line('·', "plan", &event.sentence));
        first.into_iter().chain(accepted).chain(done).collect()
    }

    fn checked(&self, event: &EventView) -> String {
        let facts = &event.facts;
        let command = facts.check.as_deref().unwrap_or_default();
        let what = facts.purpose.as_deref().unwrap_or("check");
        let took = Duration::from_millis(facts.lasted_ms.unwrap_or_default());
        match &facts.reason {
            None => self.line('✓', what, &format!("{command}  {}", seconds(took))),
            Some(why) => self.line('✗', what, &format!("{command}  {why}, {}", seconds(took))),
        }
    }
}

fn is_pause(event: &EventView) -> bool {
    // A usage limit has its own line.
    is_delay(event) || event.facts.reason.as_deref() == Some("usage limit")
}

fn is_delay(event: &EventView) -> bool {
    event.facts.reason.as_deref() == Some("delay between sessions")
}

/// Short times with a tenth of a second.
fn seconds(took: Duration) -> String {
    if took < Duration::from_secs(10) { format!("{:.1}s", took.as_secs_f64()) } else { span(took) }
}
