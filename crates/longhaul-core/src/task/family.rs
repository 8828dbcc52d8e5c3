//! A task and its children: what a child brings, what it inherits from its parent, and what their shared limits leave.
//! Asked when a child is submitted and before each session of one; the tasks of the family come from the store.

use std::collections::HashMap;

use super::{Driver, Limit, Patience, Place, Reached, Setting, Submission, Task};
use crate::ids::TaskId;
use crate::time::Time;

impl Submission {
    /// The submission of a child task: what an agent may choose comes from `wanted`, everything else from this one.
    pub fn child(&self, parent: TaskId, wanted: &Submission) -> Submission {
        Submission {
            goal: wanted.goal.clone(),
            name: wanted.name.clone(),
            checks: wanted.checks.clone(),
            criteria: wanted.criteria.clone(),
            constraints: [self.constraints.clone(), wanted.constraints.clone()].concat(),
            inputs: wanted.inputs.clone(),
            expects: wanted.expects.clone(),
            model: wanted.model.clone(),
            patience: self.patience.lowered(&wanted.patience),
            parent: Some(parent),
            driver: Driver::Supervised,
            place: Place::InPlace,
            after: None,
            retry_of: None,
            reopens: None,
            conversations: Vec::new(),
            files_name: None,
            ..self.clone()
        }
    }

    /// Whether a child of this may have a setting: a lower limit, or what this has already.
    pub fn allows_child(&self, setting: &Setting) -> bool {
        let mut changed = self.clone();
        changed.set(setting);
        let is_lower = self.patience.lowered(&changed.patience) == changed.patience;
        is_lower && Submission { patience: self.patience.clone(), ..changed } == *self
    }

    /// The first command of a child that is not literally one of this one's.
    pub fn strange_check<'a>(&self, child: &'a Submission) -> Option<&'a str> {
        let own = self.commands();
        child.commands().into_iter().find(|command| !own.contains(command))
    }
}

impl Patience {
    /// This patience with the limits of another one, as far as those are lower.
    fn lowered(&self, wanted: &Patience) -> Patience {
        Patience {
            attempts: self.attempts.min(wanted.attempts),
            idle_sessions: self.idle_sessions.min(wanted.idle_sessions),
            fix_attempts: self.fix_attempts.min(wanted.fix_attempts),
            silence_ms: lower(self.silence_ms, wanted.silence_ms),
            wall_ms: lower(self.wall_ms, wanted.wall_ms),
            max_sessions: lower(self.max_sessions, wanted.max_sessions),
            max_time_ms: lower(self.max_time_ms, wanted.max_time_ms),
            max_tokens: lower(self.max_tokens, wanted.max_tokens),
            max_cost_micros: lower(self.max_cost_micros, wanted.max_cost_micros),
            ..self.clone()
        }
    }
}

/// The lower of two limits; none is no limit.
fn lower<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// All tasks of a family, whichever of them is asked about.
#[derive(Debug)]
pub struct Family<'a> {
    tasks: HashMap<TaskId, &'a Task>,
    now: Time,
}

impl<'a> Family<'a> {
    /// A family as it is at this time.
    pub fn new(tasks: impl IntoIterator<Item = &'a Task>, now: Time) -> Family<'a> {
        Family { tasks: tasks.into_iter().map(|task| (task.id, task)).collect(), now }
    }

    /// The first limit of a task, or of one above it, that it and all tasks below it have used up together.
    pub fn limit_reached(&self, task: TaskId) -> Option<Reached> {
        let reached = |above: &Task, limit| {
            let (cap, used) = (above.cap(limit)?, self.used(above.id, limit)?);
            let name = above.submission.name.clone();
            (used >= cap).then_some(Reached { limit, used, cap, family: Some(above.id), family_name: Some(name) })
        };
        Limit::ALL.into_iter().find_map(|limit| self.binding(task, limit).find_map(|above| reached(above, limit)))
    }

    /// What a task and those above it have left of a limit; none when it is unlimited.
    pub fn left(&self, task: TaskId, limit: Limit) -> Option<u64> {
        let left = |above: &Task| Some(above.cap(limit)?.saturating_sub(self.used(above.id, limit).unwrap_or(0)));
        self.binding(task, limit).filter_map(left).min()
    }

    /// A task and those above it whose limit holds for it. A finished task cannot be edited, so its limit ends where a person has set
    /// one below it.
    fn binding(&self, task: TaskId, limit: Limit) -> impl Iterator<Item = &'a Task> {
        let mut is_set_below = false;
        self.line(task).filter(move |above| {
            let binds = !(is_set_below && above.state.is_final());
            is_set_below |= above.edited_limits.contains(&limit);
            binds
        })
    }

    /// What a task and all tasks below it have used of a limit; none when nothing is known.
    fn used(&self, above: TaskId, limit: Limit) -> Option<u64> {
        let members = self.tasks.values().filter(|task| self.line(task.id).any(|one| one.id == above));
        members.filter_map(|task| task.used_until(limit, self.now)).reduce(u64::saturating_add)
    }

    /// A task, its parent, and so on.
    fn line(&self, task: TaskId) -> impl Iterator<Item = &'a Task> {
        let parent = |task: &&Task| self.tasks.get(&task.submission.parent?).copied();
        std::iter::successors(self.tasks.get(&task).copied(), parent)
    }
}

impl Task {
    /// What is used of a limit, with the live session of the agent, which its own task counts only when it has ended.
    fn used_until(&self, limit: Limit, now: Time) -> Option<u64> {
        let live = self.state.session().filter(|session| session.purpose.is_agent());
        let running = match (limit, live) {
            (Limit::Sessions, Some(_)) => 1,
            (Limit::Time, Some(session)) => u64::try_from(now.since(session.started).as_millis()).unwrap_or(u64::MAX),
            (Limit::Sessions | Limit::Time, None) | (Limit::Tokens | Limit::Cost | Limit::Usage, _) => 0,
        };
        self.used(limit).map(|used| used.saturating_add(running))
    }
}
