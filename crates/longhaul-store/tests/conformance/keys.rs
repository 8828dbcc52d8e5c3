//! Promises about idempotency keys: a repeat is answered and not made twice, and a key stands for one request of one principal.

use longhaul_core::task::Actor;
use longhaul_store::{Change, CommitError, Earlier, Key, Store, Stored};

use super::Harness;
use super::sample::{by_person, mark, reload, submission, submit, submitted, task_id};

fn key() -> Key {
    Key::new("k1", "tell", "x")
}

fn keyed(seen: &Stored, key: Key, text: &str) -> Change {
    Change { key: Some(key), ..by_person(seen, vec![mark(text)]) }
}

async fn ask(store: &dyn Store, key: &Key) -> Result<Option<Earlier>, CommitError> {
    store.repeat_of(key, &Actor::person("ann")).await
}

pub(crate) async fn a_key_names_one_request(harness: &dyn Harness) {
    let store = harness.open().await;
    let (one, two) = (submitted(&*store, "one").await, submitted(&*store, "two").await);
    assert_eq!(ask(&*store, &key()).await.expect("an answer"), None);
    let first = store.commit(keyed(&one, key(), "x")).await.expect("a change");
    assert!(!first.repeated);
    let moved = store.commit(by_person(&first.stored, vec![mark("y")])).await.expect("a change").stored;
    // Decided on another version, the same request may come to other events.
    for text in ["x", "other"] {
        let again = harness.open().await.commit(keyed(&one, key(), text)).await.expect("a repeat");
        assert_eq!((again.repeated, again.stored), (true, moved.clone()));
    }
    assert_eq!(ask(&*harness.open().await, &key()).await.expect("an answer"), Some(Earlier { stored: moved, seq: 2 }));
    let elsewhere = store.commit(keyed(&two, key(), "x")).await;
    assert!(matches!(elsewhere, Err(CommitError::KeyReused)), "{elsewhere:?}");
    assert_eq!(store.events(one.task.id, 0, 10).await.expect("events").len(), 3);
    assert_eq!(reload(&*store, &two).await, two);
}

pub(crate) async fn a_key_is_bound_to_its_caller_operation_and_input(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = submitted(&*store, "one").await;
    let task = store.commit(keyed(&task, key(), "x")).await.expect("a change").stored;
    let actor = Actor::person("ann");
    for key in [Key { operation: "pause".into(), ..key() }, Key::new("k1", "tell", "another input")] {
        let refused = store.commit(keyed(&task, key.clone(), "x")).await;
        assert!(matches!(refused, Err(CommitError::KeyReused)), "{key:?}: {refused:?}");
        let refused = store.repeat_of(&key, &actor).await;
        assert!(matches!(refused, Err(CommitError::KeyReused)), "{key:?}: {refused:?}");
    }
    assert_eq!(reload(&*store, &task).await, task);
    // The same name is another key for somebody else, who learns nothing of this one.
    let ben = Actor::person("ben");
    assert_eq!(store.repeat_of(&key(), &ben).await.expect("no key of ben's"), None);
    let task = store.commit(Change { actor: ben, ..keyed(&task, key(), "x") }).await.expect("ben's own key").stored;
    store.commit(keyed(&task, Key { name: "k2".into(), ..key() }, "x")).await.expect("another key");
}

pub(crate) async fn a_repeated_submission_is_answered_with_its_task(harness: &dyn Harness) {
    let store = harness.open().await;
    let key = || Some(Key::new("k1", "submit", "one"));
    let first = store.commit(Change { key: key(), ..submit(task_id(), submission("one")) }).await.expect("a task");
    let again = store.commit(Change { key: key(), ..submit(task_id(), submission("one")) }).await.expect("a repeat");
    assert_eq!((again.repeated, again.stored), (true, first.stored));
    let filter = longhaul_store::Filter::default();
    assert_eq!(store.list(filter).await.expect("a list").tasks.len(), 1);
}

pub(crate) async fn a_refused_change_uses_no_key(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = submitted(&*store, "one").await;
    let moved = store.commit(by_person(&task, vec![mark("y")])).await.expect("a change").stored;
    let late = store.commit(keyed(&task, key(), "x")).await;
    assert!(matches!(late, Err(CommitError::Conflict)), "{late:?}");
    assert_eq!(ask(&*store, &key()).await.expect("an answer"), None);
    assert!(!store.commit(keyed(&moved, key(), "x")).await.expect("a change").repeated);
}

pub(crate) async fn a_request_that_changes_nothing_uses_its_key(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = submitted(&*store, "one").await;
    let nothing = |key: Option<Key>| Change { key, ..by_person(&task, Vec::new()) };
    let without = store.commit(nothing(None)).await;
    assert!(matches!(without, Err(CommitError::Illegal(_))), "the control: {without:?}");
    let first = store.commit(nothing(Some(key()))).await.expect("nothing to change");
    assert_eq!((first.repeated, &first.stored), (false, &task));
    assert_eq!(
        ask(&*harness.open().await, &key()).await.expect("an answer"),
        Some(Earlier { stored: task.clone(), seq: 1 })
    );
    assert!(store.commit(nothing(Some(key()))).await.expect("a repeat").repeated);
    let other = Key::new("k1", "tell", "another input");
    for change in [nothing(Some(other.clone())), keyed(&task, other, "x")] {
        let refused = store.commit(change).await;
        assert!(matches!(refused, Err(CommitError::KeyReused)), "{refused:?}");
    }
    let missing = store.commit(Change { task: task_id(), ..nothing(Some(Key { name: "k2".into(), ..key() })) }).await;
    assert!(matches!(missing, Err(CommitError::NotFound)), "{missing:?}");
    assert_eq!(reload(&*store, &task).await, task);
}
