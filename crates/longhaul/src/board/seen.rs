//! What is known of the selected task, and the panes that show it. Filled by what `sources` sends.
//! Pure; a pane is a list of rows and the place to which it is scrolled.

use std::borrow::Cow;
use std::collections::VecDeque;

use longhaul_app::follow::Item;
use longhaul_app::operations::DiffView;
use longhaul_app::views::{EventView, ShowView, StatusKind, TurnRole, TurnView};
use longhaul_app::{AppError, cut};

use super::detail;
use super::text_rows::{TextRow, last_page};
use crate::out::safe;
use crate::paint::Colour;
use crate::when::When;

/// The most rows of output that are kept; `logs` has all of it.
const MOST_OUTPUT: usize = 5_000;
/// The most events that are kept.
const MOST_EVENTS: usize = 50;
/// How many characters of a row are shown.
const LONGEST: usize = 2_000;

/// What can be seen of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    Detail,
    Log,
    Diff,
}

impl Pane {
    pub(super) const ALL: [Pane; 3] = [Pane::Detail, Pane::Log, Pane::Diff];

    pub(super) fn name(self) -> &'static str {
        match self {
            Pane::Detail => "Detail",
            Pane::Log => "Log",
            Pane::Diff => "Diff",
        }
    }

    pub(super) fn next(self) -> Pane {
        Pane::ALL[(self as usize + 1) % Pane::ALL.len()]
    }

    pub(super) fn previous(self) -> Pane {
        Pane::ALL[(self as usize + Pane::ALL.len() - 1) % Pane::ALL.len()]
    }
}

/// News of the task.
#[derive(Debug)]
pub(super) enum News {
    Show(Result<Box<ShowView>, AppError>),
    Item(Item),
    Diff(Result<Box<DiffView>, AppError>),
    /// Nothing more comes, because of this.
    Lost(AppError),
}

/// What is known of a task so far.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) task: String,
    /// Tells news of this task from late news of an earlier one.
    pub(super) generation: u64,
    show: Option<Result<Box<ShowView>, String>>,
    events: VecDeque<EventView>,
    output: Vec<TextRow>,
    diff: Option<Vec<TextRow>>,
    /// The first row that is shown, for each pane; none at the pane's natural place.
    scrolled: [Option<usize>; 3],
}

impl Seen {
    pub(super) fn new(task: String, generation: u64) -> Seen {
        Seen {
            task,
            generation,
            show: None,
            events: VecDeque::new(),
            output: Vec::new(),
            diff: None,
            scrolled: [None; 3],
        }
    }

    pub(super) fn add(&mut self, news: News, when: &When) {
        match news {
            News::Show(show) => self.show = Some(show.map_err(|error| error.sentence())),
            News::Item(Item::Event(event)) => {
                self.events.push_back(*event);
                self.events.drain(..self.events.len().saturating_sub(MOST_EVENTS));
            }
            News::Item(Item::Turn(turn)) => self.print(turn_rows(&turn, when)),
            News::Item(Item::Status(status)) if status.status == StatusKind::InLine => {
                self.print([TextRow::new(safe(&status.sentence)).tone(Colour::Yellow)]);
            }
            News::Item(Item::Status(_) | Item::UpToDate(_) | Item::Settled(_)) => {}
            News::Diff(diff) => self.diff = Some(diff.map_or_else(|error| error_rows(&error), |diff| diff_rows(&diff))),
            News::Lost(error) => self.print(error_rows(&error)),
        }
    }

    fn print(&mut self, rows: impl IntoIterator<Item = TextRow>) {
        self.output.extend(rows);
        // Seldom, so that a flood does not move thousands of rows for each new one.
        if self.output.len() > 2 * MOST_OUTPUT {
            let dropped = self.output.len() - MOST_OUTPUT;
            self.output.drain(..dropped);
            let scrolled = &mut self.scrolled[Pane::Log as usize];
            *scrolled = scrolled.map(|row| row.saturating_sub(dropped));
        }
    }

