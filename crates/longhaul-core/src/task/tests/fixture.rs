//! Small makers of tasks, sessions and inputs for the tests beside this file.
//! They go through `decide` and `apply` like everyone else, so a fixture can not be a state that never happens.

use super::super::*;
use crate::ids::{SessionId, TaskId, WorkerId};
use crate::names::TaskName;
use crate::time::Time;

pub(super) const NOW: Time = Time(1_700_000_000_000_000);

pub(super) fn session_id(n: u8) -> SessionId {
    SessionId::mint(Time(1_000_000), [n; 10])
}

pub(super) fn submitted() -> Event {
    let submission = Submission {
        goal: "build a thing".into(),
        name: TaskName::new("build-a-thing").expect("a valid name"),
        project: "/p".into(),
        workspace: "/p".into(),
        agent: "demo".into(),
        model: None,
        parent: None,
        needs_env: Vec::new(),
        driver: Driver::Supervised,
        policy: Policy::default(),
    };
    Event::Submitted { submission }
}

pub(super) fn claimed() -> Event {
    Event::Claimed { worker: WorkerId::mint(NOW, [9; 10]), host: "h".into(), from: None }
}

pub(super) fn new_task() -> Task {
    Task::begin(TaskId::mint(NOW, [1; 10]), &submitted(), NOW).expect("a submission begins a task")
}

/// Folds events, failing loudly on an illegal one.
pub(super) fn fold(task: Task, events: &[Event]) -> Task {
    events.iter().fold(task, |task, event| task.apply(event, NOW).unwrap_or_else(|e| panic!("{e}")))
}

/// Decides and applies.
pub(super) fn feed(task: &Task, input: impl Into<Input>, actor: &Actor) -> Task {
    let events = decide(task, &input.into(), actor, NOW).unwrap_or_else(|refusal| panic!("{refusal}"));
    fold(task.clone(), &events)
}

pub(super) fn list(ticks: &[bool]) -> String {
    let lines: Vec<String> = ticks
        .iter()
        .enumerate()
        .map(|(i, done)| format!("- [{}] Task {}: step {}\n", if *done { "x" } else { " " }, i + 1, i + 1))
        .collect();
    format!("# List\n\n## Tasks\n\n{}", lines.concat())
}

pub(super) fn sight(ticks: &[bool]) -> PlanSight {
    let text = list(ticks);
    PlanSight { list: ListSight::Text { hash: format!("hash of {text}"), text }, progress_exists: true }
}

pub(super) fn nothing_there() -> PlanSight {
    PlanSight { list: ListSight::Missing, progress_exists: false }
}

pub(super) fn ended(exit: Exit, outcome: Outcome) -> Ended {
    Ended { exit, stopped_by: StoppedBy::Itself, outcome, leftovers: 0, gap: Gap::None, lasted_ms: 10 }
}

pub(super) fn completed() -> Ended {
    ended(Exit::Code(0), Outcome::Completed)
}

pub(super) fn crashed() -> Ended {
    ended(Exit::Signal(9), Outcome::Failed(Failure::Crashed))
}

pub(super) fn end_of(task: &Task, ended: Ended, plan: PlanSight) -> Observation {
    let session = task.state.session().expect("a live session").id;
    Observation::SessionEnded { session, ended, plan }
}

/// A task whose planning session runs.
pub(super) fn planning() -> Task {
    let task = fold(new_task(), &[claimed()]);
    feed(&task, Observation::Prepared { session: session_id(1), plan: nothing_there() }, &Actor::worker())
}

/// A task of two steps whose first work session runs.
pub(super) fn working() -> Task {
    let task = planning();
    let task = feed(&task, end_of(&task, completed(), sight(&[false, false])), &Actor::worker());
    feed(&task, Observation::Prepared { session: session_id(2), plan: sight(&[false, false]) }, &Actor::worker())
}
