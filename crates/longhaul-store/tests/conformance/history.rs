//! Promises about a task's events: complete, in order whatever the clock says, chained, and the source of its state.

use longhaul_core::task::{Event, Task};
use longhaul_core::time::Time;
use longhaul_store::{ChainEntry, ChainHead, Change, Store, Stored, StoredEvent, link};

use super::Harness;
use super::sample::{advance, by_person, claimed, ended, lease, mark, planned, reload, started, submitted};

/// A task that has seen a session, a pause, a resume and a second claim.
async fn travelled(store: &dyn Store) -> Stored {
    let task = claimed(store, "travelled").await;
    let task = advance(store, &task, started()).await;
    let session = task.task.state.session().expect("a session").id;
    let task = advance(store, &task, ended(session)).await;
    let task = advance(store, &task, Event::Paused { why: None }).await;
    let resumed = Event::Resumed { reason: Some("ready \u{1F680} \"quoted\"".into()) };
    let change = Change { claim: Some(lease()), ..by_person(&task, vec![resumed]) };
    store.commit(change).await.expect("a resume with a claim").stored
}

async fn all_events(store: &dyn Store, stored: &Stored) -> Vec<StoredEvent> {
    store.events(stored.task.id, 0, u32::MAX).await.expect("events")
}

pub(crate) async fn events_are_gap_free_and_in_order(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut task = submitted(&*store, "one").await;
    let other = submitted(&*store, "two").await;
    for step in 0..20 {
        let events = (0..=step % 3).map(|part| mark(format!("{step}.{part}"))).collect();
        task = store.commit(by_person(&task, events)).await.expect("a change").stored;
    }
    let events = all_events(&*store, &task).await;
    assert_eq!(events.len() as u64, task.task.version);
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq), "a gap");
    let marks: Vec<Event> =
        (0..20).flat_map(|step| (0..=step % 3).map(move |part| mark(format!("{step}.{part}")))).collect();
    assert_eq!(events[1..].iter().map(|event| event.event.clone()).collect::<Vec<_>>(), marks);
    let page = store.events(task.task.id, 5, 7).await.expect("a page");
    assert_eq!(page, events[5..12]);
    assert!(store.events(task.task.id, u64::MAX, 7).await.expect("a page").is_empty());
    assert_eq!(all_events(&*store, &other).await.len(), 1);
}

pub(crate) async fn a_clock_that_goes_backwards_keeps_the_order(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut task = submitted(&*store, "one").await;
    let times = [5_000, 3_000, -7, i64::MAX, 0].map(Time);
    for at in times {
        task = store.commit(Change { at, ..by_person(&task, vec![mark("x")]) }).await.expect("a change").stored;
        assert_eq!(task.task.updated, at);
    }
    let stored: Vec<Time> = all_events(&*store, &task).await[1..].iter().map(|event| event.at).collect();
    assert_eq!(stored, times);
    assert_eq!(store.verify(task.task.id).await.expect("a report").broken, None);
}

pub(crate) async fn the_chain_is_the_documented_one(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = travelled(&*store).await;
    let id = task.task.id;
    let mut head = ChainHead::empty(id);
    for stored in all_events(&*store, &task).await {
        let actor = serde_json::to_string(&stored.actor).expect("JSON");
        let payload = serde_json::to_string(&stored.event).expect("JSON");
        let StoredEvent { seq, at, epoch, .. } = stored;
        let kind = stored.event.kind();
        head = link(&head, id, &ChainEntry { seq, at, epoch, actor: &actor, kind, payload: &payload });
        assert_eq!(stored.hash, head.to_string(), "event {seq}");
    }
    let report = store.verify(id).await.expect("a report");
    assert_eq!((report.events, report.broken), (task.task.version, None));
    assert_eq!(store.check().await.expect("a check"), []);
}

pub(crate) async fn the_state_is_what_its_events_make(harness: &dyn Harness) {
    let task = travelled(&*harness.open().await).await;
    let store = harness.open().await;
    let events = all_events(&*store, &task).await;
    let mut rebuilt = Task::begin(task.task.id, &events[0].event, events[0].at).expect("a first event");
    for stored in &events[1..] {
        rebuilt = rebuilt.apply(&stored.event, stored.at).expect("a legal event");
    }
    assert_eq!(rebuilt, reload(&*store, &task).await.task);
}

pub(crate) async fn a_claiming_commit_changes_the_epoch_in_its_middle(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = travelled(&*store).await;
    let epochs: Vec<(&str, u64)> =
        all_events(&*store, &task).await.iter().map(|event| (event.event.kind(), event.epoch)).collect();
    let expected = [
        ("submitted", 0),
        ("claimed", 1),
        ("session_started", 1),
        ("session_ended", 1),
        ("paused", 1),
        ("resumed", 1),
        ("claimed", 2),
    ];
    assert_eq!(epochs, expected);
    assert_eq!(task.epoch, 2);
}

pub(crate) async fn the_newest_events_of_some_kinds_are_found(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = claimed(&*store, "one").await;
    let other = claimed(&*store, "two").await;
    let task = store.commit(by_person(&task, vec![mark("a"), planned(), mark("b")])).await.expect("a change").stored;
    store.commit(by_person(&other, vec![mark("z")])).await.expect("a change");
    let all = store.events(task.task.id, 0, u32::MAX).await.expect("events");
    let newest = |kinds: &'static [&'static str], limit| {
        let store = &store;
        async move { store.newest_events(task.task.id, kinds, limit).await.expect("events").events }
    };
    assert_eq!(newest(&[], u32::MAX).await, all);
    assert_eq!(newest(&[], 2).await, all[all.len() - 2..]);
    assert_eq!(newest(&["forced"], u32::MAX).await, [all[2].clone(), all[4].clone()]);
    assert_eq!(newest(&["forced", "claimed"], 2).await, [all[2].clone(), all[4].clone()]);
    assert_eq!(newest(&["claimed", "plan_revised"], 5).await, [all[1].clone(), all[3].clone()]);
    assert_eq!(newest(&["paused"], 5).await, []);
}
