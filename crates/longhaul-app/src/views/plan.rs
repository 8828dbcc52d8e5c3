//! A task's plan: its steps, what was refused of it, and how the file in the task directory compares with it.
//! Answered by `plan`, and part of `show` and `accept_plan`. Only what is accepted is a plan; the file itself is not shown.

use longhaul_core::plan::Step;
use longhaul_core::task::Task;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Progress, TaskView};
use crate::operation::View;
use crate::report::RefusedPlan;

/// The last accepted plan of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanView {
    /// Counts from 1.
    pub revision: u32,
    /// SHA-256 of the list that it was read from.
    pub hash: String,
    /// How many steps are done.
    #[serde(flatten)]
    pub progress: Progress,
    /// The same in percent.
    pub percent: u32,
    /// The number of the step that is next.
    pub current: Option<u32>,
    /// In the order of the list.
    pub steps: Vec<StepView>,
}

/// One step of a plan.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepView {
    /// Its number in the list.
    pub number: u32,
    /// What is to be done.
    pub text: String,
    /// The heading above it.
    pub phase: Option<String>,
    /// Whether it is done.
    pub ticked: bool,
}

/// What `plan` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanAnswer {
    /// The task.
    pub task: TaskView,
    /// Null until a plan is accepted.
    pub plan: Option<PlanView>,
    /// Changes that were refused, newest last.
    pub refused: Vec<RefusedPlan>,
    /// Where task_list.md is.
    pub directory: String,
    /// How task_list.md compares with the plan: `as accepted`, `changed`, `missing` or `unreadable`.
    pub file: &'static str,
}

impl View for PlanAnswer {
    const KIND: &'static str = "plan";
}

impl PlanView {
    /// The plan of a task, if it has one.
    pub(crate) fn of(task: &Task) -> Option<PlanView> {
        let accepted = task.plan.as_ref()?;
        let plan = &accepted.plan;
        let count = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
        Some(PlanView {
            revision: accepted.revision,
            hash: accepted.hash.clone(),
            progress: Progress { done: count(plan.done()), total: count(plan.total()) },
            percent: count(plan.percent()),
            current: plan.current().map(|step| step.number),
            steps: plan.steps.iter().map(StepView::new).collect(),
        })
    }
}

impl StepView {
    fn new(step: &Step) -> StepView {
        StepView { number: step.number, text: step.text.clone(), phase: step.phase.clone(), ticked: step.ticked }
    }
}
