//! Promises about idempotency keys: a repeat is answered and not made twice, and a key stands for one request of one principal.

use longhaul_core::task::{Actor, Event};
use longhaul_core::time::Time;
use longhaul_store::{Change, CommitError, Committed, Earlier, Filter, Key, Store, Stored};

use super::Harness;
use super::sample::{by_person, cancelled, mark, now, reload, submission, submit, submitted, task_id};

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

/// A submission without a key, presumed to be a repeat of an equal one after this time.
fn guessed(after: Time) -> Change {
    let key = Some(Key::guessed("same/", "submit", "one", after));
    Change { key, ..submit(task_id(), submission(&format!("t-{}", now().0))) }
}

pub(crate) async fn a_guessed_key_names_a_task_while_it_is_at_work(harness: &dyn Harness) {
    let store = harness.open().await;
    let begin = now();
    let again = async |earlier: &Committed, after: Time| {
        let next = harness.open().await.commit(guessed(after)).await.expect("a task or a repeat");
        assert_eq!(next.repeated, next.stored.task.id == earlier.stored.task.id);
        next
    };
    let first = store.commit(guessed(begin)).await.expect("a task");
    assert!(!first.repeated);
    assert!(again(&first, begin).await.repeated, "it is at work");
    let ben = Change { actor: Actor::person("ben"), ..guessed(begin) };
    assert!(!store.commit(ben).await.expect("ben's own task").repeated);

    let second = again(&first, now()).await;
    assert!(!second.repeated, "the first one is too old");
    assert!(again(&second, begin).await.repeated, "the second one has its place");
    let paused = vec![Event::Paused { why: None }];
    store.commit(by_person(&second.stored, paused)).await.expect("a pause");
    let third = again(&second, begin).await;
    assert!(!third.repeated, "the second one needs a person");
    store.commit(by_person(&third.stored, vec![cancelled()])).await.expect("an end");
    assert!(!again(&third, begin).await.repeated, "the third one is finished");
}

pub(crate) async fn of_equal_submissions_at_once_one_is_made(harness: &dyn Harness) {
    let begin = now();
    let mut at_once = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = harness.open().await;
        at_once.spawn(async move { store.commit(guessed(begin)).await.expect("a task or a repeat").repeated });
    }
    let repeats = at_once.join_all().await.into_iter().filter(|repeated| *repeated).count();
    let tasks = harness.open().await.list(Filter::default()).await.expect("a list").tasks.len();
    assert_eq!((repeats, tasks), (7, 1));
}
