//! Small makers of tasks, events and changes for the suites. They decide nothing and hold no state but a counter.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};

use longhaul_core::ids::{LeaseId, SessionId, TaskId, WorkerId};
use longhaul_core::names::TaskName;
use longhaul_core::plan::{Plan, PlanChange, Step};
use longhaul_core::task::{
    Actor, BackTo, Ended, Event, Exit, Outcome, Phase, Place, Purpose, SessionRun, Submission, Wait,
};
use longhaul_core::time::Time;
use longhaul_store::{Change, Guard, NewLease, Store, Stored};

/// The next moment: every call is a second later than the one before.
pub(crate) fn now() -> Time {
    static SECONDS: AtomicI64 = AtomicI64::new(1_800_000_000);
    Time(SECONDS.fetch_add(1, Ordering::Relaxed) * 1_000_000)
}

fn random() -> [u8; 10] {
    let word = || RandomState::new().build_hasher().finish().to_le_bytes();
    let (one, two) = (word(), word());
    [one[0], one[1], one[2], one[3], one[4], one[5], one[6], one[7], two[0], two[1]]
}

pub(crate) fn task_id() -> TaskId {
    TaskId::mint(now(), random())
}

pub(crate) fn worker_id() -> WorkerId {
    WorkerId::mint(now(), random())
}

pub(crate) fn lease_of(worker: WorkerId) -> NewLease {
    NewLease { id: LeaseId::mint(now(), random()), worker, host: "host-a".into() }
}

pub(crate) fn lease() -> NewLease {
    lease_of(worker_id())
}

pub(crate) fn submission(name: &str) -> Submission {
    let valid = TaskName::new(name).expect("a valid name");
    let submission = Submission::new(format!("reach {name}"), valid, "/project".into(), "codex".into());
    // With a worktree of its own: tasks in place would have to wait for each other.
    let place = Place::Worktree { base: "ba5e".repeat(10) };
    Submission { needs_env: vec!["API_KEY".into()], place, ..submission }
}

/// The change that submits a task.
pub(crate) fn submit(task: TaskId, submission: Submission) -> Change {
    Change {
        task,
        guard: Guard::New,
        events: vec![Event::Submitted { submission: submission.into() }],
        actor: Actor::person("ann"),
        at: now(),
        key: None,
        claim: None,
        session_cap: None,
    }
}

/// A change by a front end that saw this.
pub(crate) fn by_person(seen: &Stored, events: Vec<Event>) -> Change {
    Change {
        task: seen.task.id,
        guard: Guard::Version(seen.task.version),
        events,
        actor: Actor::person("ann"),
        at: now(),
        key: None,
        claim: None,
        session_cap: None,
    }
}

/// A change by the owner of what it saw.
pub(crate) fn by_owner(seen: &Stored, events: Vec<Event>) -> Change {
    let lease = seen.owner.as_ref().expect("the task is owned").lease;
    let guard = Guard::Owner { version: seen.task.version, lease };
    Change { guard, actor: Actor::worker(), ..by_person(seen, events) }
}

/// A change that fits every unfinished state and moves nothing but the version.
pub(crate) fn mark(text: impl Into<String>) -> Event {
    Event::Forced { target: text.into() }
}

pub(crate) fn back_to() -> BackTo {
    BackTo::phase(Phase::Plan)
}

pub(crate) fn session() -> SessionRun {
    SessionRun::new(SessionId::mint(now(), random()), 1, Purpose::Plan, now())
}

pub(crate) fn started() -> Event {
    Event::SessionStarted { session: session() }
}

pub(crate) fn ended(session: SessionId) -> Event {
    let ended = Ended { lasted_ms: 1_000, ..Ended::new(Exit::Code(0), Outcome::Completed) };
    Event::SessionEnded { session, ended, progress: false }
}

pub(crate) fn cancelled() -> Event {
    Event::Cancelled { by: "ann".into(), reason: None }
}

/// The task waits until then.
pub(crate) fn waiting(why: Wait, until: Time) -> Event {
    Event::WaitStarted { why, until: Some(until), span_ms: None, back_to: back_to() }
}

/// A plan of two steps, one of them ticked.
pub(crate) fn planned() -> Event {
    let step = |number, ticked| Step { number, text: format!("step {number}"), phase: None, ticked };
    let plan = Plan { steps: vec![step(1, true), step(2, false)] };
    Event::PlanRevised { revision: 1, change: PlanChange::Whole(plan), hash: "5e".repeat(32), ticked: vec![1] }
}

/// Submits a task and returns it as stored.
pub(crate) async fn submitted(store: &dyn Store, name: &str) -> Stored {
    store.commit(submit(task_id(), submission(name))).await.expect("a submission").stored
}

/// Submits a task with a claim: owned and preparing.
pub(crate) async fn claimed(store: &dyn Store, name: &str) -> Stored {
    let change = Change { claim: Some(lease()), ..submit(task_id(), submission(name)) };
    store.commit(change).await.expect("a submission with a claim").stored
}

/// Commits as the owner and returns the task after it.
pub(crate) async fn advance(store: &dyn Store, seen: &Stored, event: Event) -> Stored {
    store.commit(by_owner(seen, vec![event])).await.expect("a change by the owner").stored
}

/// The task as stored now.
pub(crate) async fn reload(store: &dyn Store, seen: &Stored) -> Stored {
    store.load(seen.task.id).await.expect("a readable store").expect("the task is there")
}
