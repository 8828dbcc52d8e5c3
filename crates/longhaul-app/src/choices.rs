//! What to choose from, where a choice is all that a request lacks. An error carries it; a front end with a person at it may ask.
//! Pure: made by lookups and by the choice of an agent.

use longhaul_core::task::Task;
use longhaul_store::Stored;

use crate::session::turns::cut;
use crate::{describe, text};

/// The longest state and goal of a row, in characters.
const LONGEST: usize = 40;

/// A missing choice.
#[derive(Debug)]
pub struct Choices {
    /// What the request lacks.
    pub missing: Missing,
    /// What it can be.
    pub among: Vec<Choice>,
}

/// What can be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The agent of a new task.
    Agent,
    /// The task that is meant by this text, or by no text at all.
    Task(Option<String>),
}

/// One thing to choose.
#[derive(Debug)]
pub struct Choice {
    /// What names it without doubt.
    pub value: String,
    /// What a person sees, on one line.
    pub row: String,
}

impl Choices {
    /// Agents, by their names.
    pub(crate) fn of_agents(names: &[String]) -> Choices {
        let among = names.iter().map(|name| Choice { value: name.clone(), row: text::safe(name) });
        Choices { missing: Missing::Agent, among: among.collect() }
    }

    /// Tasks with their states and goals, each by its name, or by its id where names do not tell them apart.
    pub(crate) fn of_tasks(wanted: Option<&str>, found: &[Stored]) -> Choices {
        let tasks: Vec<&Task> = found.iter().map(|stored| &stored.task).collect();
        let rows: Vec<[String; 3]> = tasks.iter().map(|task| row(task, is_unique(task, &tasks, wanted))).collect();
        let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (name, state) = (widest(0), widest(1));
        let among = tasks.iter().zip(&rows).map(|(task, row)| Choice {
            value: task.id.to_string(),
            row: format!("{:name$}  {:state$}  {}", row[0], row[1], row[2]).trim_end().to_owned(),
        });
        Choices { missing: Missing::Task(wanted.map(str::to_owned)), among: among.collect() }
    }

    /// All rows, each on a line of its own.
    pub(crate) fn lines(&self) -> String {
        self.among.iter().map(|choice| format!("\n  {}", choice.row)).collect()
    }
}

fn row(task: &Task, by_name: bool) -> [String; 3] {
    let handle =
        if by_name { task.submission.name.to_string() } else { format!("{} ({})", task.id, task.submission.name) };
    let state = describe::state(task);
    let state = state.split(" (").next().unwrap_or_default();
    let goal = task.submission.goal.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    [handle, text::safe(&cut(state, LONGEST)), text::safe(&cut(goal.trim(), LONGEST))]
}

/// Whether the name alone finds the task: not where several have it, nor if the tasks were found by the beginning of their ids.
fn is_unique(task: &Task, tasks: &[&Task], wanted: Option<&str>) -> bool {
    let name = &task.submission.name;
    let by_id = wanted.is_some_and(|wanted| task.id.to_string().starts_with(wanted));
    !by_id && tasks.iter().filter(|other| other.submission.name == *name).count() == 1
}
