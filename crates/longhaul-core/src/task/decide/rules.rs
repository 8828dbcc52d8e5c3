//! The rules by which a task is carried out, chosen once by its driver. Called by `decide` only.
//! A supervised task follows `prepared.rs` and `after_end.rs`, one of the runner follows `runner.rs`, merged work that is to land
//! follows `follow_up.rs`.

use super::super::{Driver, Ended, Event, PlanFiles, SessionRun, Task};
use super::plan::Seen;
use super::start::Preparation;
use super::{after_end, follow_up, prepared, runner};
use crate::time::Time;

/// The decisions that differ between drivers.
pub(super) struct Rules {
    /// The workspace is fit: what comes next.
    pub(super) prepared: fn(&Task, &Preparation<'_>, Time) -> Vec<Event>,
    /// What comes after a session that ended without being asked to.
    pub(super) after_end: fn(&Task, &SessionRun, &Ended, &PlanFiles, Time) -> Vec<Event>,
    /// What the plan's files mean after a session.
    pub(super) read_plan_files: fn(&Task, &SessionRun, &Ended, &PlanFiles) -> Seen,
}

/// The rules of this task.
pub(super) fn rules(task: &Task) -> Rules {
    match task.submission.driver {
        _ if task.submission.follow_up.is_some() => Rules {
            prepared: follow_up::prepared,
            after_end: after_end::after_end,
            read_plan_files: after_end::read_plan_files,
        },
        // No session of a tracked run is ever prepared.
        Driver::Supervised | Driver::External => Rules {
            prepared: prepared::prepared,
            after_end: after_end::after_end,
            read_plan_files: after_end::read_plan_files,
        },
        Driver::Runner => Rules {
            prepared: runner::prepared,
            after_end: runner::after_end,
            read_plan_files: |task, _, _, files| runner::read_plan_files(task, files),
        },
    }
}
