//! What the plan's files mean: accepted, compared with the last good one, or refused and put back. Called by `decide` only.
//!
//! The file is input and view; lifecycle truth is the store. Zero steps is never "all done".

use crate::fingerprint;

use super::super::{Accepted, Ended, Event, Outcome, PlanFiles, Restore, Task, TaskListFile};
use crate::plan::{self, Plan, PlanChange, Refused};

/// The result of reading the plan's files.
pub(super) struct Seen {
    /// To be committed.
    pub(super) events: Vec<Event>,
    /// The plan that holds now.
    pub(super) plan: Plan,
    /// Why a planning session left no plan.
    pub(super) problem: Option<String>,
}

impl Seen {
    pub(super) fn unchanged(plan: Plan) -> Seen {
        Seen { events: Vec::new(), plan, problem: None }
    }

    pub(super) fn refused(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::PlanRefused { .. }))
    }

    /// A first plan, or a new tick.
    pub(super) fn is_progress(&self) -> bool {
        self.events.iter().any(
            |event| matches!(event, Event::PlanRevised { revision, ticked, .. } if *revision == 1 || !ticked.is_empty()),
        )
    }
}

/// After a session without an accepted plan: both files must exist and the list must parse, and the session must have finished.
pub(super) fn first(ended: &Ended, sight: &PlanFiles) -> Seen {
    match accept(ended, sight) {
        Ok((plan, hash)) => {
            let ticked = plan.steps.iter().filter(|step| step.ticked).map(|step| step.number).collect();
            let change = PlanChange::Whole(plan.clone());
            let events = vec![Event::PlanRevised { revision: 1, change, hash, ticked }];
            Seen { events, plan, problem: None }
        }
        Err(why) => Seen { events: Vec::new(), plan: Plan::default(), problem: Some(why) },
    }
}

fn accept(ended: &Ended, sight: &PlanFiles) -> Result<(Plan, String), String> {
    if ended.outcome != Outcome::Completed {
        return Err("the planning session did not finish".into());
    }
    let (text, hash) = match &sight.list {
        TaskListFile::Missing => return Err("the planning session did not create task_list.md".into()),
        TaskListFile::Unreadable { why } => return Err(format!("invalid task_list.md: {why}")),
        TaskListFile::Text { hash, text } => (text, hash),
    };
    if !sight.progress_exists {
        return Err("the planning session did not create progress.md".into());
    }
    let plan = plan::parse(text).map_err(|bad| format!("invalid task_list.md: {bad}"))?;
    Ok((plan, hash.clone()))
}

/// New ticks and additions are taken; everything else is refused and the last good plan put back with what was taken.
pub(super) fn compare(task: &Task, accepted: &Accepted, sight: &PlanFiles) -> Seen {
    let (text, hash) = match &sight.list {
        TaskListFile::Text { hash, text } => (text, hash),
        TaskListFile::Missing => return put_back(task, accepted, None, "task_list.md is missing".into()),
        TaskListFile::Unreadable { why } => return put_back(task, accepted, None, why.clone()),
    };
    if *hash == accepted.hash {
        return Seen::unchanged(accepted.plan.clone());
    }
    let seen = match plan::parse(text) {
        Ok(seen) => seen,
        Err(bad) => return put_back(task, accepted, Some(hash.clone()), bad.to_string()),
    };
    let merge = plan::merge(Some(&accepted.plan), &seen);
    let refused = !merge.refused.is_empty();
    let good = if refused { plan::render(Some(text), &merge.plan) } else { text.clone() };
    let mut events = vec![Event::PlanRevised {
        revision: accepted.revision + 1,
        change: PlanChange::between(Some(&accepted.plan), &merge.new_ticks, &merge.plan),
        hash: if refused { hash_of(&good) } else { hash.clone() },
        ticked: merge.new_ticks,
    }];
    if refused {
        events.push(refusal(task, merge.refused, None, Some(hash.clone()), good));
    }
    Seen { events, plan: merge.plan, problem: None }
}

fn put_back(task: &Task, accepted: &Accepted, expect: Option<String>, why: String) -> Seen {
    let text = plan::render(None, &accepted.plan);
    let events = vec![refusal(task, Vec::new(), Some(why), expect, text)];
    Seen { events, plan: accepted.plan.clone(), problem: None }
}

fn refusal(
    task: &Task,
    refused: Vec<Refused>,
    unreadable: Option<String>,
    expect: Option<String>,
    text: String,
) -> Event {
    Event::PlanRefused { refused, unreadable, restore: Restore { expect, text, keep_as: task.tally.rejected + 1 } }
}

/// Lower-case hex of a text's SHA-256, as the owner computes it for the file.
pub(super) fn hash_of(text: &str) -> String {
    fingerprint::of_bytes(text.as_bytes())
}
