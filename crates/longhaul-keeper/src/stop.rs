//! The course of a stop: which step of the recipe is due when, and on whose account.
//!
//! The pump asks it. Pure: the caller brings the time and carries out what is due.

use std::time::{Duration, Instant};

use longhaul_core::task::{StopSignal, StopStep};

use crate::contract::Why;

/// What to do to the tree now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Send a signal to the program's group.
    Send(StopSignal),
    /// Kill everything, and again until the program is gone.
    EndTree,
}

/// How far a stop has got.
#[derive(Debug)]
pub(crate) struct StopCourse {
    recipe: Vec<StopStep>,
    why: Why,
    phase: Phase,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    NotAsked,
    Step { next: usize, at: Option<Instant> },
    Ending,
}

impl StopCourse {
    /// A course for this recipe, not begun.
    pub(crate) fn new(recipe: Vec<StopStep>) -> StopCourse {
        StopCourse { recipe, why: Why::Own, phase: Phase::NotAsked }
    }

    /// Begins the recipe, unless some stop has begun already: the first reason stays.
    pub(crate) fn begin(&mut self, why: Why, now: Instant) {
        if let Phase::NotAsked = self.phase {
            self.why = why;
            self.phase = Phase::Step { next: 0, at: Some(now) };
        }
    }

    /// Overrides everything: the tree ends now.
    pub(crate) fn end_now(&mut self) {
        self.why = Why::EndedNow;
        self.phase = Phase::Ending;
    }

    /// On whose account the program ends.
    pub(crate) fn why(&self) -> Why {
        self.why
    }

    /// Takes what is due; while the tree is to end, that is due every time.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Due> {
        match self.phase {
            Phase::NotAsked => None,
            Phase::Ending => Some(Due::EndTree),
            Phase::Step { at, .. } if at.is_none_or(|at| at > now) => None,
            Phase::Step { next, .. } => {
                let Some(step) = self.recipe.get(next) else {
                    self.phase = Phase::Ending;
                    return Some(Due::EndTree);
                };
                let at = now.checked_add(Duration::from_millis(step.grace_ms));
                self.phase = Phase::Step { next: next + 1, at };
                Some(Due::Send(step.signal))
            }
        }
    }

    /// When to ask again.
    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        match self.phase {
            Phase::NotAsked => None,
            Phase::Step { at, .. } => at,
            Phase::Ending => now.checked_add(Duration::from_millis(10)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe() -> Vec<StopStep> {
        vec![
            StopStep { signal: StopSignal::Interrupt, grace_ms: 100 },
            StopStep { signal: StopSignal::Terminate, grace_ms: 50 },
        ]
    }

    #[test]
    fn the_recipe_runs_step_by_step_and_then_ends_the_tree() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut course = StopCourse::new(recipe());
        assert_eq!(course.take_due(start), None);
        course.begin(Why::Silence, start);
        assert_eq!(course.take_due(start), Some(Due::Send(StopSignal::Interrupt)));
        assert_eq!(course.take_due(after(99)), None);
        course.begin(Why::Terminated, after(99));
        assert_eq!(course.take_due(after(100)), Some(Due::Send(StopSignal::Terminate)));
        assert_eq!(course.take_due(after(149)), None);
        assert_eq!(course.take_due(after(150)), Some(Due::EndTree));
        assert_eq!(course.take_due(after(151)), Some(Due::EndTree));
        assert_eq!(course.why(), Why::Silence);
    }

    #[test]
    fn the_end_now_overrides_a_recipe_under_way() {
        let start = Instant::now();
        let mut course = StopCourse::new(recipe());
        course.begin(Why::Terminated, start);
        assert_eq!(course.take_due(start), Some(Due::Send(StopSignal::Interrupt)));
        course.end_now();
        assert_eq!(course.take_due(start), Some(Due::EndTree));
        course.begin(Why::Terminated, start);
        assert_eq!(course.why(), Why::EndedNow);
    }
}
