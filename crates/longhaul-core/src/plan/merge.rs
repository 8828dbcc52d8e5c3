//! Compares a list as it was found with the last accepted plan.
//!
//! Called by `decide` for every look at `task_list.md`. New ticks and additions are taken; whatever would lose or rewrite an
//! accepted step is refused and named, so that the next prompt can say it. Accepted steps and ticks are never lost here.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::parse::MOST_STEPS;
use super::{Plan, Step};

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The accepted plan with everything taken.
    pub plan: Plan,
    /// Numbers of accepted steps that are newly ticked. A step that arrives ticked is an addition, not a new tick, unless
    /// there was no plan before.
    pub new_ticks: Vec<u32>,
    /// Numbers of steps that are new.
    pub added: Vec<u32>,
    /// What was not taken.
    pub refused: Vec<Refused>,
}

/// A change that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Refused {
    #[error("task {number} was removed")]
    Removed { number: u32 },
    #[error("task {number} was renamed from `{was}` to `{now}`")]
    Renamed { number: u32, was: String, now: String },
    #[error("task {number} was moved to number {now}")]
    Moved { number: u32, now: u32 },
    #[error("task {number} was un-ticked")]
    Unticked { number: u32 },
    #[error("task {number} was added beyond the limit of {MOST_STEPS} tasks")]
    TooMany { number: u32 },
}

/// Takes from `seen` what may be taken.
pub fn merge(accepted: Option<&Plan>, seen: &Plan) -> Merge {
    let Some(accepted) = accepted else { return take_all(seen) };
    let by_number: BTreeMap<u32, &Step> = seen.steps.iter().map(|step| (step.number, step)).collect();
    let mut strangers = Strangers::find(accepted, seen);
    let mut merge = Merge { plan: Plan::default(), new_ticks: Vec::new(), added: Vec::new(), refused: Vec::new() };
    for step in &accepted.steps {
        let found = by_number.get(&step.number).copied();
        match found.filter(|found| found.text == step.text) {
            Some(found) => merge.keep(step, found),
            None => merge.refuse_change(step, found, &mut strangers),
        }
    }
    for step in strangers.by_number.into_values() {
        merge.add(step);
    }
    merge.plan.steps.sort_by_key(|step| step.number);
    merge
}

fn take_all(seen: &Plan) -> Merge {
    let numbers = |steps: &mut dyn Iterator<Item = &Step>| steps.map(|step| step.number).collect();
    Merge {
        plan: seen.clone(),
        new_ticks: numbers(&mut seen.steps.iter().filter(|step| step.ticked)),
        added: numbers(&mut seen.steps.iter()),
        refused: Vec::new(),
    }
}

/// Steps of the list under numbers that the accepted plan does not have.
struct Strangers<'a> {
    by_number: BTreeMap<u32, &'a Step>,
    by_text: BTreeMap<&'a str, BTreeSet<u32>>,
}

impl<'a> Strangers<'a> {
    fn find(accepted: &Plan, seen: &'a Plan) -> Self {
        let known: BTreeSet<u32> = accepted.steps.iter().map(|step| step.number).collect();
        let mut strangers = Self { by_number: BTreeMap::new(), by_text: BTreeMap::new() };
        for step in seen.steps.iter().filter(|step| !known.contains(&step.number)) {
            strangers.by_number.insert(step.number, step);
            strangers.by_text.entry(&step.text).or_default().insert(step.number);
        }
        strangers
    }

    /// Takes out the first stranger with this text.
    fn take(&mut self, text: &str) -> Option<u32> {
        let number = self.by_text.get_mut(text)?.pop_first()?;
        self.by_number.remove(&number).map(|step| step.number)
    }
}

impl Merge {
    fn keep(&mut self, accepted: &Step, found: &Step) {
        if found.ticked && !accepted.ticked {
            self.new_ticks.push(accepted.number);
        }
        if accepted.ticked && !found.ticked {
            self.refused.push(Refused::Unticked { number: accepted.number });
        }
        self.plan.steps.push(Step { ticked: accepted.ticked || found.ticked, ..found.clone() });
    }

    /// Keeps the accepted step as it was. A stranger with its text is the same step under another number, so it is no
    /// addition: taking it would double the step.
    fn refuse_change(&mut self, accepted: &Step, found: Option<&Step>, strangers: &mut Strangers<'_>) {
        let number = accepted.number;
        self.refused.push(match (strangers.take(&accepted.text), found) {
            (Some(now), _) => Refused::Moved { number, now },
            (None, Some(found)) => Refused::Renamed { number, was: accepted.text.clone(), now: found.text.clone() },
            (None, None) => Refused::Removed { number },
        });
        self.plan.steps.push(accepted.clone());
    }

    fn add(&mut self, step: &Step) {
        if self.plan.total() < MOST_STEPS {
            self.added.push(step.number);
            self.plan.steps.push(step.clone());
        } else {
            self.refused.push(Refused::TooMany { number: step.number });
        }
    }
}
