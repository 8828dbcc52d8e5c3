//! The groups of `list`: what needs the person comes first, then what runs, waits and is done. Fits the terminal; nothing is cut in a pipe.
//! Pure: called with views, the width and the clock.

use longhaul_app::views::{Outcome, Progress, TaskView};

use crate::out::safe;
use crate::paint::{Colour, Paint};
use crate::when::When;
use crate::width::{columns, cut, pad};

/// The longest part of a name that is shown on a terminal.
const LONGEST_NAME: usize = 24;

/// How the list is shown.
pub(crate) struct Board<'a> {
    /// The columns of the terminal; none in a pipe.
    pub(crate) width: Option<usize>,
    pub(crate) when: &'a When,
    pub(crate) paint: Paint,
    /// Whether finished tasks older than a day are shown, and every task's project.
    pub(crate) all: bool,
}

/// Where a task stands for the person who reads the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    NeedsYou,
    Running,
    Waiting,
    Done,
}

impl Group {
    pub(crate) fn of(task: &TaskView) -> Group {
        let is_pause = task.wait.as_ref().is_some_and(|wait| wait.why == "delay between sessions");
        match task.outcome {
            _ if task.is_finished => Group::Done,
            _ if task.needs_person => Group::NeedsYou,
            Outcome::Waiting if !is_pause => Group::Waiting,
            _ if task.wait.is_some() && !is_pause => Group::Waiting,
            _ => Group::Running,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Group::NeedsYou => "NEEDS YOU",
            Group::Running => "RUNNING",
            Group::Waiting => "WAITING",
            Group::Done => "DONE",
        }
    }

    fn colour(self) -> Colour {
        match self {
            Group::NeedsYou => Colour::Red,
            Group::Running => Colour::Green,
            Group::Waiting => Colour::Yellow,
            Group::Done => Colour::Dim,
        }
    }
}

impl Board<'_> {
    /// The lines, and how many finished tasks are folded away.
    pub(crate) fn lines(&self, tasks: &[TaskView]) -> (Vec<String>, usize) {
        let is_folded = |task: &&TaskView| !self.all && task.is_finished && self.when.is_old(&task.updated);
        let folded = tasks.iter().filter(is_folded).count();
        let shown: Vec<&TaskView> = tasks.iter().filter(|task| !is_folded(task)).collect();
        let mut lines = Vec::new();
        for group in [Group::NeedsYou, Group::Running, Group::Waiting, Group::Done] {
            let members: Vec<&&TaskView> = shown.iter().filter(|task| Group::of(task) == group).collect();
            if members.is_empty() {
                continue;
            }
            let names = members.iter().map(|task| columns(&safe(shown_name(task)))).max().unwrap_or(0);
            let names = self.width.map_or(names, |width| names.min(LONGEST_NAME).min(width * 3 / 10));
            lines.push(self.heading(group));
            for task in members {
                lines.extend(self.rows(task, group, names, &shown));
            }
        }
        (lines, folded)
    }

    /// The group's title, and on a terminal what its columns are.
    pub(crate) fn heading(&self, group: Group) -> String {
        let title = group.title();
        let columns = match (group, self.width) {
            (Group::Running, Some(_)) => " STEP  AGENT     TIME    COST",
            (Group::Waiting, Some(_)) => " STEP  TIME    COST",
            (Group::NeedsYou | Group::Done, _) | (_, None) => return self.paint.in_colour(Colour::Bold, title),
        };
        let gap = self.width.unwrap_or_default().saturating_sub(title.len() + columns.len());
        self.paint.in_colour(Colour::Bold, &format!("{title}{:gap$}{columns}", ""))
    }

    fn rows(&self, task: &TaskView, group: Group, names: usize, shown: &[&TaskView]) -> Vec<String> {
        let mark = self.paint.in_colour(group_colour(task, group), &mark(task, group).to_string());
        let (name, right) = (pad(&safe(shown_name(task)), names), self.right(task, group));
        let says = safe(&self.says(task, group));
        let says = match self.width {
            Some(width) => pad(&says, width.saturating_sub(names + columns(&right) + 6)),
            None => says,
        };
        let row = format!("{mark} {name}  {says}  {}", self.paint.in_colour(Colour::Dim, &right));
        let mut rows = vec![self.width.map_or(row.clone(), |width| cut(&row, width))];
        if self.all {
            rows.push(self.paint.in_colour(Colour::Dim, &format!("    in {}", safe(&task.project))));
        }
        let command = verb(task, group).map(|verb| format!("    longhaul {verb} {}", safe(unique_name(task, shown))));
        rows.extend(command.map(|command| self.paint.in_colour(Colour::Dim, &command)));
        rows
    }

    /// What a person wants to know first.
    pub(crate) fn says(&self, task: &TaskView, group: Group) -> String {
        let missing = if task.has_worker == Some(false) { "no worker: " } else { "" };
        let status = self.when.localized(&task.status);
        let words = match (group, &task.wait) {
            (Group::NeedsYou, _) => status.trim_start_matches("needs you: ").to_owned(),
            (Group::Waiting, Some(wait)) => {
                let why = match &wait.agent {
                    Some(agent) => format!("usage limit of {agent}"),
                    None => status.trim_start_matches("waiting: ").to_owned(),
                };
                let until = wait.until.as_ref().filter(|_| wait.agent.is_some());
                until.map_or(why.clone(), |until| format!("{why}, back at {}", self.when.until(until)))
            }
            (Group::Done, _) => status.trim_start_matches("done, ").to_owned(),
            (Group::Running, _) => running(task, status),
            (Group::Waiting, None) => status,
        };
        format!("{missing}{words}")
    }

    /// The columns on the right: plan, agent, time, cost.
    pub(crate) fn right(&self, task: &TaskView, group: Group) -> String {
        let steps = task.progress.map_or_else(|| "-".to_owned(), |Progress { done, total }| format!("{done}/{total}"));
        let cost = task.cost_usd.map_or_else(|| "-".to_owned(), |usd| format!("${usd:.2}"));
        let agent = cut(&safe(&task.agent), 8);
        match group {
            Group::NeedsYou => format!("{steps:>5}  {:>8}", self.when.ago(&task.since)),
            Group::Running => format!("{steps:>5}  {agent:8}  {:>4}  {cost:>6}", self.when.age(&task.created)),
            Group::Waiting => format!("{steps:>5}  {:>4}  {cost:>6}", self.when.age(&task.created)),
            Group::Done => format!("{steps:>5}  {cost:>6}  {:>8}", self.when.ago(&task.updated)),
        }
    }
}

