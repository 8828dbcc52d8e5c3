//! What each command makes of a task in each state, or why it is refused. Called by `decide` only.
//! Every stage is spelled out for every command, and every state for `resume`, so that a new one does not compile without an answer.

use super::super::{
    Actor, Command, Driver, Event, Phase, Refusal, ReleasedBy, Scope, Setting, Stage, State, StopMode, Task, Then, Wait,
};
use super::{change, runner, session, tracked};
use crate::time::Time;

pub(super) type Decision = Result<Vec<Event>, Refusal>;

pub(super) fn command(task: &Task, command: &Command, actor: &Actor, now: Time) -> Decision {
    if task.submission.driver == Driver::External {
        return tracked::command(task, command, actor);
    }
    if task.state.is_final() {
        return refuse(task, command.verb(), "it is finished; start over with `longhaul retry` or `longhaul run`");
    }
    if task.submission.follow_up.is_some() {
        refuse_for_follow_up(task, command)?;
    }
    match command {
        Command::Pause { mode } => pause(task, *mode),
        Command::Resume { reason, settings } => resume(task, reason.as_ref(), settings, actor),
        Command::TakeOver => take_over(task, actor),
        Command::Release { how } => release(task, *how),
        Command::Drive { run, settings } => {
            change::reject_bad_checks(settings)?;
            Ok([change::edit(task, settings, actor, now)?, runner::drive(task, run)?].concat())
        }
        Command::Track { call } if actor.scope == Scope::Session => session::report(task, call),
        Command::Track { call } => refuse(
            task,
            call.verb(),
            "Longhaul executes it; use `longhaul tell`, `longhaul resume` or `longhaul cancel`",
        ),
        Command::Cancel { reason } => cancel(task, actor, reason.as_ref()),
        Command::Edit { settings } => change::edit(task, settings, actor, now),
        Command::Tell { text } => change::tell(text),
        Command::AcceptPlan { text, seen } => change::accept_plan(task, text, seen.as_ref()),
        Command::Force { target } => Ok(vec![Event::Forced { target: target.clone() }]),
    }
}

/// No agent works for a follow-up.
fn refuse_for_follow_up(task: &Task, command: &Command) -> Result<(), Refusal> {
    match command {
        // A fixing session reads it.
        Command::Tell { .. } if task.merging.is_some() => Ok(()),
        Command::TakeOver | Command::Tell { .. } | Command::AcceptPlan { .. } | Command::Drive { .. } => {
            refuse(task, command.verb(), "no agent works on it").map(drop)
        }
        Command::Pause { .. }
        | Command::Resume { .. }
        | Command::Release { .. }
        | Command::Track { .. }
        | Command::Cancel { .. }
        | Command::Edit { .. }
        | Command::Force { .. } => Ok(()),
    }
}

fn pause(task: &Task, asked: StopMode) -> Decision {
    let no = |why| refuse(task, "pause", why);
    match task.state.stage() {
        Stage::Queued | Stage::Preparing | Stage::Waiting => Ok(vec![Event::Paused { why: None }]),
        Stage::Live(_) => Ok(vec![Event::StopAsked { mode: asked, then: Then::Pause }]),
        Stage::Stopping { mode, then, .. } => {
            // What waits for a person anyway keeps its question.
            let stays = matches!(then, Then::Cancel { .. } | Then::Ask { .. });
            let then = if stays { then.clone() } else { Then::Pause };
            change_stop(task, asked.max(mode), then)
        }
        Stage::Held => no("a person has taken over its conversation; it pauses when they leave"),
        Stage::ForPerson => no("it is already waiting for a person"),
        Stage::Tracked { .. } => no(tracked::NOT_OURS),
        Stage::Final { .. } => no("it is finished"),
    }
}

fn resume(task: &Task, reason: Option<&String>, settings: &[Setting], actor: &Actor) -> Decision {
    change::reject_bad_checks(settings)?;
    if !task.submission.driver.is_runner() {
        return go_on(task, reason, settings, actor);
    }
    let settings = [settings, &[Setting::Driver(Driver::Supervised)]].concat();
    // Work under way continues, with a worker in place of the runner's process.
    let is_under_way = task.state.wants_owner() && !matches!(task.state.stage(), Stage::Stopping { .. });
    if is_under_way { Ok(edited(task, &settings, actor)) } else { go_on(task, reason, &settings, actor) }
}

