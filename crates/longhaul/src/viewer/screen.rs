//! Shows a followed task: a line for each session, step and check, and with `-v` for each event and the agent's turns. If stderr is a
//! terminal, a live line is below.
//! Used by `follow`. All text is made safe before it is shown. With `--json` every item is one JSON document on standard output.

use std::collections::VecDeque;

use longhaul_app::cut;
use longhaul_app::follow::Item;
use longhaul_app::now;
use longhaul_app::views::{EventView, StatusKind, TurnRole, TurnView};
use longhaul_core::task::Task;

use super::brief::{self, Brief};
use super::live::LiveLine;
use super::status;
use crate::out;
use crate::paint::Paint;
use crate::when::When;
use crate::width;

/// How many lines of output are shown at once; the oldest are dropped.
const BATCH: usize = 200;
/// Output is indented below the events, behind the clock.
const INDENT: &str = "          ";
/// How many characters of an output line are shown.
const WIDTH: usize = 1000;

/// The screen of one viewer.
pub(super) struct Screen {
    json: bool,
    /// Whether every event and turn is shown.
    detailed: bool,
    /// Events that wait for the task as it is after them.
    pending: Vec<EventView>,
    brief: Brief,
    live: Option<LiveLine>,
    /// Lines of output that arrived together, and how many earlier ones were dropped.
    batch: VecDeque<String>,
    left_out: u64,
}

impl Screen {
    pub(super) fn new(json: bool, detailed: bool) -> Screen {
        let live = if json { None } else { LiveLine::on_terminal() };
        let brief = Brief::new(Paint(out::coloured_stderr()));
        Screen { json, detailed, pending: Vec::new(), brief, live, batch: VecDeque::new(), left_out: 0 }
    }

    /// Shows one item.
    pub(super) fn show(&mut self, item: &Item) {
        if self.json {
            return item.document().iter().for_each(|document| out::data(document));
        }
        match item {
            Item::Turn(_) if !self.detailed => return,
            Item::Event(event) if !self.detailed => return self.pending.push((**event).clone()),
            Item::Turn(turn) => return self.turn(turn),
            Item::Event(_) | Item::Status(_) | Item::UpToDate(_) | Item::Settled(_) => {}
        }
        self.flush();
        match item {
            Item::Event(event) if ["session_read", "noted"].contains(&event.kind) => {}
            Item::Event(event) => self.moment(&event.at, &event.sentence),
            Item::Status(status) if status.status == StatusKind::InLine => self.moment(&status.at, &status.sentence),
            Item::Status(status) => self.line(&status.sentence),
            Item::UpToDate(stored) => self.catch_up(&stored.task),
            Item::Turn(_) | Item::Settled(_) => {}
        }
    }

    /// Prints one line above the live line.
    pub(super) fn line(&self, text: &str) {
        self.hanging(text, 0);
    }

    /// The same, broken at the edge of a terminal so that its further lines are indented.
    fn hanging(&self, text: &str, indent: usize) {
        let lines = match width::of_stderr() {
            Some(columns) => width::wrapped(text, columns, indent),
            None => vec![text.to_owned()],
        };
        lines.iter().for_each(|line| match &self.live {
            Some(live) => live.print(line),
            None => out::note(line),
        });
    }

    /// Prints an event with its time.
    fn moment(&self, at: &str, text: &str) {
        self.hanging(&format!("{}  {}", clock(at), out::safe(&When::here().localized(text))), INDENT.len());
    }

    /// Prints the events since the last time, briefly.
    fn catch_up(&mut self, task: &Task) {
        let (when, columns) = (When::here(), width::of_stderr());
        for event in std::mem::take(&mut self.pending) {
            for line in self.brief.lines(&event, task, &when, columns) {
                self.hanging(&format!("{}  {line}", clock(&event.at)), brief::BEFORE);
            }
        }
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
        for line in std::mem::take(&mut self.batch) {
            let indent = line.len() - line.trim_start().len();
            self.hanging(&format!("{INDENT}{line}"), INDENT.len() + indent);
        }
    }

    /// Updates the live line: what the task does, or what the person types.
    pub(super) fn update(&mut self, task: &Task, typed: Option<&str>) {
        let Some(live) = &mut self.live else { return };
        live.set(match typed {
            Some(typed) => status::prompt(typed, width::of_stderr().unwrap_or(80)),
            None => status::line(task, now().since(task.created), &When::here()),
        });
    }

    /// Removes the live line until the next update.
    pub(super) fn rest(&mut self) {
        self.live.iter_mut().for_each(LiveLine::clear);
    }

    /// Shows the remaining lines and removes the live line.
    pub(super) fn close(&mut self) {
        self.flush();
        self.rest();
    }
}

/// Local wall-clock time of day.
fn clock(at: &str) -> String {
    at.parse::<jiff::Timestamp>()
        .map(|stamp| stamp.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string())
        .unwrap_or_default()
}
