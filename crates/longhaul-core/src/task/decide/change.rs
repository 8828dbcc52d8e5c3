//! What a person may change on a task that is not finished: settings, guidance, the plan. Called by `decide` only.
//! A change counts from the next session on; a live one is stopped only when it is over a limit already.

use super::super::{Actor, Event, Refusal, Restore, Setting, Stage, State, StopMode, Task, Then, Wait};
use super::check_list;
use super::command::{Decision, refuse};
use super::plan::hash_of;
use crate::plan;
use crate::time::Time;

/// The longest guidance that is taken, in bytes.
const TEXT_CAP: usize = 64 * 1024;

pub(super) fn edit(task: &Task, settings: &[Setting], actor: &Actor, now: Time) -> Decision {
    reject_bad_checks(settings)?;
    let edited = Event::Edited { settings: settings.to_vec(), by: Some(actor.principal.clone()) };
    let Ok(after) = task.apply(&edited, now) else { return Ok(Vec::new()) };
    // Choosing the same agent again changes one thing: whatever was known to keep it from being started.
    if after.submission == task.submission && after.limited == task.limited && after.unusable == task.unusable {
        return Ok(Vec::new());
    }
    let mut events = vec![edited];
    events.extend(let_go_on(task, &after, now));
    events.extend(over(&after, now).map(|then| Event::StopAsked { mode: StopMode::Graceful, then }));
    Ok(events)
}

/// A task that waited for an account goes on when another one will do now; one that waited for its hours looks at the new ones.
fn let_go_on(before: &Task, after: &Task, now: Time) -> Option<Event> {
    let State::Waiting { why, .. } = &after.state else { return None };
    let goes_on = match why {
        Wait::Limit => before.limited_until(now).is_some() && after.limited_until(now).is_none(),
        Wait::Hours => before.submission.hours != after.submission.hours,
        Wait::Backoff | Wait::Delay | Wait::After(_) | Wait::Landing(_) => false,
    };
    goes_on.then_some(Event::WaitEnded)
}

/// An empty command would pass and show nothing.
pub(super) fn reject_bad_checks(settings: &[Setting]) -> Result<(), Refusal> {
    settings.iter().try_for_each(|setting| {
        let Setting::Checks(commands) = setting else { return Ok(()) };
        check_list("check", commands.iter().map(String::as_str))
    })
}

/// What has to follow when the live session of the agent is longer or dearer than it may be now.
pub(super) fn over(task: &Task, now: Time) -> Option<Then> {
    let Stage::Live(session) = task.state.stage() else { return None };
    if !session.purpose.is_agent() {
        return None;
    }
    let lasted = u64::try_from(now.since(session.started).as_millis()).unwrap_or(u64::MAX);
    let mut counted = task.clone();
    counted.tally.worked_ms = counted.tally.worked_ms.saturating_add(lasted);
    if let Some(reached) = counted.limit_reached() {
        return Some(Then::Stop { reached });
    }
    let wall = task.submission.patience.wall_ms?;
    (lasted >= wall).then_some(Then::GoOn)
}

pub(super) fn tell(text: &str) -> Decision {
    let no = |why: &str| Err(Refusal::BadInput { why: why.to_owned() });
    match text {
        text if text.trim().is_empty() => no("the guidance is empty; write some"),
        text if text.len() > TEXT_CAP => no("the guidance is longer than 64 KiB; put it in a file and name the file"),
        text => Ok(vec![Event::Told { text: text.to_owned() }]),
    }
}

pub(super) fn accept_plan(task: &Task, text: &str, seen: Option<&String>) -> Decision {
    if task.state.session().is_some() {
        return refuse(task, "accept the plan of", "a running session may overwrite the list; pause the task first");
    }
    let plan = plan::parse(text).map_err(|bad| Refusal::BadInput { why: format!("invalid task list: {bad}") })?;
    let hash = hash_of(text);
    let unchanged = task.plan.as_ref().is_some_and(|accepted| accepted.hash == hash && accepted.plan == plan);
    let written = seen == Some(&hash);
    if unchanged && written {
        return Ok(Vec::new());
    }
    let keep_as = task.tally.rejected + 1;
    let restore = (!written).then(|| Restore { expect: seen.cloned(), text: text.to_owned(), keep_as });
    let revision = task.plan.as_ref().map_or(1, |accepted| accepted.revision + 1);
    Ok(vec![Event::PlanAccepted { revision, plan, hash, restore }])
}
