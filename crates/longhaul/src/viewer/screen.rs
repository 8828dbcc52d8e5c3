//! Shows a followed task: one line per event and the agent's turns, with a live status line below if stderr is a terminal.
//! Used by `follow`. All text is made safe before it is shown. With `--json` every item is one JSON document on standard output.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use longhaul_app::cut;
use longhaul_app::follow::Item;
use longhaul_app::views::{StatusKind, TurnRole, TurnView};
use longhaul_app::{describe, now};
use longhaul_core::task::Task;

use crate::out;

/// How many lines of output are shown at once; the oldest are dropped.
const BATCH: usize = 200;
/// Output is indented below the events, behind the clock.
const INDENT: &str = "          ";
/// How many characters of an output line are shown.
const WIDTH: usize = 1000;

/// The screen of one viewer.
pub(super) struct Screen {
    json: bool,
    bar: Option<ProgressBar>,
    /// Lines of output that arrived together, and how many earlier ones were dropped.
    batch: VecDeque<String>,
    left_out: u64,
}

impl Screen {
    pub(super) fn new(json: bool) -> Screen {
        let is_smart = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Screen { json, bar: (is_smart && !json).then(bar), batch: VecDeque::new(), left_out: 0 }
    }

    /// Shows one item.
    pub(super) fn show(&mut self, item: &Item) {
        if self.json {
            return item.document().iter().for_each(|document| out::data(document));
        }
        if let Item::Turn(turn) = item {
            return self.turn(turn);
        }
        self.flush();
        match item {
            Item::Event(event) if ["session_read", "noted"].contains(&event.kind) => {}
            Item::Event(event) => self.moment(&event.at, &event.sentence),
            Item::Status(status) if status.status == StatusKind::InLine => self.moment(&status.at, &status.sentence),
            Item::Status(status) => self.line(&status.sentence),
            Item::UpToDate(stored) => self.task(&stored.task),
            Item::Turn(_) | Item::Settled(_) => {}
        }
    }

    /// Prints one line above the status line.
    pub(super) fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => out::note(text),
        }
    }

    /// Prints an event with its time.
    fn moment(&self, at: &str, text: &str) {
        self.line(&format!("{}  {}", clock(at), out::safe(text)));
    }

    /// Drops the oldest lines of long output: `logs` has all of it.
    fn turn(&mut self, turn: &TurnView) {
        // The event that starts a session is already shown.
        for line in turn.lines().iter().filter(|_| turn.role != TurnRole::Session) {
            if self.batch.len() == BATCH {
                self.batch.pop_front();
                self.left_out += 1;
            }
            self.batch.push_back(cut(line, WIDTH));
        }
    }

    fn flush(&mut self) {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            self.line(&format!("{INDENT}({left_out} lines omitted; `longhaul logs` has them)"));
        }
        std::mem::take(&mut self.batch).iter().for_each(|line| self.line(&format!("{INDENT}{line}")));
    }

    /// Updates the status line.
    fn task(&self, task: &Task) {
        let Some(bar) = &self.bar else { return };
        if let Some(accepted) = &task.plan {
            bar.set_length(accepted.plan.total() as u64);
            bar.set_position(accepted.plan.done() as u64);
        }
        bar.set_message(status(task));
    }

    /// Shows the remaining lines and removes the status line.
    pub(super) fn close(&mut self) {
        self.flush();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    // Empty until there is a plan: a length of zero is shown as a full bar.
    let bar = ProgressBar::new(1);
    let style =
        ProgressStyle::with_template("{spinner} [{bar:24}] {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// The status line: progress, current step, session, elapsed time, tokens.
fn status(task: &Task) -> String {
    let progress = task.plan.as_ref().map_or_else(|| "no plan yet".to_owned(), |accepted| accepted.plan.progress());
    let step = task.plan.as_ref().and_then(|accepted| accepted.plan.current()).map_or_else(String::new, |step| {
        let text: String = step.text.chars().take(40).collect();
        format!(" · Task {}: {}", step.number, out::safe(&text))
    });
    let tokens = describe::tokens_so_far(task);
    let elapsed = out::span(now().since(task.created));
    let session = match task.tally.sessions {
        0 => String::new(),
        number => format!(" · session {number}"),
    };
    format!("{progress}{step} · {}{session} · {elapsed} · {tokens}", out::safe(&describe::state(task)))
}

/// Local wall-clock time of day.
fn clock(at: &str) -> String {
    at.parse::<jiff::Timestamp>()
        .map(|stamp| stamp.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string())
        .unwrap_or_default()
}