    /// The rows of a pane.
    pub(super) fn rows(&self, pane: Pane, when: &When) -> Cow<'_, [TextRow]> {
        let waiting = |text: &str| Cow::Owned(vec![TextRow::new(text).tone(Colour::Dim)]);
        match (pane, &self.show, &self.diff) {
            (Pane::Detail, Some(Ok(show)), _) => Cow::Owned(detail::rows(show, &self.events, when)),
            (Pane::Detail, Some(Err(error)), _) => Cow::Owned(vec![TextRow::new(safe(error)).tone(Colour::Red)]),
            (Pane::Detail, None, _) => waiting("reading the task"),
            (Pane::Log, ..) if self.output.is_empty() => waiting("no session has printed anything"),
            (Pane::Log, ..) => Cow::Borrowed(&self.output),
            (Pane::Diff, _, Some(rows)) if rows.is_empty() => waiting("no changes"),
            (Pane::Diff, _, Some(rows)) => Cow::Borrowed(rows),
            (Pane::Diff, _, None) => waiting("reading the changes"),
        }
    }

    /// The first row that a pane of this size shows.
    pub(super) fn top(&self, pane: Pane, rows: &[TextRow], (width, height): (usize, usize)) -> usize {
        let last = last_page(rows, width, height);
        match (self.scrolled[pane as usize], pane) {
            (Some(row), _) => row.min(last),
            (None, Pane::Log) => last,
            (None, Pane::Detail | Pane::Diff) => 0,
        }
    }

    /// Scrolls a pane of this size. At its end the log follows what comes.
    pub(super) fn scroll(&mut self, pane: Pane, by: isize, when: &When, size: (usize, usize)) {
        let rows = self.rows(pane, when);
        let last = last_page(&rows, size.0, size.1);
        let top = self.top(pane, &rows, size).saturating_add_signed(by).min(last);
        self.scrolled[pane as usize] = (pane != Pane::Log || top < last).then_some(top);
    }
}

fn turn_rows(turn: &TurnView, when: &When) -> Vec<TextRow> {
    let tone = match turn.role {
        TurnRole::Session | TurnRole::Command => Some(Colour::Bold),
        TurnRole::Tool | TurnRole::Result | TurnRole::Unknown => Some(Colour::Dim),
        TurnRole::Notice => Some(Colour::Yellow),
        TurnRole::Stderr => Some(Colour::Red),
        TurnRole::Text | TurnRole::Output => None,
    };
    let toned = |row: TextRow| tone.map_or(row.clone(), |tone| row.tone(tone));
    let local = |line: &String| match turn.role {
        TurnRole::Session => when.localized(line),
        _ => cut(line, LONGEST),
    };
    turn.lines().iter().map(|line| toned(TextRow::new(local(line)))).collect()
}

fn diff_rows(diff: &DiffView) -> Vec<TextRow> {
    let lines = diff.patch.iter().flat_map(|patch| patch.lines());
    // Names of blobs help nobody here.
    let rows = lines.filter(|line| !line.starts_with("index ")).map(|line| {
        let row = TextRow::new(cut(&safe(line), LONGEST));
        match line.as_bytes().first() {
            Some(b'+') => row.tone(Colour::Green),
            Some(b'-') => row.tone(Colour::Red),
            Some(b'@') => row.tone(Colour::Dim),
            Some(b'd' | b'i' | b'n' | b'o') => row.tone(Colour::Bold),
            Some(_) | None => row,
        }
    });
    let cut = diff.patch_is_cut.then(|| TextRow::new("the rest is too long to show").tone(Colour::Dim));
    rows.chain(cut).collect()
}

fn error_rows(error: &AppError) -> Vec<TextRow> {
    error.text().lines().map(|line| TextRow::new(safe(line)).tone(Colour::Red)).collect()
}
