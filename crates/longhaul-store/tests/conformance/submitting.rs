//! Promises about making tasks and finding them: durable, once, under a name that is free, in lists.

use longhaul_core::task::{Event, State};
use longhaul_store::{Change, CommitError, Filter, Guard, Which};

use super::Harness;
use super::sample::{
    by_person, cancelled, claimed, lease, mark, reload, submission, submit, submitted, task_id, worker_id,
};

pub(crate) async fn a_submitted_task_is_there_after_reopening(harness: &dyn Harness) {
    let id = task_id();
    let made = {
        let store = harness.open().await;
        let made = store.commit(submit(id, submission("one"))).await.expect("a submission");
        assert!(!made.repeated);
        assert_eq!((made.stored.task.version, made.stored.epoch, &made.stored.owner), (1, 0, &None));
        made.stored
    };
    let store = harness.open().await;
    assert_eq!(reload(&*store, &made).await, made);
    let events = store.events(id, 0, 10).await.expect("events");
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].seq, events[0].epoch), (1, 0));
    assert_eq!(events[0].event, Event::Submitted { submission: submission("one").into() });
    assert_eq!(events[0].actor.principal, "ann");
}

pub(crate) async fn a_submission_with_a_claim_is_owned_at_once(harness: &dyn Harness) {
    let store = harness.open().await;
    let wanted = lease();
    let change = Change { claim: Some(wanted.clone()), ..submit(task_id(), submission("one")) };
    let stored = store.commit(change.clone()).await.expect("a submission").stored;
    assert!(matches!(stored.task.state, State::Preparing));
    assert_eq!((stored.task.version, stored.epoch), (2, 1));
    let owner = stored.owner.clone().expect("an owner");
    assert_eq!((owner.worker, owner.host.as_str(), owner.lease.id), (wanted.worker, "host-a", wanted.id));
    assert_eq!((owner.lease.epoch, owner.since), (1, change.at));
    let events = store.events(stored.task.id, 0, 10).await.expect("events");
    let kinds: Vec<(&str, u64)> = events.iter().map(|event| (event.event.kind(), event.epoch)).collect();
    assert_eq!(kinds, [("submitted", 0), ("claimed", 1)]);
    assert_eq!(events[1].actor.principal, "worker");
    assert_eq!(reload(&*store, &stored).await, stored);
}

pub(crate) async fn an_unknown_task_is_absent_and_unchangeable(harness: &dyn Harness) {
    let store = harness.open().await;
    let known = claimed(&*store, "known").await;
    let id = task_id();
    assert_eq!(store.load(id).await.expect("a readable store"), None);
    assert!(store.events(id, 0, 10).await.expect("events").is_empty());
    assert!(store.verify(id).await.expect("a report").broken.is_some());
    let mut stranger = known.clone();
    stranger.task.id = id;
    let person = store.commit(by_person(&stranger, vec![mark("x")])).await;
    assert!(matches!(person, Err(CommitError::NotFound)), "{person:?}");
    let claim = store.claim(id, 0, lease(), known.task.created).await;
    assert!(matches!(claim, Err(CommitError::NotFound)), "{claim:?}");
    assert_eq!(store.list(Filter::default()).await.expect("a list").tasks, [known]);
}

pub(crate) async fn submitting_twice_makes_one_task(harness: &dyn Harness) {
    let store = harness.open().await;
    let change = submit(task_id(), submission("one"));
    let first = store.commit(change.clone()).await.expect("a submission");
    let again = store.commit(change.clone()).await.expect("a repeat");
    assert_eq!((again.repeated, &again.stored), (true, &first.stored));
    let moved = store.commit(by_person(&first.stored, vec![mark("x")])).await.expect("a change").stored;
    let late = harness.open().await.commit(change.clone()).await.expect("a late repeat");
    assert_eq!((late.repeated, late.stored), (true, moved.clone()));
    let other_body = store.commit(submit(change.task, submission("two"))).await;
    assert!(matches!(other_body, Err(CommitError::Conflict)), "{other_body:?}");
    assert_eq!(store.list(Filter::default()).await.expect("a list").tasks, [moved]);
    assert_eq!(store.events(change.task, 0, 10).await.expect("events").len(), 2);
}

pub(crate) async fn a_name_is_unique_among_unfinished_tasks_of_a_project(harness: &dyn Harness) {
    let store = harness.open().await;
    let first = submitted(&*store, "same").await;
    let refused = store.commit(submit(task_id(), submission("same"))).await;
    assert!(matches!(&refused, Err(CommitError::NameTaken { name }) if name == "same"), "{refused:?}");
    let mut elsewhere = submission("same");
    elsewhere.project = "/elsewhere".into();
    store.commit(submit(task_id(), elsewhere)).await.expect("another project has its own names");
    store.commit(by_person(&first, vec![cancelled()])).await.expect("a cancel");
    let second = submitted(&*store, "same").await;
    let filter = Filter { project: Some("/project".into()), name: Some("same".into()), ..Filter::default() };
    let ids: Vec<_> = store.list(filter).await.expect("a list").tasks.iter().map(|stored| stored.task.id).collect();
    assert_eq!(ids, [second.task.id, first.task.id]);
}

