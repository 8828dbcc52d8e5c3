//! What a follow-up makes of what its owner saw. Called by `decide` only.
//! A merge and a commit are announced before files or a branch change, so a crash in between is finished by whoever comes next. Merged work
//! is checked and fixed as any other, in rounds and sessions; what is different about them is here.

use super::super::{Cause, Event, HelpReason, Observation, Phase, Purpose, Round, RoundOutcome, Task, Verdict, Wait};
use super::observe::{noted, try_again};
use super::start::{Preparation, Wanted, start};
use super::verify;
use crate::ids::TaskId;
use crate::time::Time;
use crate::verdict;

/// How often a branch may move under a landing. After that a person has to see to it.
const MOST_MOVES: u32 = 5;

pub(super) fn landing(task: &Task, seen: &Observation, now: Time) -> Vec<Event> {
    match seen {
        Observation::InLine { behind } => {
            vec![Event::WaitStarted { why: Wait::Landing(*behind), until: None, span_ms: None }]
        }
        Observation::Merged { .. } if task.merging.as_ref().is_some_and(|merging| merging.turn >= MOST_MOVES) => {
            vec![gave_up()]
        }
        Observation::Merged { merge } => vec![Event::Merged { merge: merge.clone() }],
        Observation::Placed { workspace } => vec![Event::Placed { workspace: workspace.clone() }],
        Observation::LandingStarted { landing } => vec![Event::LandingStarted { landing: landing.clone() }],
        Observation::TargetMoved if task.tally.target_moves + 1 >= MOST_MOVES => vec![Event::TargetMoved, gave_up()],
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
        | Observation::AccountsLimited { .. }
        | Observation::FamilyLimit { .. }
        | Observation::PlanRestored
        | Observation::Woke
        | Observation::OtherEnded { .. }
        | Observation::SessionRead { .. }
        | Observation::SessionEnded { .. } => noted(seen),
    }
}

fn gave_up() -> Event {
    let why = format!("the branch moved {MOST_MOVES} times while this was landing; try again when it is quiet");
    Event::Failed { reason: Some(why) }
}

/// Whatever came of the landing before it, this one continues.
pub(super) fn in_line(behind: TaskId, seen: &Observation) -> Vec<Event> {
    let is_over = matches!(seen, Observation::OtherEnded { task, .. } if *task == behind);
    if is_over { vec![Event::WaitEnded] } else { noted(seen) }
}

/// The worktree is fit: fix what was found in merged work, or check it.
pub(super) fn prepared(task: &Task, found: &Preparation<'_>, now: Time) -> Vec<Event> {
    // Another look is wanted where this one was taken for something else.
    let is_for_this = found.phase == Some(Phase::Verify) && found.basis.on_target == task.needs_comparison();
    match task.needs_fix() {
        true => vec![start(task, found, &Wanted::Agent(Purpose::Fix), now)],
        false if !is_for_this => Vec::new(),
        false => verify::next_check(task, found, now),
    }
}

/// What a round on merged work, or on the branch without it, calls for besides landing or fixing: a person.
pub(super) fn after_round(task: &Task, round: &Round, outcome: &RoundOutcome) -> Option<Event> {
    let help = |reason| Some(Event::HelpNeeded { reason });
    let order = task.order()?;
    if round.basis.on_target {
        let before: Vec<String> = task.merging.iter().flat_map(|m| &m.failed).flat_map(Round::failures).collect();
        let both: Vec<String> = round.failures().filter(|check| before.contains(check)).collect();
        let reason = HelpReason::FailsOnTarget { checks: both.join(", "), onto: order.onto.clone() };
        return if both.is_empty() { None } else { help(reason) };
    }
    let doubts: Vec<String> = verdict::doubts(round).iter().map(ToString::to_string).collect();
    let is_unread = task.merging.as_ref().is_some_and(|merging| merging.is_unread);
    match outcome {
        RoundOutcome::Passed { .. } if is_unread && !order.yes => {
            let why = format!("a fixing session changed it after it was merged with `{}`", order.onto);
            help(HelpReason::ReviewLanding { why })
        }
        RoundOutcome::Passed { .. } if !doubts.is_empty() && !order.unverified => {
            let why = format!("its checks passed, but it is not verified, because {}", doubts.join("; and because "));
            help(HelpReason::ReviewLanding { why })
        }
        RoundOutcome::TreeChanged if round.again => {
            let (why, fixes) = (verdict::changes_what_it_judges(round), task.tally.fixes);
            help(HelpReason::VerificationFailed { why, fixes })
        }
        RoundOutcome::Passed { .. } | RoundOutcome::TreeChanged | RoundOutcome::Failed { .. } => None,
    }
}
