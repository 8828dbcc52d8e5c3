//! Promises about keeping and removing: outlines that say what tasks say, removals of finished tasks, copies of everything.

use longhaul_core::task::{Event, NameList, Remarks, ResultKind, Verdict};
use longhaul_core::time::Time;
use longhaul_store::{Change, Filter, Guard, Key, RemoveError, Steps, Store, Stored, TaskSummary, Which};

use super::Harness;
use super::refusals::everything;
use super::sample::{
    advance, by_person, cancelled, claimed, mark, planned, reload, started, submission, submit, submitted, task_id,
};

async fn finished(store: &dyn Store, name: &str) -> Stored {
    let task = submitted(store, name).await;
    store.commit(by_person(&task, vec![cancelled()])).await.expect("a cancel").stored
}

async fn outlines(store: &dyn Store, filter: Filter) -> Vec<TaskSummary> {
    let outlines = store.summaries(filter).await.expect("outlines");
    assert_eq!(outlines.damaged, []);
    outlines.tasks
}

pub(crate) async fn outlines_say_what_the_tasks_say(harness: &dyn Harness) {
    let store = harness.open().await;
    let parent = claimed(&*store, "parent").await;
    let parent = advance(&*store, &parent, started()).await;
    let part = longhaul_core::task::Submission { parent: Some(parent.task.id), ..submission("part") };
    store.commit(submit(task_id(), part)).await.expect("a submission");
    let with_plan = claimed(&*store, "planned").await;
    let with_plan = store.commit(by_person(&with_plan, vec![planned()])).await.expect("a plan").stored;
    finished(&*store, "cancelled").await;
    let done = claimed(&*store, "done").await;
    let remarks = Remarks { same_as_base: true, check_files: NameList::new(["Makefile".into()]), ..Remarks::default() };
    let verdict = Verdict::of_passed(Some("7ree".into()), Vec::new(), remarks);
    advance(&*store, &done, Event::Finished { verdict }).await;
    let (listed, events) = everything(&*store).await;
    let outlines = outlines(&*store, Filter::default()).await;
    assert_eq!(outlines.len(), 5);
    assert_eq!((outlines[0].result, outlines[0].remarks), (Some(ResultKind::Verified), 2));
    for ((outline, stored), events) in outlines.iter().zip(&listed.tasks).zip(&events) {
        let Stored { task, epoch, owner } = stored;
        assert_eq!((outline.task, outline.version, outline.epoch), (task.id, task.version, *epoch));
        assert_eq!(
            (&outline.project, outline.name.as_str()),
            (&task.submission.project, task.submission.name.as_str())
        );
        assert_eq!((outline.parent, outline.state.as_str()), (task.submission.parent, task.state.name()));
        let flags = (outline.is_final, outline.wants_owner, outline.waits_for_person, outline.live);
        let state = &task.state;
        let expected = (state.is_final(), state.wants_owner(), state.waits_for_person(), state.session().is_some());
        assert_eq!(flags, expected, "{}", outline.name);
        assert_eq!((outline.created, outline.updated), (task.created, task.updated));
        assert_eq!((outline.sessions, outline.tokens), (task.tally.sessions, task.tally.usage.total()));
        let verdict = task.state.verdict();
        let remarks = verdict.and_then(Verdict::remarks).map_or(0, Remarks::count);
        assert_eq!((outline.result, outline.remarks as usize), (verdict.map(Verdict::kind), remarks));
        assert_eq!(outline.owner, owner.as_ref().map(|owner| owner.worker));
        let bytes: usize = events.iter().map(|event| json(&event.actor).len() + json(&event.event).len()).sum();
        assert_eq!(outline.history_bytes, bytes as u64);
    }
    let steps = outlines.iter().find(|outline| outline.task == with_plan.task.id).expect("the planned one").steps;
    assert_eq!(steps, Some(Steps { done: 1, total: 2 }));
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

pub(crate) async fn outlines_are_filtered_by_end_and_age(harness: &dyn Harness) {
    let store = harness.open().await;
    let old = finished(&*store, "old").await;
    let live = submitted(&*store, "live").await;
    let young = finished(&*store, "young").await;
    let ids = |filter| async { outlines(&*store, filter).await.iter().map(|one| one.task).collect::<Vec<_>>() };
    assert_eq!(ids(Filter::default()).await, [young.task.id, live.task.id, old.task.id]);
    let ended = Filter { which: Which::Finished, ..Filter::default() };
    assert_eq!(ids(ended.clone()).await, [young.task.id, old.task.id]);
    let named = |state: &str| Filter { state: Some(state.into()), ..Filter::default() };
    let (of_live, of_none) = (named(live.task.state.name()), named("held"));
    assert_eq!((ids(of_live).await, ids(of_none).await), (vec![live.task.id], vec![]));
    let before = Filter { updated_before: Some(young.task.updated), ..ended };
    assert_eq!(ids(before.clone()).await, [old.task.id]);
    assert_eq!(ids(Filter { updated_before: Some(Time(0)), ..before }).await, []);
}

pub(crate) async fn a_finished_task_is_removed_whole(harness: &dyn Harness) {
    let store = harness.open().await;
    let other = submitted(&*store, "other").await;
    let task = submitted(&*store, "one").await;
    let keyed = Change { key: Some(Key::new("k", "mark", "x")), ..by_person(&task, vec![mark("x"), cancelled()]) };
    let task = store.commit(keyed.clone()).await.expect("a change").stored;
    store.remove(task.task.id, Guard::Version(task.task.version)).await.expect("a removal");
    let store = harness.open().await;
    assert_eq!(store.load(task.task.id).await.expect("a readable store"), None);
    assert!(store.events(task.task.id, 0, 10).await.expect("events").is_empty());
    assert_eq!(store.list(Filter::default()).await.expect("a list").tasks.as_slice(), std::slice::from_ref(&other));
    let again = store.remove(task.task.id, Guard::Version(task.task.version)).await;
    assert!(matches!(again, Err(RemoveError::NotFound)), "{again:?}");
    // Its key and its name are free again, and so is what stood beside it.
    store.commit(Change { task: other.task.id, ..keyed }).await.expect("a key of nobody");
    submitted(&*store, "one").await;
    assert_eq!(store.check().await.expect("a check"), []);
}

pub(crate) async fn what_may_be_needed_is_not_removed(harness: &dyn Harness) {
    let store = harness.open().await;
    let queued = submitted(&*store, "queued").await;
    let owned = claimed(&*store, "owned").await;
    let parent = finished(&*store, "parent").await;
    let part = longhaul_core::task::Submission { parent: Some(parent.task.id), ..submission("part") };
    let part = store.commit(submit(task_id(), part)).await.expect("a submission").stored;
    let before = everything(&*store).await;
    for live in [&queued, &owned] {
        let answer = store.remove(live.task.id, Guard::Version(live.task.version)).await;
        assert!(matches!(answer, Err(RemoveError::Unfinished { .. })), "{answer:?}");
    }
    let answer = store.remove(parent.task.id, Guard::Version(parent.task.version)).await;
    assert!(matches!(answer, Err(RemoveError::HasChildren { children: 1 })), "{answer:?}");
    let answer = store.remove(task_id(), Guard::Version(1)).await;
    assert!(matches!(answer, Err(RemoveError::NotFound)), "{answer:?}");
    for guard in [Guard::New, Guard::Version(1), Guard::Version(9)] {
        let answer = store.remove(parent.task.id, guard).await;
        assert!(matches!(answer, Err(RemoveError::Conflict)), "{answer:?}");
    }
    assert_eq!(everything(&*store).await, before);
    let part = store.commit(by_person(&part, vec![cancelled()])).await.expect("a cancel").stored;
    for task in [part, parent] {
        store.remove(task.task.id, Guard::Version(task.task.version)).await.expect("children first");
    }
}

pub(crate) async fn a_backup_is_whole_and_replaces_nothing(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut task = submitted(&*store, "one").await;
    let directory = tempfile::tempdir().expect("a directory");
    let target = directory.path().join("copy");
    let copying = store.backup(&target);
    let committing = async {
        for number in 0..20 {
            task = super::moving::insist(&*store, &task, &number.to_string()).await;
        }
    };
    let (copied, ()) = tokio::join!(copying, committing);
    copied.expect("a copy");
    let copy = std::fs::read(&target).expect("the copy");
    assert!(copy.len() > 1_000);
    assert!(store.backup(&target).await.is_err(), "a copy is not replaced");
    assert!(store.backup(&directory.path().join("absent/copy")).await.is_err());
    assert!(store.backup(directory.path()).await.is_err());
    assert_eq!(std::fs::read(&target).expect("the copy"), copy);
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 1, "no draft is left");
    assert_eq!(reload(&*store, &task).await, task);
}
