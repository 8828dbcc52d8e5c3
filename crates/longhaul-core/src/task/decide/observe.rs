//! What an observation makes of a task in each state. Called by `decide` only; nothing here can say no.
//! A state with a session is left only by its observed end. What moves nothing is noted, as long as the task is not finished.

use super::super::{
    Cause, Ended, Event, HelpReason, Observation, Phase, PlanFiles, Said, SessionRun, State, StopMode, StoppedBy, Task,
    Then, Wait,
};
use super::rules::rules;
use super::start::Preparation;
use super::{after_end, agent_limited, follow_up, verify};
use crate::ids::TaskId;
use crate::recovery;
use crate::time::Time;

pub(super) fn observe(task: &Task, seen: &Observation, now: Time) -> Vec<Event> {
    match &task.state {
        State::Preparing => preparing(task, seen, now),
        State::Landing => follow_up::landing(task, seen, now),
        State::Waiting { why: Wait::After(other), .. } => waiting_for(*other, seen),
        State::Waiting { why: Wait::Landing(other), .. } => follow_up::in_line(*other, seen),
        State::Waiting { .. } => waiting(seen),
        State::Planning { .. } | State::Working { .. } if *seen == Observation::Woke => stop_if_over(task, now),
        State::Planning { session } | State::Working { session } => {
            attending(task, session, seen, |ended, plan| (rules(task).after_end)(task, session, ended, plan, now))
        }
        State::SettingUp { session } => {
            attending(task, session, seen, |ended, _| verify::after_setup(task, session, ended, now))
        }
        State::Verifying { session } => {
            attending(task, session, seen, |ended, plan| verify::after_check(task, session, ended, plan, now))
        }
        State::Stopping { session, then, .. } => {
            attending(task, session, seen, |ended, plan| after_stop(task, session, ended, plan, then))
        }
        State::Blocked { cause, .. } if cause.is_probed() => blocked(seen),
        State::Queued
        | State::NeedsHelp { .. }
        | State::Paused
        | State::Held { .. }
        | State::Stopped { .. }
        | State::Blocked { .. }
        | State::Tracked { .. } => noted(seen),
        // A finished task never changes; what is done with its work is another task.
        State::Done { .. } | State::Failed { .. } | State::Cancelled { .. } => Vec::new(),
    }
}

fn preparing(task: &Task, seen: &Observation, now: Time) -> Vec<Event> {
    match seen {
        Observation::Prepared { session, plan, tree, phase, files, basis, opens, saved } => {
            let (tree, saved) = (tree.as_ref(), saved.as_ref());
            let found =
                Preparation { session: *session, plan, tree, phase: *phase, files, basis, opens: *opens, saved };
            (rules(task).prepared)(task, &found, now)
        }
        Observation::Placed { workspace } => vec![Event::Placed { workspace: workspace.clone() }],
        Observation::CannotPrepare { cause: cause @ Cause::Program { .. } } => {
            let blocked = Event::Blocked { cause: cause.clone() };
            agent_limited::unusable(task, task.next_agent(now), &cause.to_string(), blocked, now)
        }
        Observation::CannotPrepare { cause: cause @ Cause::Git { .. } } => {
            let again = try_again(task, now);
            let blocked = || Event::Blocked { cause: cause.clone() };
            [noted(seen), vec![again.unwrap_or_else(blocked)]].concat()
        }
        Observation::CannotPrepare { cause } => vec![Event::Blocked { cause: cause.clone() }],
        Observation::AccountsLimited { limits } => agent_limited::learned(task, limits, now),
        Observation::FamilyLimit { reached } => vec![Event::Stopped { reached: reached.clone() }],
        Observation::PlanRestored => vec![Event::PlanRestored],
        Observation::Woke
        | Observation::OtherEnded { .. }
        | Observation::InLine { .. }
        | Observation::Merged { .. }
        | Observation::LandingStarted { .. }
        | Observation::TargetMoved
        | Observation::FollowedUp { .. }
        | Observation::CannotFollowUp { .. }
        | Observation::SessionRead { .. }
        | Observation::SessionEnded { .. } => noted(seen),
    }
}

/// The next look after git could not run, unless it has failed too often.
pub(super) fn try_again(task: &Task, now: Time) -> Option<Event> {
    let pause = recovery::git_backoff(task.tally.git_failures + 1, &task.submission.patience)?;
    Some(after_end::wait(Wait::Backoff, now.after(pause), now))
}

/// The owner watches both clocks, so its word counts: the wall clock alone may have been set back.
fn waiting(seen: &Observation) -> Vec<Event> {
    match seen {
        Observation::Woke => vec![Event::WaitEnded],
        Observation::Prepared { .. }
        | Observation::Placed { .. }
        | Observation::CannotPrepare { .. }
        | Observation::AccountsLimited { .. }
        | Observation::FamilyLimit { .. }
        | Observation::PlanRestored
        | Observation::OtherEnded { .. }
        | Observation::InLine { .. }
        | Observation::Merged { .. }
        | Observation::LandingStarted { .. }
        | Observation::TargetMoved
        | Observation::FollowedUp { .. }
        | Observation::CannotFollowUp { .. }
        | Observation::SessionRead { .. }
        | Observation::SessionEnded { .. } => noted(seen),
    }
}

