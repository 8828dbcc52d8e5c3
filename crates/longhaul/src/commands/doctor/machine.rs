//! The machine: memory, containment, the clock, the terminal.
//! One part of `doctor`; it only looks, and what the system does not tell is unknown.

use std::io::IsTerminal;
use std::time::Duration;

use longhaul_core::time::Time;
use longhaul_keeper::group_parents;
use longhaul_store::Filter;
use longhaul_worker::{free_memory, now};
use rustix::fs::Access;

use super::Patient;
use super::finding::Finding;
use crate::amount;

/// No clock that is right shows an earlier time: 2025-01-01.
const LONG_AGO: Time = Time(1_735_689_600_000_000);
/// What the clocks of one machine may differ by.
const SLACK: Duration = Duration::from_secs(300);

pub(super) async fn look(patient: &Patient) -> Vec<Finding> {
    vec![memory(patient), containment(), clock(patient).await, terminal()]
}

fn memory(patient: &Patient) -> Finding {
    const SUBJECT: &str = "memory";
    let floor = patient.config.as_ref().map_or(0, |loaded| loaded.settings.floors.memory);
    let Some(free) = free_memory() else { return Finding::unknown(SUBJECT, "this system does not tell what is free") };
    let facts = format!("{} available, sessions start above {}", amount::bytes(free), amount::bytes(floor));
    if free < floor {
        return Finding::problem(SUBJECT, facts, "end something else; blocked tasks then go on");
    }
    Finding::ok(SUBJECT, facts)
}

/// Whether a session's processes can be held in a control group. Without one they are followed, which is slower and still complete.
fn containment() -> Finding {
    const SUBJECT: &str = "containment";
    if !cfg!(target_os = "linux") {
        return Finding::ok(SUBJECT, "by following processes");
    }
    let parents = group_parents();
    if parents.is_empty() {
        return Finding::ok(SUBJECT, "by following processes: there is no control group of version 2");
    }
    match parents.iter().find(|group| rustix::fs::access(*group, Access::WRITE_OK).is_ok()) {
        Some(group) => Finding::ok(SUBJECT, format!("by control group below `{}`", group.display())),
        None => Finding::ok(SUBJECT, "by following processes: our control group is not ours to write"),
    }
}

/// A clock that went back makes waits too long; one that is far off, everything.
async fn clock(patient: &Patient) -> Finding {
    const SUBJECT: &str = "clock";
    let time = now();
    let advice = "set the clock; waits and retention go by it";
    if time < LONG_AGO {
        return Finding::problem(SUBJECT, format!("it is {}, long ago", time.rfc3339()), advice);
    }
    let listed = match &patient.opened {
        Ok(opened) => opened.store.tasks(Filter::default()).await.unwrap_or_default(),
        Err(_) => longhaul_store::Outlines::default(),
    };
    match listed.tasks.iter().map(|outline| outline.updated).max() {
        Some(newest) if newest > time.after(SLACK) => {
            let facts = format!("it is {}, but the newest event is of {}", time.rfc3339(), newest.rfc3339());
            Finding::warning(SUBJECT, facts, advice)
        }
        Some(_) | None => Finding::ok(SUBJECT, time.rfc3339()),
    }
}

fn terminal() -> Finding {
    let shown = if std::io::stdout().is_terminal() { "a terminal" } else { "not a terminal" };
    let input = if std::io::stdin().is_terminal() { "keys are read" } else { "no keys are read" };
    let colour =
        if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) { ", NO_COLOR is set" } else { "" };
    Finding::ok("terminal", format!("standard output is {shown}, {input}{colour}"))
}
