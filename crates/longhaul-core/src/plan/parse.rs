//! Reads the text of a `task_list.md`.
//!
//! Only unindented task lines inside `## Tasks` count; a line there that looks like a box but is not a task line refuses the
//! whole list, because guessing what it meant could lose a step. Hostile text costs linear time and bounded memory.

use super::{Plan, Step};

/// Larger texts are refused unread.
const LONGEST_TEXT: usize = 4 * 1024 * 1024;

/// More steps than this are refused.
pub(super) const MOST_STEPS: usize = 10_000;

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadPlan {
    /// The line, counted from 1; the last one when the text as a whole is at fault.
    pub line: usize,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with a line or a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Reason {
    #[error("the text has {bytes} bytes, more than the {LONGEST_TEXT} allowed")]
    TooLong { bytes: usize },
    #[error("the text contains a NUL character")]
    Nul,
    #[error("there is no section headed `## Tasks`")]
    NoTasksSection,
    #[error("the section `## Tasks` has no line of the form `- [ ] Task N: text`")]
    NoSteps,
    #[error("expected `- [ ] Task N: text` or `- [x] Task N: text`")]
    NotATaskLine,
    #[error("task number `{digits}` is too large")]
    NumberTooLarge { digits: String },
    #[error("task number {number} appears twice")]
    Duplicate { number: u32 },
    #[error("task number {number} comes after {previous}, but numbers must increase")]
    Decreasing { number: u32, previous: u32 },
    #[error("there are more than {MOST_STEPS} tasks")]
    TooManySteps,
}

/// Reads the steps of a task list.
pub fn parse(text: &str) -> Result<Plan, BadPlan> {
    check_text(text)?;
    let mut steps: Vec<Step> = Vec::new();
    let mut section = Section::default();
    let mut seen_tasks_section = false;
    let mut last_line = 1;
    for (index, raw) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        last_line = index + 1;
        let line = section.read(raw);
        seen_tasks_section |= section.is_tasks;
        let bad = |reason| BadPlan { line: last_line, reason };
        if let Line::Task { number, text, ticked } = line.map_err(bad)? {
            check_order(steps.last(), number).map_err(bad)?;
            if steps.len() == MOST_STEPS {
                return Err(bad(Reason::TooManySteps));
            }
            steps.push(Step { number, text: text.to_owned(), phase: section.phase.clone(), ticked });
        }
    }
    match (seen_tasks_section, steps.is_empty()) {
        (false, _) => Err(BadPlan { line: last_line, reason: Reason::NoTasksSection }),
        (true, true) => Err(BadPlan { line: last_line, reason: Reason::NoSteps }),
        (true, false) => Ok(Plan { steps }),
    }
}

/// Where in the document the reader is.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) is_tasks: bool,
    pub(super) phase: Option<String>,
}

/// What one line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A level-2 heading; begins or ends the tasks section.
    Section,
    /// A phase heading inside the tasks section.
    Phase,
    /// A task line inside the tasks section.
    Task { number: u32, text: &'a str, ticked: bool },
    /// Anything else.
    Other,
}

impl Section {
    /// Takes the next line, without its line end.
    pub(super) fn read<'a>(&mut self, raw: &'a str) -> Result<Line<'a>, Reason> {
        let line = raw.trim_end();
        if let Some(title) = heading(line, "##") {
            *self = Self { is_tasks: title == "Tasks", phase: None };
            return Ok(Line::Section);
        }
        if !self.is_tasks {
            return Ok(Line::Other);
        }
        if let Some(title) = heading(line, "###") {
            self.phase = Some(title.trim().to_owned()).filter(|title| !title.is_empty());
            return Ok(Line::Phase);
        }
        if line.starts_with("- [") { task_line(line) } else { Ok(Line::Other) }
    }
}

/// The text behind exactly these hash signs and a blank.
fn heading<'a>(line: &'a str, hashes: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(hashes)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

fn task_line(line: &str) -> Result<Line<'_>, Reason> {
    let open = line.strip_prefix("- [ ] Task ").map(|rest| (false, rest));
    let done =
        || line.strip_prefix("- [x] Task ").or_else(|| line.strip_prefix("- [X] Task ")).map(|rest| (true, rest));
    let (ticked, rest) = open.or_else(done).ok_or(Reason::NotATaskLine)?;
    let (digits, text) = rest.split_once(':').ok_or(Reason::NotATaskLine)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Reason::NotATaskLine);
    }
    let number = digits.parse().map_err(|_| Reason::NumberTooLarge { digits: digits.chars().take(20).collect() })?;
    Ok(Line::Task { number, text: text.trim(), ticked })
}

fn check_text(text: &str) -> Result<(), BadPlan> {
    if text.len() > LONGEST_TEXT {
        return Err(BadPlan { line: 1, reason: Reason::TooLong { bytes: text.len() } });
    }
    match text.find('\0') {
        Some(at) => Err(BadPlan { line: 1 + text[..at].matches('\n').count(), reason: Reason::Nul }),
        None => Ok(()),
    }
}

fn check_order(last: Option<&Step>, number: u32) -> Result<(), Reason> {
    match last.map(|step| step.number) {
        Some(previous) if previous == number => Err(Reason::Duplicate { number }),
        Some(previous) if previous > number => Err(Reason::Decreasing { number, previous }),
        Some(_) | None => Ok(()),
    }
}