/// A follow-up is shown by what it does: `landing fix-tests`.
pub(crate) fn shown_name(task: &TaskView) -> &str {
    if task.follows.is_some() { &task.goal } else { &task.name }
}

fn running(task: &TaskView, status: String) -> String {
    let step = task.step.as_deref().filter(|_| ["working", "waiting", "tracked"].contains(&task.state.as_str()));
    match (task.state.as_str(), step) {
        ("tracked", Some(words)) => format!("{status}: {words}"),
        (_, Some(step)) => step.to_owned(),
        ("setting_up", _) => "running the setup".to_owned(),
        ("verifying", None) => "running the checks".to_owned(),
        ("queued" | "preparing", None) => "starting".to_owned(),
        _ => status,
    }
}

pub(crate) fn group_colour(task: &TaskView, group: Group) -> Colour {
    match group {
        Group::Done if task.result.is_some() => Colour::Green,
        other => other.colour(),
    }
}

pub(crate) fn mark(task: &TaskView, group: Group) -> char {
    match group {
        Group::NeedsYou => '!',
        Group::Running => '●',
        Group::Waiting => '◔',
        Group::Done if task.result.is_some() => '✓',
        Group::Done => '✗',
    }
}

/// What to do next, as a command that works as it is written.
fn verb(task: &TaskView, group: Group) -> Option<&'static str> {
    let is_to_land = task.result.as_deref() == Some("verified") && task.branch.is_some() && task.followed_up.is_none();
    match group {
        Group::NeedsYou if task.state == "paused" => Some("resume"),
        Group::NeedsYou => Some("why"),
        Group::Done if is_to_land => Some("land"),
        Group::Running | Group::Waiting | Group::Done => None,
    }
}

/// The name, or the id where two tasks share the name.
fn unique_name<'a>(task: &'a TaskView, shown: &[&TaskView]) -> &'a str {
    let is_shared = shown.iter().filter(|other| other.name == task.name).count() > 1;
    if is_shared { &task.id } else { &task.name }
}

#[cfg(test)]
#[path = "board_tests.rs"]
pub(crate) mod tests;
