//! Promises about notices: made with the change they tell of, delivered by one at a time, settled once, gone with their task.

use std::time::Duration;

use longhaul_core::task::{Event, Notify, Observation, Occasion, Submission, Target, Verdict};
use longhaul_store::{Change, CommitError, Guard, Notice, NoticeState, Settled, Store, Stored};

use super::Harness;
use super::sample::{by_owner, by_person, cancelled, lease, mark, now, submission, submit, task_id};

/// Two targets, and told of an end or a failure only.
fn telling(name: &str) -> Submission {
    let targets = vec![Target::Desktop, Target::File { path: "/f".into() }];
    let notify = Notify { on: vec![Occasion::Done, Occasion::Failed], targets, timeout_ms: 1_000 };
    Submission { notify, ..submission(name) }
}

async fn begun(store: &dyn Store, submission: Submission) -> Stored {
    let change = Change { claim: Some(lease()), ..submit(task_id(), submission) };
    store.commit(change).await.expect("a submission with a claim").stored
}

fn finished() -> Event {
    Event::Finished { verdict: Verdict::NoChecks }
}

/// A finished task with its two notices.
pub(crate) async fn told(store: &dyn Store, name: &str) -> (Stored, Vec<Notice>) {
    let task = begun(store, telling(name)).await;
    let task = store.commit(by_owner(&task, vec![mark("x"), finished()])).await.expect("an end").stored;
    let notices = store.notices(task.task.id).await.expect("notices");
    assert_eq!(notices.len(), 2);
    (task, notices)
}

pub(crate) async fn a_notice_is_made_with_the_change_it_tells_of(harness: &dyn Harness) {
    let store = harness.open().await;
    let silent = begun(&*store, submission("silent")).await;
    store.commit(by_owner(&silent, vec![finished()])).await.expect("an end");
    let given_up = begun(&*store, telling("given-up")).await;
    store.commit(by_person(&given_up, vec![cancelled()])).await.expect("a cancel");
    let refused = begun(&*store, telling("refused")).await;
    let stale = Change { guard: Guard::Version(99), ..by_owner(&refused, vec![finished()]) };
    assert!(matches!(store.commit(stale).await, Err(CommitError::Conflict)));
    assert_eq!(store.pending_notices().await.expect("notices"), [], "nothing of these is to be told");
    let (task, notices) = told(&*store, "told").await;
    let store = harness.open().await;
    assert_eq!(store.pending_notices().await.expect("notices"), notices);
    for (target, notice) in (0..).zip(&notices) {
        let facts = (notice.task, notice.seq, notice.target, notice.occasion);
        assert_eq!(facts, (task.task.id, task.task.version, target, Occasion::Done));
        assert_eq!((notice.stands.as_str(), notice.state, notice.tries), ("done", NoticeState::Pending, 0));
        assert_eq!((notice.created, notice.next_at, &notice.error), (task.task.updated, task.task.updated, &None));
    }
    let events = store.events(task.task.id, 0, 100).await.expect("events");
    assert_eq!(events.len() as u64, task.task.version, "they are no part of the history");
    let later = Event::Noted { observation: Box::new(Observation::Woke) };
    let refused = store.commit(by_person(&task, vec![later])).await;
    assert!(matches!(refused, Err(CommitError::Illegal(_))), "a finished task never changes: {refused:?}");
}

pub(crate) async fn one_of_many_claimers_of_a_notice_wins(harness: &dyn Harness) {
    let store = harness.open().await;
    let (task, notices) = told(&*store, "one").await;
    let until = now().after(Duration::from_secs(60));
    let claimers = (0..8).map(|_| {
        let (store, id) = (store.clone(), notices[0].id);
        tokio::spawn(async move { store.claim_notice(id, 0, until).await.expect("an answer") })
    });
    let mut won = 0;
    for claimer in claimers.collect::<Vec<_>>() {
        won += usize::from(claimer.await.expect("a claimer"));
    }
    assert_eq!(won, 1);
    let claimed = &store.notices(task.task.id).await.expect("notices")[0];
    assert_eq!((claimed.tries, claimed.next_at, claimed.state), (1, until, NoticeState::Pending));
    // Whoever comes when that one did not answer in time takes it over.
    assert!(store.claim_notice(notices[0].id, 1, until).await.expect("an answer"));
    assert!(!store.claim_notice(9_999, 0, until).await.expect("an answer"), "there is no such notice");
}