pub(crate) async fn lists_are_newest_first_and_filtered(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut all = Vec::new();
    for name in ["a", "b", "c", "d"] {
        all.insert(0, submitted(&*store, name).await);
    }
    let finished = store.commit(by_person(&all[1], vec![cancelled()])).await.expect("a cancel").stored;
    all[1] = finished;
    let list = |filter| async { store.list(filter).await.expect("a list").tasks };
    assert_eq!(list(Filter::default()).await, all);
    let unfinished = Filter { which: Which::Unfinished, ..Filter::default() };
    assert_eq!(list(unfinished).await, [all[0].clone(), all[2].clone(), all[3].clone()]);
    assert_eq!(list(Filter { limit: Some(2), ..Filter::default() }).await, all[..2]);
    assert_eq!(list(Filter { name: Some("c".into()), ..Filter::default() }).await, all[1..2]);
    assert!(list(Filter { project: Some("/none".into()), ..Filter::default() }).await.is_empty());
    let numbered = [submitted(&*store, "c-2").await, submitted(&*store, "c-10").await];
    let prefixed = |prefix: &str| Filter { name_prefix: Some(prefix.into()), ..Filter::default() };
    assert_eq!(list(prefixed("c-")).await, [numbered[1].clone(), numbered[0].clone()]);
    assert_eq!(list(prefixed("c")).await, [numbered[1].clone(), numbered[0].clone(), all[1].clone()]);
    assert!(list(Filter { project: Some("/none".into()), ..prefixed("c") }).await.is_empty());
    let whole = all[3].task.id.to_string();
    assert_eq!(list(Filter { id_prefix: Some(whole.clone()), ..Filter::default() }).await, all[3..]);
    assert!(list(Filter { id_prefix: Some(format!("{whole}0")), ..Filter::default() }).await.is_empty());
    assert!(list(Filter { id_prefix: Some("%".into()), ..Filter::default() }).await.is_empty());
}

pub(crate) async fn candidates_and_their_owners_are_found(harness: &dyn Harness) {
    let store = harness.open().await;
    let parent = submitted(&*store, "parent").await;
    let mut part = submission("part");
    part.parent = Some(parent.task.id);
    let part = store.commit(submit(task_id(), part)).await.expect("a submission").stored;
    let busy = claimed(&*store, "busy").await;
    let busy = super::sample::advance(&*store, &busy, super::sample::started()).await;
    let gone = submitted(&*store, "gone").await;
    store.commit(by_person(&gone, vec![cancelled()])).await.expect("a cancel");
    let owner = busy.owner.as_ref().expect("an owner").worker;
    let candidates = store.candidates().await.expect("candidates");
    let facts: Vec<_> = candidates.iter().map(|one| (one.task, one.epoch, one.owner, one.parent, one.live)).collect();
    assert_eq!(
        facts,
        [
            (parent.task.id, 0, None, None, false),
            (part.task.id, 0, None, Some(parent.task.id), false),
            (busy.task.id, 1, Some(owner), None, true),
        ]
    );
    assert_eq!(store.other_owners(worker_id()).await.expect("owners"), [owner]);
    assert!(store.other_owners(owner).await.expect("owners").is_empty(), "a worker is no other to itself");
}

pub(crate) async fn news_are_the_tasks_that_moved_after_a_position(harness: &dyn Harness) {
    let store = harness.open().await;
    submitted(&*store, "still").await;
    let task = submitted(&*store, "moved").await;
    let before = store.news(u64::MAX).await.expect("a position");
    assert!(before.tasks.is_empty(), "nothing comes after the end: {before:?}");
    assert!(store.news(before.position).await.expect("news").tasks.is_empty());
    let moved = store.commit(by_person(&task, vec![mark("x"), mark("y")])).await.expect("a change").stored;
    let after = store.news(before.position).await.expect("news");
    assert!(after.position > before.position);
    let [one] = &after.tasks[..] else { panic!("one task moved, once: {after:?}") };
    assert_eq!((one.task, one.version, one.state.as_str()), (moved.task.id, moved.task.version, "queued"));
    assert_eq!(one.candidate.as_ref().map(|candidate| (candidate.task, candidate.owner)), Some((moved.task.id, None)));
    store.commit(by_person(&moved, vec![cancelled()])).await.expect("a cancel");
    let last = store.news(after.position).await.expect("news");
    assert_eq!(
        last.tasks.iter().map(|one| (one.task, one.candidate.is_some())).collect::<Vec<_>>(),
        [(task.task.id, false)]
    );
}

/// A reader that remembers its last position misses nothing, although the newest history is gone.
pub(crate) async fn a_position_is_never_used_again(harness: &dyn Harness) {
    let store = harness.open().await;
    let kept = submitted(&*store, "kept").await;
    let newest = submitted(&*store, "newest").await;
    let newest = store.commit(by_person(&newest, vec![mark("x"), cancelled()])).await.expect("a cancel").stored;
    let seen = store.news(u64::MAX).await.expect("a position").position;
    store.remove(newest.task.id, Guard::Version(newest.task.version)).await.expect("a removal");
    let store = harness.open().await;
    let after_removal = store.news(seen).await.expect("news");
    assert_eq!((after_removal.position, after_removal.tasks.len()), (seen, 0), "positions do not go back");
    store.commit(by_person(&kept, vec![mark("y")])).await.expect("a change");
    let news = store.news(seen).await.expect("news");
    assert_eq!(news.tasks.iter().map(|one| one.task).collect::<Vec<_>>(), [kept.task.id]);
    assert!(news.position > seen);
    assert_eq!(store.check().await.expect("a check"), []);
}
