//! What a plan revision stores: the whole first plan, then only what is different, because a plan of thousands of steps is revised after
//! every session. Made by `decide`, folded into the task's plan by `apply`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Plan, Step};

/// How a revision follows from the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanChange {
    /// The whole plan, of a first revision.
    #[serde(rename = "plan")]
    Whole(Plan),
    /// What is different from the revision before, beside the new ticks.
    #[serde(rename = "difference")]
    Difference(PlanDifference),
}

/// What is different between two revisions, beside the new ticks, which the event names itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDifference {
    /// Steps that are new or changed, as they are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Numbers of steps that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<u32>,
    /// Ticked steps of the revision.
    pub done: usize,
    /// All steps of the revision.
    pub total: usize,
}

impl PlanChange {
    /// What leads from one plan, if there was one, and these new ticks to another plan.
    pub fn between(before: Option<&Plan>, ticked: &[u32], after: &Plan) -> PlanChange {
        let Some(before) = before else { return PlanChange::Whole(after.clone()) };
        let mut before = before.clone();
        before.tick(ticked);
        let is_changed = |step: &&Step| before.step(step.number) != Some(*step);
        let is_gone = |number: &u32| after.step(*number).is_none();
        PlanChange::Difference(PlanDifference {
            steps: after.steps.iter().filter(is_changed).cloned().collect(),
            removed: before.steps.iter().map(|step| step.number).filter(is_gone).collect(),
            done: after.done(),
            total: after.total(),
        })
    }

    /// The plan that this change and these new ticks make of the one before.
    pub fn apply_to(&self, before: Option<&Plan>, ticked: &[u32]) -> Plan {
        let difference = match self {
            PlanChange::Whole(plan) => return plan.clone(),
            PlanChange::Difference(difference) => difference,
        };
        let replaced: BTreeSet<u32> = difference.steps.iter().map(|step| step.number).collect();
        let removed: BTreeSet<u32> = difference.removed.iter().copied().collect();
        let mut plan = before.cloned().unwrap_or_default();
        plan.tick(ticked);
        plan.steps.retain(|step| !replaced.contains(&step.number) && !removed.contains(&step.number));
        plan.steps.extend(difference.steps.iter().cloned());
        plan.steps.sort_by_key(|step| step.number);
        plan
    }

    /// `done/total` of the revision, as people see it.
    pub fn progress(&self) -> String {
        match self {
            PlanChange::Whole(plan) => plan.progress(),
            PlanChange::Difference(PlanDifference { done, total, .. }) => format!("{done}/{total}"),
        }
    }
}

impl Plan {
    fn tick(&mut self, numbers: &[u32]) {
        for number in numbers {
            if let Ok(index) = self.steps.binary_search_by_key(number, |step| step.number) {
                self.steps[index].ticked = true;
            }
        }
    }
}
