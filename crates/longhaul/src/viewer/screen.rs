//! What a follower sees: a line per event and the agent's turns, on a terminal above a live status line; otherwise plain lines.
//! Used by `follow`. Everything is made safe before it is shown; without a terminal nothing is redrawn.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use longhaul_app::now;
use longhaul_core::task::{Event, Task, narrate};
use longhaul_core::time::Time;
use longhaul_store::StoredEvent;

use crate::out;
use longhaul_app::describe;
use longhaul_app::session::turns::cut;

/// So many lines of output are shown at once; of more only the last.
const BATCH: usize = 200;
/// Output stands below the events, behind the clock.
const INDENT: &str = "          ";
/// So many characters of a line of output.
const WIDTH: usize = 1000;

/// The screen of one viewer.
pub(super) struct Screen {
    bar: Option<ProgressBar>,
}

impl Screen {
    pub(super) fn new() -> Screen {
        let fancy = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let bar = fancy.then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{spinner} [{bar:24}] {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("=> "));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Screen { bar }
    }

    /// One line that stays.
    pub(super) fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => out::note(text),
        }
    }

    /// One event, if it is worth a line.
    pub(super) fn event(&self, event: &StoredEvent) {
        if matches!(event.event, Event::SessionRead { .. } | Event::Noted { .. }) {
            return;
        }
        self.moment(event.at, &narrate(&event.event));
    }

    /// Something that happened, with its time.
    pub(super) fn moment(&self, at: Time, text: &str) {
        self.line(&format!("{}  {}", clock(at), out::safe(text)));
    }

    /// Lines of output that came together. A flood is cut here: `logs` has all of it.
    pub(super) fn batch(&self, tell: impl FnOnce(&mut dyn FnMut(String))) {
        let mut last: VecDeque<String> = VecDeque::new();
        let mut left_out = 0_u64;
        tell(&mut |line| {
            if last.len() == BATCH {
                last.pop_front();
                left_out += 1;
            }
            last.push_back(cut(&line, WIDTH));
        });
        if left_out > 0 {
            self.line(&format!("{INDENT}({left_out} lines are not shown here; `longhaul logs` has them)"));
        }
        last.iter().for_each(|line| self.line(&format!("{INDENT}{line}")));
    }

    /// Where the task stands now.
    pub(super) fn task(&self, task: &Task) {
        let Some(bar) = &self.bar else { return };
        if let Some(accepted) = &task.plan {
            bar.set_length(accepted.plan.total() as u64);
            bar.set_position(accepted.plan.done() as u64);
        }
        bar.set_message(status(task));
    }

    /// Takes the live line away.
    pub(super) fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The live line: progress, current step, session, elapsed time, tokens.
fn status(task: &Task) -> String {
    let progress = task.plan.as_ref().map_or_else(|| "planning".to_owned(), |accepted| accepted.plan.progress());
    let step = task.plan.as_ref().and_then(|accepted| accepted.plan.current()).map_or_else(String::new, |step| {
        let text: String = step.text.chars().take(40).collect();
        format!(" · Task {}: {}", step.number, out::safe(&text))
    });
    let tokens = describe::tokens_so_far(task);
    let elapsed = out::span(now().since(task.created));
    format!(
        "{progress}{step} · {} · session {} · {elapsed} · {tokens}",
        out::safe(&describe::state(task)),
        task.tally.sessions
    )
}

/// Local wall-clock time of day.
fn clock(at: Time) -> String {
    jiff::Timestamp::from_microsecond(at.0)
        .map(|stamp| stamp.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string())
        .unwrap_or_default()
}