fn go_on(task: &Task, reason: Option<&String>, settings: &[Setting], actor: &Actor) -> Decision {
    let no = |why| refuse(task, "resume", why);
    match &task.state {
        State::Held { .. } => no("a person has taken over its conversation; it pauses when they leave"),
        State::Queued => no("it starts as soon as a worker claims it"),
        State::Preparing => no("it is about to start a session"),
        State::Landing => no("it is at work"),
        State::Waiting { why: Wait::Backoff | Wait::Delay, .. } => {
            no("it resumes automatically; to try now, pause and resume it")
        }
        State::Waiting { why: Wait::Hours, .. } => no("it resumes automatically when its hours begin"),
        State::Waiting { why: Wait::Limit, .. } => no("it resumes automatically when the limit resets"),
        State::Waiting { why: Wait::Landing(_), .. } => {
            no("it continues automatically once the other landing has ended")
        }
        State::Waiting { why: Wait::After(_), .. } => no("it starts automatically once the other task is verified"),
        State::SettingUp { .. } | State::Planning { .. } | State::Working { .. } | State::Verifying { .. } => {
            no("a session is running")
        }
        State::Stopping { then: Then::Cancel { .. }, .. } => no("it is being cancelled"),
        State::NeedsHelp { .. } | State::Stopping { then: Then::Ask { .. }, .. }
            if reason.is_none_or(|text| text.trim().is_empty()) =>
        {
            Err(Refusal::ReasonMissing)
        }
        State::Stopping { mode, .. } => {
            let answer = answer(task, reason, actor);
            Ok([answer, edited(task, settings, actor), change_stop(task, *mode, Then::GoOn)?].concat())
        }
        State::Blocked { cause, .. } if cause.is_probed() => {
            no("it resumes automatically once enough disk and memory are free")
        }
        State::Stopped { .. } => raise(task, reason, settings, actor),
        State::NeedsHelp { .. } | State::Paused | State::Blocked { .. } => Ok(resumed(task, reason, settings, actor)),
        State::Tracked { .. } => no(tracked::NOT_OURS),
        State::Done { .. } | State::Failed { .. } | State::Cancelled { .. } => no("it is finished"),
    }
}

/// A limit that is still used up would stop the task again at once.
fn raise(task: &Task, reason: Option<&String>, settings: &[Setting], actor: &Actor) -> Decision {
    let events = resumed(task, reason, settings, actor);
    let after = task.after(&events, task.updated);
    match after.ok().filter(|task| task.phase() != Phase::Verify).and_then(|task| task.limit_reached()) {
        Some(reached) => Err(Refusal::LimitReached { flag: reached.limit.flag(), reached }),
        None => Ok(events),
    }
}

fn resumed(task: &Task, reason: Option<&String>, settings: &[Setting], actor: &Actor) -> Vec<Event> {
    let mut events = answer(task, reason, actor);
    events.extend(edited(task, settings, actor));
    events.push(Event::Resumed { reason: reason.cloned() });
    events
}

/// The reason answers what the agent asked, if it did.
fn answer(task: &Task, reason: Option<&String>, actor: &Actor) -> Vec<Event> {
    let asked = task.state.question().and(reason);
    asked.map(|reason| tracked::answered(reason, actor)).into_iter().collect()
}

/// A plain resume runs to the end, even for a task that was set to pause after each session.
fn edited(task: &Task, settings: &[Setting], actor: &Actor) -> Vec<Event> {
    let mut settings = settings.to_vec();
    if task.submission.patience.once && !settings.iter().any(|setting| matches!(setting, Setting::Once(_))) {
        settings.push(Setting::Once(false));
    }
    let by = Some(actor.principal.clone());
    if settings.is_empty() { Vec::new() } else { vec![Event::Edited { settings, by }] }
}

/// The session is stopped first, so that there is one agent in the conversation and no more.
fn take_over(task: &Task, actor: &Actor) -> Decision {
    let person = actor.principal.clone();
    let no = |why| refuse(task, "take over", why);
    match task.state.stage() {
        Stage::Live(_) => Ok(vec![Event::StopAsked { mode: StopMode::Graceful, then: Then::Hold { person } }]),
        Stage::Stopping { then: Then::Cancel { .. }, .. } => no("it is being cancelled"),
        Stage::Stopping { mode, .. } => change_stop(task, mode, Then::Hold { person }),
        Stage::Queued | Stage::Preparing | Stage::Waiting | Stage::ForPerson => Ok(vec![Event::Held { person }]),
        Stage::Held => no("a person has already taken over its conversation"),
        Stage::Tracked { .. } => no(tracked::NOT_OURS),
        Stage::Final { .. } => no("it is finished"),
    }
}

fn release(task: &Task, how: ReleasedBy) -> Decision {
    Ok(if task.state.is_held() { vec![Event::Released { how }] } else { Vec::new() })
}

pub(super) fn cancel(task: &Task, actor: &Actor, reason: Option<&String>) -> Decision {
    if task.landing.is_some() && !task.state.is_final() {
        return refuse(task, "cancel", "its commit is being put on the branch; let it finish, or resume it");
    }
    let by = actor.principal.clone();
    let then = || Then::Cancel { by: by.clone(), reason: reason.cloned() };
    match task.state.stage() {
        Stage::Live(_) => Ok(vec![Event::StopAsked { mode: StopMode::Graceful, then: then() }]),
        Stage::Stopping { mode, .. } => change_stop(task, mode, then()),
        Stage::Queued | Stage::Preparing | Stage::Waiting | Stage::ForPerson | Stage::Held | Stage::Tracked { .. } => {
            Ok(vec![Event::Cancelled { by, reason: reason.cloned() }])
        }
        Stage::Final { .. } => refuse(task, "cancel", "it is finished"),
    }
}

/// Asking for the same again changes nothing and writes nothing.
pub(super) fn change_stop(task: &Task, mode: StopMode, then: Then) -> Decision {
    let event = Event::StopAsked { mode, then };
    let unchanged = task.apply(&event, task.updated).is_ok_and(|after| after.state == task.state);
    Ok(if unchanged { Vec::new() } else { vec![event] })
}

pub(super) fn refuse(task: &Task, verb: &'static str, why: &'static str) -> Decision {
    Err(Refusal::WrongState { verb, from: task.state.name(), why })
}
