//! Small makers of tasks, sessions and inputs for the tests beside this file.
//! They go through `decide` and `apply` like everyone else, so a fixture can not be a state that never happens.

use std::sync::Arc;

use super::super::*;
use crate::ids::{SessionId, TaskId, WorkerId};
use crate::names::TaskName;
use crate::time::Time;

pub(super) const NOW: Time = Time(1_700_000_000_000_000);

/// What was asked for, to be changed behind the task's back.
pub(super) fn asked(task: &mut Task) -> &mut Submission {
    Arc::make_mut(&mut task.submission)
}

pub(super) fn session_id(n: u8) -> SessionId {
    SessionId::mint(Time(1_000_000), [n; 10])
}

pub(super) fn submitted() -> Event {
    let name = TaskName::new("build-a-thing").expect("a valid name");
    let mut submission = Submission::new("build a thing".into(), name, "/p".into(), "demo".into());
    submission.patience.delay_ms = 0;
    Event::Submitted { submission: submission.into() }
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

pub(super) fn sight(ticks: &[bool]) -> PlanFiles {
    let text = list(ticks);
    PlanFiles { list: TaskListFile::Text { hash: format!("hash of {text}"), text }, progress_exists: true }
}

pub(super) fn nothing_there() -> PlanFiles {
    PlanFiles { list: TaskListFile::Missing, progress_exists: false }
}

pub(super) fn ended(exit: Exit, outcome: Outcome) -> Ended {
    Ended { lasted_ms: 10, ..Ended::new(exit, outcome) }
}

pub(super) fn completed() -> Ended {
    ended(Exit::Code(0), Outcome::Completed)
}

pub(super) fn crashed() -> Ended {
    ended(Exit::Signal(9), Outcome::Failed(Failure::Crashed))
}

pub(super) fn end_of(task: &Task, ended: Ended, plan: PlanFiles) -> Observation {
    let session = task.state.session().expect("a live session").id;
    Observation::SessionEnded { session, ended: Box::new(ended), plan }
}

/// A task whose planning session runs.
pub(super) fn planning() -> Task {
    let task = fold(new_task(), &[claimed()]);
    feed(&task, prepared(session_id(1), nothing_there()), &Actor::worker())
}

/// A task whose setup command runs in its new worktree.
pub(super) fn setting_up() -> Task {
    let mut task = new_task();
    asked(&mut task).setup = Some("npm ci".into());
    let task = feed(&fold(task, &[claimed()]), Observation::Placed { workspace: worktree() }, &Actor::worker());
    feed(&task, prepared(session_id(1), nothing_there()), &Actor::worker())
}

fn worktree() -> Workspace {
    Workspace { root: "/w".into(), cwd: "/w".into(), branch: Some("longhaul/t".into()), base: None, git: None }
}

/// A task of two steps whose first work session runs.
pub(super) fn working() -> Task {
    let task = planning();
    let task = feed(&task, end_of(&task, completed(), sight(&[false, false])), &Actor::worker());
    feed(&task, prepared(session_id(2), sight(&[false, false])), &Actor::worker())
}

/// The workspace is fit, in a place without git.
pub(super) fn prepared(session: SessionId, plan: PlanFiles) -> Observation {
    let complete = |text: &str| crate::plan::parse(text).is_ok_and(|plan| plan.is_complete());
    let ticked = matches!(&plan.list, TaskListFile::Text { text, .. } if complete(text));
    let phase = Some(if ticked { Phase::Verify } else { Phase::Work });
    Observation::Prepared {
        session,
        plan,
        tree: None,
        phase,
        files: Vec::new(),
        basis: Box::default(),
        opens: None,
        saved: None,
    }
}

/// A task of two ticked steps whose only check runs.
pub(super) fn verifying() -> Task {
    let mut task = working();
    asked(&mut task).checks = vec!["make test".into()];
    let task = feed(&task, end_of(&task, completed(), sight(&[true, true])), &Actor::worker());
    feed(&task, prepared(session_id(3), sight(&[true, true])), &Actor::worker())
}

/// A check that passed, on an unknown tree.
pub(super) fn check_end(task: &Task, exit: Exit) -> Observation {
    let printed = CheckOutput { sha256: Some("0".into()), bytes: 2, tail: "ok".into(), ..CheckOutput::default() };
    end_of(task, Ended { printed: Some(printed), ..ended(exit, Outcome::Completed) }, sight(&[true, true]))
}

/// A run that an outside program has just started.
pub(super) fn tracked() -> Task {
    let name = TaskName::new("crawl").expect("a valid name");
    let submission = Submission::tracked("crawl the site", name, "/p".into(), &["all pages".into()], Links::default());
    let first = submit(&submission).expect("a goal").remove(0);
    Task::begin(TaskId::mint(NOW, [3; 10]), &first, NOW).expect("a first event")
}

/// The same run, waiting for a person.
pub(super) fn asking() -> Task {
    feed(&tracked(), asks_help("no password"), &Actor::person("ann"))
}

/// A task of two steps whose agent has asked a person; its session is being stopped.
pub(super) fn asked_by_agent() -> Task {
    feed(&working(), asks_help("no password"), &Actor::below(session_id(2)))
}

pub(super) fn track(call: RunCall) -> Command {
    Command::Track { call: Box::new(call) }
}

pub(super) fn updates(status: Option<RunStatus>, resume_reason: Option<&str>) -> Command {
    let report = Report { summary: Some("page 2".into()), ..Report::default() };
    track(RunCall::Update { report, status, resume_reason: resume_reason.map(str::to_owned) })
}

pub(super) fn checkpoints(summary: &str) -> Command {
    track(RunCall::Checkpoint { report: Report { summary: Some(summary.into()), ..Report::default() } })
}

pub(super) fn asks_help(reason: &str) -> Command {
    track(RunCall::NeedsHelp { reason: reason.into(), hint: None, report: Report::default() })
}

pub(super) fn completes(status: RunStatus) -> Command {
    track(RunCall::Complete { status, report: Report::default() })
}
