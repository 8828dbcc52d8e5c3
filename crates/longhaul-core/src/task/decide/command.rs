//! What a command makes of a task in each state, or why it is refused. Called by `decide` only.
//! Every command is spelled out in every state, so that a new one does not compile until it has an answer everywhere.

use super::super::{Actor, BackTo, Command, Event, Haste, Refusal, State, Task, Then, Wait};

type Decision = Result<Vec<Event>, Refusal>;

pub(super) fn command(task: &Task, command: &Command, actor: &Actor) -> Decision {
    match &task.state {
        State::Queued { back_to } => idle(task, *back_to, command, actor, "it starts as soon as a worker takes it"),
        State::Preparing { back_to } => idle(task, *back_to, command, actor, "it is about to start a session"),
        State::Waiting { why: Wait::Backoff, back_to, .. } => {
            idle(task, *back_to, command, actor, "it goes on by itself; pause and resume it to try at once")
        }
        State::Waiting { why: Wait::Limit, back_to, .. } => {
            idle(task, *back_to, command, actor, "it goes on by itself when the limit is over")
        }
        State::Planning { .. } | State::Working { .. } => running(task, command, actor),
        State::Stopping { haste, then, .. } => stopping(task, *haste, then, command, actor),
        State::NeedsHelp { back_to, .. } => needs_help(task, *back_to, command, actor),
        State::Paused { back_to } | State::Blocked { back_to, .. } => parked(task, *back_to, command, actor),
        State::Done { .. } | State::Cancelled { .. } => finished(task, command),
    }
}

/// No session, and an owner who moves it on.
fn idle(task: &Task, back_to: BackTo, command: &Command, actor: &Actor, why_not_resume: &'static str) -> Decision {
    match command {
        Command::Pause { .. } => Ok(vec![Event::Paused { back_to }]),
        Command::Resume { .. } => refuse(task, command, why_not_resume),
        Command::Cancel { reason } => cancelled(actor, reason.as_ref()),
        Command::Force { target } => forced(target),
    }
}

fn running(task: &Task, command: &Command, actor: &Actor) -> Decision {
    match command {
        Command::Pause { haste } => Ok(vec![Event::StopAsked { haste: *haste, then: Then::Pause }]),
        Command::Resume { .. } => refuse(task, command, "a session is running"),
        Command::Cancel { reason } => {
            Ok(vec![Event::StopAsked { haste: Haste::Recipe, then: then_cancel(actor, reason.as_ref()) }])
        }
        Command::Force { target } => forced(target),
    }
}

/// Cancel overrides all, pause all but cancel, resume takes a pause back.
fn stopping(task: &Task, haste: Haste, then: &Then, command: &Command, actor: &Actor) -> Decision {
    let cancelling = matches!(then, Then::Cancel { .. });
    match command {
        Command::Pause { haste: asked } => {
            let then = if cancelling { then.clone() } else { Then::Pause };
            change_stop(task, haste.max(*asked), then)
        }
        Command::Resume { .. } if cancelling => refuse(task, command, "it is being cancelled"),
        Command::Resume { .. } => change_stop(task, haste, Then::GoOn),
        Command::Cancel { reason } => change_stop(task, haste, then_cancel(actor, reason.as_ref())),
        Command::Force { target } => forced(target),
    }
}

fn needs_help(task: &Task, back_to: BackTo, command: &Command, actor: &Actor) -> Decision {
    match command {
        Command::Resume { reason } if reason.as_ref().is_none_or(|text| text.trim().is_empty()) => {
            Err(Refusal::ReasonMissing)
        }
        Command::Resume { .. } | Command::Pause { .. } | Command::Cancel { .. } | Command::Force { .. } => {
            parked(task, back_to, command, actor)
        }
    }
}

fn parked(task: &Task, back_to: BackTo, command: &Command, actor: &Actor) -> Decision {
    match command {
        Command::Resume { reason } => Ok(vec![Event::Resumed { reason: reason.clone(), back_to }]),
        Command::Pause { .. } => refuse(task, command, "it waits for a person already"),
        Command::Cancel { reason } => cancelled(actor, reason.as_ref()),
        Command::Force { target } => forced(target),
    }
}

fn finished(task: &Task, command: &Command) -> Decision {
    match command {
        Command::Pause { .. } | Command::Resume { .. } | Command::Cancel { .. } | Command::Force { .. } => {
            refuse(task, command, "it is finished; start anew with `longhaul run`")
        }
    }
}

/// Asking for the same again changes nothing and writes nothing.
fn change_stop(task: &Task, haste: Haste, then: Then) -> Decision {
    let event = Event::StopAsked { haste, then };
    let unchanged = task.apply(&event, task.updated).is_ok_and(|after| after.state == task.state);
    Ok(if unchanged { Vec::new() } else { vec![event] })
}

fn then_cancel(actor: &Actor, reason: Option<&String>) -> Then {
    Then::Cancel { by: actor.principal.clone(), reason: reason.cloned() }
}

fn cancelled(actor: &Actor, reason: Option<&String>) -> Decision {
    Ok(vec![Event::Cancelled { by: actor.principal.clone(), reason: reason.cloned() }])
}

fn forced(target: &str) -> Decision {
    Ok(vec![Event::Forced { target: target.to_owned() }])
}

fn refuse(task: &Task, command: &Command, why: &'static str) -> Decision {
    Err(Refusal::WrongState { verb: command.verb(), from: task.state.name(), why })
}
