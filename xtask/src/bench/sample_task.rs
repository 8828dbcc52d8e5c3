//! A task as it is in the middle of its life, with the events a worker commits for it.
//! Used by the measures that need rows of a real size in the store. It decides nothing.

use std::path::Path;

use longhaul_core::ids::{LeaseId, SessionId, TaskId, WorkerId};
use longhaul_core::names::TaskName;
use longhaul_core::plan::{Plan, PlanChange, Step};
use longhaul_core::task::{
    Actor, Ended, Event, Exit, Offset, Place, Purpose, ReadTo, Said, SessionRun, Submission, Usage,
};
use longhaul_store::{Change, Guard, NewLease, Store, Stored, WholeStore};

use super::scene::{LONGEST_SESSION_MS, Outcome, now, random};

const STEPS: u32 = 12;

/// A task with an owner and an accepted plan, between two sessions. It has its own worktree, so that it waits for no other task.
pub(super) async fn planned(store: &dyn WholeStore, project: &Path, name: &str) -> Outcome<Stored> {
    let place = Place::Worktree { base: "ba5e".repeat(10) };
    let submission = Submission { place, ..submission(project, name)? }.into();
    let new = change(TaskId::mint(now(), random()), Guard::New, Event::Submitted { submission });
    let submitted = store.commit(new).await?.stored;
    let worker = WorkerId::mint(now(), random());
    let lease = NewLease { id: LeaseId::mint(now(), random()), worker, host: "host".to_owned() };
    let mut stored = store.claim(submitted.task.id, submitted.epoch, lease, now()).await?.stored;
    let session = SessionId::mint(now(), random());
    for event in [started(&stored, session, Purpose::Plan), ended(session), plan_accepted()] {
        stored = advance(store, &stored, event).await?;
    }
    Ok(stored)
}

/// Commits one event as the owner.
pub(super) async fn advance(store: &dyn Store, seen: &Stored, event: Event) -> Outcome<Stored> {
    let lease = seen.owner.as_ref().map(|owner| owner.lease).ok_or("a task has no owner")?;
    let guard = Guard::Owner { version: seen.task.version, lease };
    Ok(store.commit(change(seen.task.id, guard, event)).await?.stored)
}

/// A session of the task begins.
pub(super) fn started(seen: &Stored, id: SessionId, purpose: Purpose) -> Event {
    let session = SessionRun::new(id, seen.task.tally.sessions + 1, purpose, now());
    Event::SessionStarted { session }
}

/// Output of the session was read: what a worker commits most often.
pub(super) fn output_read(session: SessionId, byte: u64) -> Event {
    let reader = serde_json::json!({ "finished": false, "unknown_lines": 0, "last_tool": "edit" });
    let said = Said {
        conversation: Some("0199b1d6-7a52-7c3e-9b7e-52b1c0ffee00".to_owned()),
        usage: Usage { input: Some(1_200), output: Some(340), cost_micros: None },
    };
    Event::SessionRead {
        session,
        read: ReadTo { offset: Offset { segment: 0, byte }, errors: Offset::default(), reader },
        said,
    }
}

/// The session ended well.
pub(super) fn ended(session: SessionId) -> Event {
    let ended = Ended { lasted_ms: 1_000, ..Ended::new(Exit::Code(0), longhaul_core::task::Outcome::Completed) };
    Event::SessionEnded { session, ended, progress: true }
}

fn plan_accepted() -> Event {
    let step = |number| Step {
        number,
        text: format!("make part {number} of the parser, with its tests and its page in the guide"),
        phase: Some("Build".to_owned()),
        ticked: number < 5,
    };
    let plan = Plan { steps: (1..=STEPS).map(step).collect() };
    Event::PlanRevised { revision: 1, change: PlanChange::Whole(plan), hash: "5e".repeat(32), ticked: vec![1, 2, 3, 4] }
}

fn submission(project: &Path, name: &str) -> Outcome<Submission> {
    let goal = "Port the parser to the new library, keep every test green, and write the guide.".to_owned();
    let name = TaskName::new(name)?;
    let mut submission = Submission::new(goal, name, project.display().to_string(), "demo".to_owned());
    submission.patience.wall_ms = Some(LONGEST_SESSION_MS);
    Ok(submission)
}

fn change(task: TaskId, guard: Guard, event: Event) -> Change {
    let events = vec![event];
    Change { task, guard, events, actor: Actor::worker(), at: now(), key: None, claim: None, session_cap: None }
}
