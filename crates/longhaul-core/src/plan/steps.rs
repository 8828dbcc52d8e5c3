//! What a plan is: numbered steps with a box each, and the figures people see of it.
//!
//! Stored inside plan revisions. Ticks are copied from an accepted list; nothing here decides whether one is true.

use serde::{Deserialize, Serialize};

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its number in the list; numbers increase, gaps are allowed.
    pub number: u32,
    /// What is to be done, without surrounding blanks.
    pub text: String,
    /// The heading above it, if any.
    pub phase: Option<String>,
    /// Whether its box is ticked.
    pub ticked: bool,
}

/// The steps of a task in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The steps; numbers strictly increase.
    pub steps: Vec<Step>,
}

impl Plan {
    /// How many steps there are.
    pub fn total(&self) -> usize {
        self.steps.len()
    }

    /// How many steps are ticked.
    pub fn done(&self) -> usize {
        self.steps.iter().filter(|step| step.ticked).count()
    }

    /// Whether every step is ticked; a plan without steps never is.
    pub fn is_complete(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|step| step.ticked)
    }

    /// The first step that is not ticked.
    pub fn current(&self) -> Option<&Step> {
        self.steps.iter().find(|step| !step.ticked)
    }

    /// Ticked steps in percent, rounded down.
    pub fn percent(&self) -> usize {
        (self.done() * 100).checked_div(self.total()).unwrap_or(0)
    }

    /// `done/total`, as people see it.
    pub fn progress(&self) -> String {
        format!("{}/{}", self.done(), self.total())
    }

    /// The step of this number.
    pub fn step(&self, number: u32) -> Option<&Step> {
        self.steps.binary_search_by_key(&number, |step| step.number).ok().map(|index| &self.steps[index])
    }
}
