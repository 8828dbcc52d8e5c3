//! Decisions in states that only a person leaves, and in final ones. Called by `decide` only.
//! No observation moves these states, and no command moves the final ones.

use super::super::{Actor, BackTo, Event, Input, Refusal, Task};
use super::{cancelled, forced, noted, refuse};

pub(super) fn needs_help(back_to: BackTo, input: &Input, actor: &Actor) -> Result<Vec<Event>, Refusal> {
    match input {
        Input::Resume { reason } => {
            let reason = reason.clone().filter(|text| !text.trim().is_empty()).ok_or(Refusal::ReasonMissing)?;
            Ok(vec![Event::Resumed { reason: Some(reason), back_to }])
        }
        Input::Pause { .. } => refuse(input, "needs_help", "it waits for a person already"),
        Input::Cancel { reason } => cancelled(actor, reason.as_ref()),
        Input::Force { target } => forced(target),
        Input::Prepared { .. }
        | Input::CannotPrepare { .. }
        | Input::PlanRestored
        | Input::Woke
        | Input::SessionRead { .. }
        | Input::SessionEnded { .. } => noted(input),
    }
}

pub(super) fn parked(task: &Task, back_to: BackTo, input: &Input, actor: &Actor) -> Result<Vec<Event>, Refusal> {
    match input {
        Input::Resume { reason } => Ok(vec![Event::Resumed { reason: reason.clone(), back_to }]),
        Input::Pause { .. } => refuse(input, task.state.name(), "it waits for a person already"),
        Input::Cancel { reason } => cancelled(actor, reason.as_ref()),
        Input::Force { target } => forced(target),
        Input::Prepared { .. }
        | Input::CannotPrepare { .. }
        | Input::PlanRestored
        | Input::Woke
        | Input::SessionRead { .. }
        | Input::SessionEnded { .. } => noted(input),
    }
}

pub(super) fn finished(task: &Task, input: &Input) -> Result<Vec<Event>, Refusal> {
    match input {
        Input::Pause { .. } | Input::Resume { .. } | Input::Cancel { .. } | Input::Force { .. } => {
            refuse(input, task.state.name(), "it is finished; start anew with `longhaul run`")
        }
        Input::Prepared { .. }
        | Input::CannotPrepare { .. }
        | Input::PlanRestored
        | Input::Woke
        | Input::SessionRead { .. }
        | Input::SessionEnded { .. } => noted(input),
    }
}
