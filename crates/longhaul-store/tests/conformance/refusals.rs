//! The promise that a refusal writes nothing at all, whatever the reason for it.

use longhaul_core::task::Event;
use longhaul_store::{Change, CommitError, Filter, Guard, Key, Listed, Store, StoredEvent};

use super::Harness;
use super::sample::{by_owner, by_person, claimed, lease, mark, now, started, submission, submit, submitted, task_id};

/// Everything a store can tell.
pub(crate) async fn everything(store: &dyn Store) -> (Listed, Vec<Vec<StoredEvent>>) {
    let listed = store.list(Filter::default()).await.expect("a list");
    let mut events = Vec::new();
    for stored in &listed.tasks {
        events.push(store.events(stored.task.id, 0, u32::MAX).await.expect("events"));
    }
    (listed, events)
}

pub(crate) async fn a_refused_change_writes_nothing(harness: &dyn Harness) {
    let store = harness.open().await;
    let queued = submitted(&*store, "queued").await;
    let owned = claimed(&*store, "owned").await;
    let keyed = |change: Change| Change { key: Some(Key::new("never", "mark", "x")), ..change };
    let legal_then_not = vec![mark("legal"), Event::WaitEnded];
    let claimed_by_hand = Event::Claimed { worker: lease().worker, host: "host-b".into(), from: None };
    let refused = [
        Change { guard: Guard::Version(9), ..by_person(&queued, vec![mark("x")]) },
        by_person(&queued, legal_then_not),
        by_person(&queued, vec![claimed_by_hand]),
        Change { guard: by_owner(&owned, Vec::new()).guard, ..by_person(&queued, vec![mark("x")]) },
        Change { claim: Some(lease()), ..by_owner(&owned, vec![mark("x")]) },
        Change { session_cap: Some(0), ..by_owner(&owned, vec![started()]) },
        submit(task_id(), submission("owned")),
        submit(queued.task.id, submission("other")),
        Change { events: vec![mark("x")], ..submit(task_id(), submission("new")) },
        Change { events: Vec::new(), ..submit(task_id(), submission("new")) },
        Change { task: task_id(), ..by_person(&queued, vec![mark("x")]) },
    ];
    let before = everything(&*store).await;
    for change in refused {
        let answer = store.commit(keyed(change.clone())).await;
        assert!(!matches!(answer, Ok(_) | Err(CommitError::Store(_))), "{change:?}: {answer:?}");
        assert_eq!(everything(&*store).await, before, "{change:?}");
    }
    for epoch in [0, 2] {
        assert!(store.claim(owned.task.id, epoch, lease(), now()).await.is_err());
    }
    assert_eq!(everything(&*harness.open().await).await, before);
    assert_eq!(store.check().await.expect("a check"), []);
    store.commit(keyed(by_person(&queued, vec![mark("x")]))).await.expect("a refused change does not use its key up");
}
