//! Writes a plan as the text of a `task_list.md` that reads back as exactly this plan.
//!
//! Used to put a list back after a refused edit, and to write a first one. Notes, titles and phases of the given text stay
//! where they are as long as the result still reads back; otherwise the tasks section, and at last the document, is new.

use super::parse::{Line, Section, parse};
use super::{Plan, Step};

/// The text of a task list holding `plan`, keeping what it can of `original`.
pub fn render(original: Option<&str>, plan: &Plan) -> String {
    let plan = readable(plan);
    let reads_back = |text: &String| parse(text).as_ref() == Ok(&plan);
    let kept = original.and_then(|text| {
        Some(in_place(text, &plan)).filter(reads_back).or_else(|| Some(new_section(text, &plan)).filter(reads_back))
    });
    kept.unwrap_or_else(|| new_document(&plan))
}

/// A step is one line; blanks at the ends and line ends inside could not be read back.
fn readable(plan: &Plan) -> Plan {
    let one_line = |text: &str| text.replace(['\r', '\n', '\0'], " ").trim().to_owned();
    let steps = plan.steps.iter().map(|step| Step {
        text: one_line(&step.text),
        phase: step.phase.as_deref().map(one_line).filter(|phase| !phase.is_empty()),
        ..step.clone()
    });
    Plan { steps: steps.collect() }
}

fn new_document(plan: &Plan) -> String {
    let mut writer = Writer::new(plan, "\n");
    writer.text = format!(
        "# Task List\n\n## Meta\n- Total Tasks: {}\n- Completed: {}\n\n## Tasks\n\n",
        plan.total(),
        plan.done()
    );
    writer.write_rest();
    writer.text
}

/// Everything outside the tasks section as it was, the section itself new.
fn new_section(original: &str, plan: &Plan) -> String {
    let mut writer = Writer::new(plan, line_end(original));
    let mut section = Section::default();
    for raw in original.split_inclusive('\n') {
        let kind = section.read(without_mark(raw));
        if matches!(kind, Ok(Line::Section)) || !section.is_tasks {
            writer.copy(raw);
        }
        if matches!(kind, Ok(Line::Section)) && section.is_tasks && writer.next.is_some() {
            writer.blank_line();
            writer.write_rest();
            writer.blank_line();
        }
    }
    if writer.next.is_some() {
        writer.blank_line();
        writer.line("## Tasks");
        writer.blank_line();
        writer.write_rest();
    }
    writer.text
}

/// Every line as it was, except that task lines are those of the plan.
fn in_place(original: &str, plan: &Plan) -> String {
    let mut writer = Writer::new(plan, line_end(original));
    let mut section = Section::default();
    for (raw, following) in with_following_number(original, plan) {
        let was_tasks = section.is_tasks;
        match section.read(without_mark(raw)) {
            Ok(Line::Task { number, .. }) => writer.write_through(number),
            Err(_) => {}
            Ok(Line::Section) => {
                if was_tasks && following.is_none() {
                    writer.before_blank_lines(Writer::write_rest);
                }
                writer.copy(raw);
                writer.phase = None;
            }
            Ok(Line::Phase) => {
                writer.before_blank_lines(|writer| writer.write_phase_below(following));
                writer.copy(raw);
                writer.phase.clone_from(&section.phase);
            }
            Ok(Line::Other) => writer.copy(raw),
        }
    }
    if section.is_tasks {
        writer.before_blank_lines(Writer::write_rest);
    }
    writer.text
}

/// Each line with the number of the first task line at or behind it that the plan still has.
fn with_following_number<'a>(original: &'a str, plan: &Plan) -> Vec<(&'a str, Option<u32>)> {
    let mut section = Section::default();
    let number_of = |raw: &'a str| match section.read(without_mark(raw)) {
        Ok(Line::Task { number, .. }) => plan.step(number).map(|step| step.number),
        Ok(Line::Section | Line::Phase | Line::Other) | Err(_) => None,
    };
    let raw_lines: Vec<&str> = original.split_inclusive('\n').collect();
    let numbers: Vec<Option<u32>> = raw_lines.iter().copied().map(number_of).collect();
    let mut following = None;
    let mut lines: Vec<_> = raw_lines
        .into_iter()
        .zip(numbers)
        .rev()
        .map(|(raw, number)| {
            following = number.or(following);
            (raw, following)
        })
        .collect();
    lines.reverse();
    lines
}

fn without_mark(raw: &str) -> &str {
    raw.trim_start_matches('\u{feff}')
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Text being written, and the steps that are still to come.
struct Writer<'a> {
    text: String,
    line_end: &'static str,
    phase: Option<String>,
    next: Option<&'a Step>,
    later: std::slice::Iter<'a, Step>,
}

impl<'a> Writer<'a> {
    fn new(plan: &'a Plan, line_end: &'static str) -> Self {
        let mut later = plan.steps.iter();
        Self { text: String::new(), line_end, phase: None, next: later.next(), later }
    }

    /// A line of the original; one without a line end gets one only when something follows.
    fn copy(&mut self, raw: &str) {
        self.end_line();
        self.text.push_str(raw);
    }

    fn line(&mut self, line: &str) {
        self.end_line();
        self.text.push_str(line);
        self.text.push_str(self.line_end);
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(self.line_end);
        }
    }

    fn blank_line(&mut self) {
        let text = self.text.as_str();
        let is_blank = text.is_empty() || text.ends_with("\n\n") || text.ends_with("\n\r\n");
        if !is_blank {
            self.line("");
        }
    }

    fn write_next(&mut self) {
        let Some(step) = self.next else { return };
        let tick = if step.ticked { 'x' } else { ' ' };
        let line = format!("- [{tick}] Task {}: {}", step.number, step.text);
        self.line(line.trim_end());
        self.next = self.later.next();
    }

    /// The steps up to and including this number, under the current heading.
    fn write_through(&mut self, number: u32) {
        while self.next.is_some_and(|step| step.number <= number) {
            self.write_next();
        }
    }

    /// The steps of the current phase that come before the next one of the original.
    fn write_phase_below(&mut self, following: Option<u32>) {
        let below = |step: &Step| following.is_none_or(|following| step.number < following);
        while self.next.is_some_and(|step| step.phase == self.phase && below(step)) {
            self.write_next();
        }
    }

    /// All steps that are left, each phase under its heading.
    fn write_rest(&mut self) {
        while let Some(step) = self.next {
            if step.phase != self.phase {
                self.blank_line();
                self.line(format!("### {}", step.phase.as_deref().unwrap_or("")).trim_end());
                self.phase.clone_from(&step.phase);
            }
            self.write_next();
        }
    }

    /// Writes above the blank lines at the end, so that a step joins the steps before it.
    fn before_blank_lines(&mut self, write: impl FnOnce(&mut Self)) {
        let kept = self.text.trim_end_matches(['\r', '\n']).len();
        let line_end = self.text[kept..].find('\n').map_or(self.text.len(), |at| kept + at + 1);
        let blank_lines = self.text.split_off(line_end);
        write(self);
        self.text.push_str(&blank_lines);
    }
}
