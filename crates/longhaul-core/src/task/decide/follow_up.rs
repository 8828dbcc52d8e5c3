//! What a follow-up makes of what its owner saw. Called by `decide` only.
//! A commit is announced before it is put on a branch, so a crash in between is finished by whoever comes next.

use super::super::{Cause, Event, Observation, Task, Verdict};
use super::observe::{noted, try_again};
use crate::time::Time;

/// How often a branch may move under a landing. After that a person has to see to it.
const MOST_MOVES: u32 = 5;

pub(super) fn landing(task: &Task, seen: &Observation, now: Time) -> Vec<Event> {
    match seen {
        Observation::LandingStarted { landing } => vec![Event::LandingStarted { landing: landing.clone() }],
        Observation::TargetMoved if task.tally.target_moves + 1 >= MOST_MOVES => {
            let why = format!("the branch moved {MOST_MOVES} times while this was landing; try again when it is quiet");
            vec![Event::TargetMoved, Event::Failed { reason: Some(why) }]
        }
        Observation::TargetMoved => vec![Event::TargetMoved],
        Observation::FollowedUp { result } => {
            vec![Event::Finished { verdict: Verdict::FollowedUp(result.clone()) }]
        }
        Observation::CannotFollowUp { why } => vec![Event::Failed { reason: Some(why.clone()) }],
        Observation::CannotPrepare { cause: cause @ Cause::Git { .. } } => {
            let blocked = || Event::Blocked { cause: cause.clone() };
            [noted(seen), vec![try_again(task, now).unwrap_or_else(blocked)]].concat()
        }
        Observation::CannotPrepare { cause } => vec![Event::Blocked { cause: cause.clone() }],
        Observation::Prepared { .. }
        | Observation::Placed { .. }
        | Observation::AccountsLimited { .. }
        | Observation::FamilyLimit { .. }
        | Observation::PlanRestored
        | Observation::Woke
        | Observation::OtherEnded { .. }
        | Observation::SessionRead { .. }
        | Observation::SessionEnded { .. } => noted(seen),
    }
}
