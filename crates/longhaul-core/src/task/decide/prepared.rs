//! The workspace is fit: what the owner does next. Wait, take or refuse plan changes, finish, verify, or commit a session.
//! Called by `decide` only; whether that session may start now is decided in `start.rs`.

use super::super::{Event, Phase, Purpose, Task, Verdict, Wait};
use super::start::{Preparation, Wanted, start};
use super::{plan, verify};
use crate::time::Time;

pub(super) fn prepared(task: &Task, found: &Preparation<'_>, now: Time) -> Vec<Event> {
    if let Some(other) = task.submission.after.filter(|_| !task.after_met) {
        return vec![Event::WaitStarted { why: Wait::After(other), until: None, span_ms: None }];
    }
    if let Some(command) = task.setup_due() {
        return vec![start(task, found, &Wanted::Setup(command), now)];
    }
    let Some(accepted) = &task.plan else {
        return vec![start(task, found, &Wanted::Agent(Purpose::Plan), now)];
    };
    let mut seen = plan::compare(task, accepted, found.plan);
    if seen.refused() {
        return seen.events;
    }
    let next = match (seen.plan.is_complete(), task.needs_fix()) {
        (true, false) if !task.submission.can_be_verified() => {
            vec![Event::Finished { verdict: Verdict::NoChecks }]
        }
        // Verified is what was found ticked before the look at tree and expected files: a look that was taken for anything else,
        // or a list that changed just now, wants another one.
        (true, false) if found.phase != Some(Phase::Verify) || !seen.events.is_empty() => Vec::new(),
        (true, false) => verify::next_check(task, found, now),
        (true, true) => vec![start(task, found, &Wanted::Agent(Purpose::Fix), now)],
        (false, _) => vec![start(task, found, &Wanted::Agent(Purpose::Work), now)],
    };
    seen.events.extend(next);
    seen.events
}