/// Only the other task's verification lets this one start; any other end is for a person to judge.
fn waiting_for(other: TaskId, seen: &Observation) -> Vec<Event> {
    match seen {
        Observation::OtherEnded { task, verified: true, .. } if *task == other => vec![Event::AfterMet],
        Observation::OtherEnded { task, verified: false, how } if *task == other => {
            let reason = HelpReason::AfterUnverified { task: *task, how: how.clone() };
            vec![Event::HelpNeeded { reason }]
        }
        Observation::OtherEnded { .. }
        | Observation::Woke
        | Observation::Prepared { .. }
        | Observation::Placed { .. }
        | Observation::CannotPrepare { .. }
        | Observation::AccountsLimited { .. }
        | Observation::FamilyLimit { .. }
        | Observation::PlanRestored
        | Observation::InLine { .. }
        | Observation::Merged { .. }
        | Observation::LandingStarted { .. }
        | Observation::TargetMoved
        | Observation::FollowedUp { .. }
        | Observation::CannotFollowUp { .. }
        | Observation::SessionRead { .. }
        | Observation::SessionEnded { .. } => noted(seen),
    }
}

fn blocked(seen: &Observation) -> Vec<Event> {
    match seen {
        Observation::Woke => vec![Event::Unblocked],
        Observation::Prepared { .. }
        | Observation::Placed { .. }
        | Observation::CannotPrepare { .. }
        | Observation::AccountsLimited { .. }
        | Observation::FamilyLimit { .. }
        | Observation::PlanRestored
        | Observation::OtherEnded { .. }
        | Observation::InLine { .. }
        | Observation::Merged { .. }
        | Observation::LandingStarted { .. }
        | Observation::TargetMoved
        | Observation::FollowedUp { .. }
        | Observation::CannotFollowUp { .. }
        | Observation::SessionRead { .. }
        | Observation::SessionEnded { .. } => noted(seen),
    }
}

/// While a session lives: what it said is kept, and its end leads on.
fn attending(
    task: &Task,
    session: &SessionRun,
    seen: &Observation,
    end: impl FnOnce(&Ended, &PlanFiles) -> Vec<Event>,
) -> Vec<Event> {
    match seen {
        Observation::SessionRead { session: id, read, said } if *id == session.id => {
            let event = Event::SessionRead { session: *id, read: read.clone(), said: said.clone() };
            let stop = too_dear(task, &event, said);
            [vec![event], stop].concat()
        }
        Observation::SessionEnded { session: id, ended, plan } if *id == session.id => end(ended, plan),
        Observation::SessionRead { .. }
        | Observation::SessionEnded { .. }
        | Observation::Prepared { .. }
        | Observation::Placed { .. }
        | Observation::CannotPrepare { .. }
        | Observation::AccountsLimited { .. }
        | Observation::FamilyLimit { .. }
        | Observation::PlanRestored
        | Observation::InLine { .. }
        | Observation::Merged { .. }
        | Observation::LandingStarted { .. }
        | Observation::TargetMoved
        | Observation::FollowedUp { .. }
        | Observation::CannotFollowUp { .. }
        | Observation::OtherEnded { .. }
        | Observation::Woke => noted(seen),
    }
}

/// The time of the live session was shortened meanwhile, and is over.
fn stop_if_over(task: &Task, now: Time) -> Vec<Event> {
    let then = super::change::over(task, now);
    then.map(|then| Event::StopAsked { mode: StopMode::Graceful, then }).into_iter().collect()
}

/// A session that has used up the task's tokens or money is asked to stop; never one that a person is stopping already.
fn too_dear(task: &Task, read: &Event, said: &Said) -> Vec<Event> {
    if said.usage == super::super::Usage::default() || matches!(task.state, State::Stopping { .. }) {
        return Vec::new();
    }
    let reached = task.apply(read, task.updated).ok().and_then(|after| after.limit_reached());
    reached
        .map(|reached| Event::StopAsked { mode: StopMode::Graceful, then: Then::Stop { reached } })
        .into_iter()
        .collect()
}

pub(super) fn noted(seen: &Observation) -> Vec<Event> {
    vec![Event::Noted { observation: Box::new(seen.clone()) }]
}

/// What comes after a session that was asked to stop.
fn after_stop(task: &Task, session: &SessionRun, ended: &Ended, sight: &PlanFiles, then: &Then) -> Vec<Event> {
    let seen = (rules(task).read_plan_files)(task, session, ended, sight);
    let mut events = after_end::end_events(session, &as_asked(ended), &seen);
    let phase = after_end::phase_after(task, &events);
    match then {
        Then::Pause => events.push(Event::Paused { why: None }),
        Then::Hold { person } => events.push(Event::Held { person: person.clone() }),
        Then::Cancel { by, reason } => events.push(Event::Cancelled { by: by.clone(), reason: reason.clone() }),
        // Checks cost nothing of what is used up: a task with nothing left for the agent is verified all the same.
        Then::Stop { .. } if phase == Phase::Verify && seen.plan.is_complete() && !seen.refused() => {}
        Then::Stop { reached } => events.push(Event::Stopped { reached: reached.clone() }),
        Then::Ask { reason } => events.push(Event::HelpNeeded { reason: reason.clone() }),
        Then::GoOn => {}
    }
    events
}

/// The keeper cannot know who asked it to stop; here it was the task.
fn as_asked(ended: &Ended) -> Ended {
    let stopped_by = match ended.stopped_by {
        StoppedBy::Shutdown => StoppedBy::Task,
        other @ (StoppedBy::Itself | StoppedBy::Task | StoppedBy::Silence | StoppedBy::Wall | StoppedBy::Lingered) => {
            other
        }
    };
    Ended { stopped_by, ..ended.clone() }
}
