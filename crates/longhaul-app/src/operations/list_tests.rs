//! Tests of `list`: each filter, pages, the default, and who is refused what.
//! Tasks are created through the store.

use std::sync::Arc;

use longhaul_core::names::TaskName;
use longhaul_core::task::{Actor, Event, State, Submission};
use longhaul_core::time::Time;
use longhaul_keeper::Environment;
use longhaul_store::{Change, Guard};

use super::{List, ListInput, Listing};
use crate::app::{App, Call};
use crate::caller::Caller;
use crate::error::{AppError, ErrorKind};
use crate::operations::tests::NoProcesses;
use crate::processes::System;

struct Scene {
    _dir: tempfile::TempDir,
    call: Call,
    runtime: tokio::runtime::Runtime,
}

impl Scene {
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let system =
            System { environment: Environment::of_process(), clock: crate::now, processes: Arc::new(NoProcesses) };
        let app = Arc::new(App::new(&dir.path().join("home"), system));
        let call = Call::new(app, Caller::new(Actor::person("ada"), Ok(dir.path().canonicalize().unwrap())));
        Scene { _dir: dir, call, runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap() }
    }

    fn project(&self) -> String {
        self.call.caller.project().unwrap().root.display().to_string()
    }

    /// A task that was submitted in this second and, if it is finished, cancelled in the next one.
    fn task(&self, name: &str, agent: &str, second: i64, is_finished: bool) {
        self.call.app.create().unwrap();
        let name = TaskName::new(name).unwrap();
        let submission = Submission::new("Count\nall of it".into(), name, self.project(), agent.into());
        let (task, at) = (crate::mint_task(), Time(second * 1_000_000));
        let submitted = Event::Submitted { submission: submission.into() };
        self.commit(task, Guard::New, submitted, at);
        if is_finished {
            let cancelled = Event::Cancelled { by: "ada".into(), reason: None };
            self.commit(task, Guard::Version(1), cancelled, Time(at.0 + 1_000_000));
        }
    }

    fn commit(&self, task: longhaul_core::ids::TaskId, guard: Guard, event: Event, at: Time) {
        let actor = Actor::person("ada");
        let change = Change { task, guard, events: vec![event], actor, at, key: None, claim: None, session_cap: None };
        self.runtime.block_on(self.call.store().unwrap().commit(change)).unwrap();
    }

    fn ask(&self, input: ListInput) -> Result<Listing, AppError> {
        self.runtime.block_on(self.call.perform::<List>(input)).map(|answer| answer.view)
    }

    fn names(&self, input: ListInput) -> Vec<String> {
        self.ask(input).unwrap().tasks.into_iter().map(|task| task.name).collect()
    }
}

/// Three open tasks and 25 finished ones, from old to new.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.task("oldest", "codex", 1, false);
    for number in 0..25 {
        scene.task(&format!("ended-{number}"), "codex", 10 + 2 * number, true);
    }
    scene.task("middle", "claude", 1_000, false);
    scene.task("newest", "codex", 2_000, false);
    scene
}

#[test]
fn by_default_unfinished_tasks_and_the_newest_finished_ones_are_listed() {
    let scene = scene();
    let listing = scene.ask(ListInput::default()).unwrap();
    let names: Vec<&str> = listing.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!((names.len(), &names[..3]), (23, &["newest", "middle", "ended-24"][..]));
    assert_eq!(names[21..], ["ended-5", "oldest"], "20 finished ones, and every open one");
    assert!(listing.has_older && listing.next.is_none() && listing.damaged.is_empty());
    let task = &listing.tasks[0];
    assert_eq!((task.goal.as_str(), task.has_worker, task.is_finished), ("Count", Some(false), false));
    assert_eq!(listing.tasks[2].has_worker, None, "a finished task needs no worker");
}

#[test]
fn each_filter_narrows_the_list() {
    let scene = scene();
    let names = |input: ListInput| scene.names(input);
    assert_eq!(names(ListInput { all: true, ..ListInput::default() }).len(), 28);
    assert_eq!(names(ListInput { state: Some("cancelled".into()), ..ListInput::default() }).len(), 25);
    assert_eq!(
        names(ListInput { state: Some("queued".into()), ..ListInput::default() }),
        ["newest", "middle", "oldest"]
    );
    assert_eq!(names(ListInput { agent: Some("claude".into()), ..ListInput::default() }), ["middle"]);
    let since = Some("1970-01-01T00:16:40Z".into());
    assert_eq!(
        names(ListInput { since, ..ListInput::default() }),
        ["newest", "middle"],
        "changed at that second or later"
    );
    let both = ListInput { state: Some("queued".into()), agent: Some("codex".into()), ..ListInput::default() };
    assert_eq!(names(both), ["newest", "oldest"]);
}

#[test]
fn pages_follow_each_other_without_gaps_or_repeats() {
    let scene = scene();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = scene.ask(ListInput { limit: Some(5), after: after.take(), ..ListInput::default() }).unwrap();
        assert!(page.tasks.len() <= 5);
        found.extend(page.tasks.into_iter().map(|task| task.name));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(found, scene.names(ListInput { all: true, ..ListInput::default() }));
}

#[test]
fn what_is_no_state_time_or_position_is_refused() {
    let scene = scene();
    let refused = |input: ListInput| scene.ask(input).unwrap_err();
    let state = refused(ListInput { state: Some("sleeping".into()), ..ListInput::default() });
    assert_eq!(state.kind, ErrorKind::Usage);
    assert!(State::NAMES.iter().all(|name| state.hints[0].contains(name)), "{state:?}");
    assert_eq!(refused(ListInput { since: Some("noon".into()), ..ListInput::default() }).kind, ErrorKind::Usage);
    assert_eq!(refused(ListInput { after: Some("page 2".into()), ..ListInput::default() }).kind, ErrorKind::Usage);
}

#[test]
fn a_home_that_does_not_exist_has_no_tasks_and_is_not_made() {
    let scene = Scene::new();
    assert!(scene.names(ListInput::default()).is_empty());
    assert!(!scene.call.home().root().exists());
    let state = ListInput { state: Some("sleeping".into()), ..ListInput::default() };
    assert_eq!(scene.ask(state).unwrap_err().kind, ErrorKind::Usage, "nonsense is refused there too");
}
