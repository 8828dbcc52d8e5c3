//! The machine: memory, containment and the clock.
//! One part of `doctor`; it only reads, and what the system does not report is unknown.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_core::time::Time;
use longhaul_core::units;
use longhaul_keeper::group_parents;
use longhaul_store::Filter;
use rustix::fs::Access;

use super::Patient;
use crate::free_memory;
use crate::views::Finding;

/// No clock that is right shows an earlier time: 2025-01-01.
const LONG_AGO: Time = Time(1_735_689_600_000_000);
/// How much the clocks of one machine may differ.
const SLACK: Duration = Duration::from_secs(300);

pub(super) async fn check(patient: &Patient<'_>) -> Vec<Finding> {
    vec![memory(patient), containment(), trust(), clock(patient).await]
}

fn memory(patient: &Patient<'_>) -> Finding {
    const SUBJECT: &str = "memory";
    let floor = patient.config.as_ref().map_or(0, |loaded| loaded.settings.patience.memory_floor);
    let Some(free) = free_memory() else { return Finding::unknown(SUBJECT, "free memory is unknown") };
    let facts = format!("{} available, sessions start above {}", units::bytes(free), units::bytes(floor));
    if free < floor {
        return Finding::problem(SUBJECT, facts, "free some memory; blocked tasks then continue");
    }
    Finding::ok(SUBJECT, facts)
}

/// Whether a session's processes can be held in a control group. Without one they are followed, which ends with their keeper.
fn containment() -> Finding {
    contained_by(&group_parents(), |group| rustix::fs::access(group, Access::WRITE_OK).is_ok())
}

fn contained_by(parents: &[PathBuf], is_writable: impl Fn(&Path) -> bool) -> Finding {
    const SUBJECT: &str = "containment";
    if let Some(group) = parents.iter().find(|group| is_writable(group)) {
        return Finding::ok(SUBJECT, format!("by control group below `{}`", group.display()));
    }
    let why =
        if parents.is_empty() { "there is no control group of version 2" } else { "no control group is writable" };
    let facts = format!(
        "by following processes, because {why}: an agent that kills its keeper can leave a process behind that counts as you and \
         may change tasks"
    );
    Finding::warning(
        SUBJECT,
        facts,
        "run the worker where systemd provides a control group: `longhaul service install`",
    )
}

/// What no check of ours can prevent.
fn trust() -> Finding {
    Finding::ok(
        "trust",
        "an unsandboxed agent runs as you and can change any of your files, including Longhaul's; the event chain detects damage, \
         not forgery",
    )
}

/// A clock that was set back makes ages and times of events wrong; one that is far off, everything.
async fn clock(patient: &Patient<'_>) -> Finding {
    const SUBJECT: &str = "clock";
    let time = patient.call.now();
    let advice = "set the clock; waits and retention depend on it";
    if time < LONG_AGO {
        return Finding::problem(SUBJECT, format!("it shows {}, which is long past", time.rfc3339()), advice);
    }
    let listed = match &patient.opened {
        Ok(call) => call.summaries(Filter::default()).await.unwrap_or_default(),
        Err(_) => longhaul_store::Summaries::default(),
    };
    match listed.tasks.iter().map(|outline| outline.updated).max() {
        Some(newest) if newest > time.after(SLACK) => {
            let facts = format!("it shows {}, but the newest event is from {}", time.rfc3339(), newest.rfc3339());
            Finding::warning(SUBJECT, facts, advice)
        }
        Some(_) | None => Finding::ok(SUBJECT, time.rfc3339()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::contained_by;
    use crate::views::Verdict;

    #[test]
    fn a_machine_without_a_writable_control_group_is_warned_about() {
        let parents = [PathBuf::from("/sys/fs/cgroup/a"), PathBuf::from("/sys/fs/cgroup/b")];
        let found = contained_by(&parents, |group| group.ends_with("b"));
        assert_eq!((found.verdict, found.facts.contains("/sys/fs/cgroup/b")), (Verdict::Ok, true));
        for (parents, why) in [(&parents[..], "no control group is writable"), (&[], "there is no control group")] {
            let found = contained_by(parents, |_| false);
            assert_eq!(found.verdict, Verdict::Warning);
            assert!(found.facts.contains(why) && found.facts.contains("counts as you"), "{}", found.facts);
            assert!(found.advice.is_some());
        }
    }
}