pub(crate) async fn a_notice_is_settled_by_its_claimer_alone(harness: &dyn Harness) {
    let store = harness.open().await;
    let (task, notices) = told(&*store, "one").await;
    let (first, second) = (notices[0].id, notices[1].id);
    let later = now().after(Duration::from_secs(60));
    for id in [first, second] {
        assert!(store.claim_notice(id, 0, later).await.expect("an answer"));
    }
    let again = Settled::Again { at: later, error: "not yet".into() };
    assert!(store.settle_notice(first, 1, again).await.expect("an answer"));
    let waits = store.notices(task.task.id).await.expect("notices")[0].clone();
    assert_eq!((waits.state, waits.error.as_deref(), waits.next_at), (NoticeState::Pending, Some("not yet"), later));
    assert!(store.claim_notice(first, 1, later).await.expect("an answer"));
    assert!(!store.settle_notice(first, 1, Settled::Delivered).await.expect("an answer"), "an old try says nothing");
    assert!(store.settle_notice(first, 2, Settled::Delivered).await.expect("an answer"));
    assert!(store.settle_notice(second, 1, Settled::Failed { error: "gone".into() }).await.expect("an answer"));
    assert!(!store.settle_notice(second, 1, Settled::Delivered).await.expect("an answer"), "settled is settled");
    let store = harness.open().await;
    let ends: Vec<_> =
        store.notices(task.task.id).await.expect("notices").into_iter().map(|one| (one.state, one.error)).collect();
    assert_eq!(ends, [(NoticeState::Delivered, None), (NoticeState::Failed, Some("gone".into()))]);
    assert_eq!(store.pending_notices().await.expect("notices"), []);
}

pub(crate) async fn a_notice_that_is_given_back_counts_no_try(harness: &dyn Harness) {
    let store = harness.open().await;
    let (task, notices) = told(&*store, "one").await;
    let (id, later) = (notices[0].id, now().after(Duration::from_secs(60)));
    assert!(store.claim_notice(id, 0, later).await.expect("an answer"));
    let back = Settled::GivenBack { at: task.task.updated, error: "no key".into() };
    assert!(store.settle_notice(id, 1, back.clone()).await.expect("an answer"));
    let waits = store.notices(task.task.id).await.expect("notices")[0].clone();
    assert_eq!((waits.state, waits.tries, waits.next_at), (NoticeState::Pending, 0, task.task.updated));
    assert_eq!(waits.error.as_deref(), Some("no key"));
    assert!(!store.settle_notice(id, 1, back).await.expect("an answer"), "it is given back once");
    assert!(store.claim_notice(id, 0, later).await.expect("an answer"), "anybody may set out anew");
}

pub(crate) async fn notices_go_with_their_task(harness: &dyn Harness) {
    let store = harness.open().await;
    let (other, stay) = told(&*store, "other").await;
    let (task, gone) = told(&*store, "one").await;
    store.remove(task.task.id, Guard::Version(task.task.version)).await.expect("a removal");
    assert_eq!(store.pending_notices().await.expect("notices"), stay);
    assert_eq!(store.notices(task.task.id).await.expect("notices"), []);
    assert!(!store.claim_notice(gone[0].id, 0, now()).await.expect("an answer"));
    let (_, new) = told(&*store, "one").await;
    assert!(new.iter().all(|notice| !gone.iter().any(|old| old.id == notice.id)), "a number is never used again");
    assert_eq!(store.notices(other.task.id).await.expect("notices"), stay);
    assert_eq!(store.check().await.expect("a check"), []);
}

pub(crate) async fn the_newest_notices_of_a_task_are_read(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut many = telling("many");
    many.notify.targets = vec![Target::Desktop; 300];
    let task = begun(&*store, many).await;
    let task = store.commit(by_owner(&task, vec![finished()])).await.expect("an end").stored;
    let notices = store.notices(task.task.id).await.expect("notices");
    assert!(notices.len() < 300 && notices.len() > 100, "{}", notices.len());
    assert_eq!(notices.last().map(|notice| notice.target), Some(299));
    assert!(notices.is_sorted_by_key(|notice| notice.target));
}
