//! Promises about the feed: every event in the order of commits, bounded pages that follow each other, and no silent gap.

use longhaul_core::ids::TaskId;
use longhaul_store::{Feed, Guard, Store, StoredEvent, Tenant};
use tokio::task::JoinSet;

use super::Harness;
use super::sample::{by_person, cancelled, mark, submitted};

async fn read(store: &dyn Store, after: u64, events: u32, bytes: u64) -> Feed {
    let feed = store.feed(after, events, bytes).await.expect("a feed");
    assert_eq!(feed.damaged, []);
    let positions: Vec<u64> = feed.events.iter().map(|event| event.position).collect();
    assert!(positions.is_sorted_by(|one, next| one < next), "{positions:?}");
    assert!(positions.iter().all(|position| (after + 1..=feed.position).contains(position)), "{feed:?}");
    feed
}

async fn all(store: &dyn Store) -> Feed {
    read(store, 0, u32::MAX, u64::MAX).await
}

fn of_task(feed: &Feed, task: TaskId) -> Vec<StoredEvent> {
    feed.events.iter().filter(|event| event.task == task).map(|event| event.event.clone()).collect()
}

fn kinds(feed: &Feed) -> Vec<(TaskId, u64)> {
    feed.events.iter().map(|event| (event.task, event.event.seq)).collect()
}

pub(crate) async fn the_feed_has_every_event_in_the_order_of_commits(harness: &dyn Harness) {
    let store = harness.open().await;
    assert_eq!(all(&*store).await, Feed::default());
    let one = submitted(&*store, "one").await;
    let two = submitted(&*store, "two").await;
    let one = store.commit(by_person(&one, vec![mark("x"), mark("y")])).await.expect("a change").stored.task.id;
    let seen = all(&*store).await.position;
    let two = store.commit(by_person(&two, vec![mark("z")])).await.expect("a change").stored.task.id;
    let feed = all(&*harness.open().await).await;
    assert_eq!(kinds(&feed), [(one, 1), (two, 1), (one, 2), (one, 3), (two, 2)]);
    for task in [one, two] {
        assert_eq!(of_task(&feed, task), store.events(task, 0, 100).await.expect("events"));
    }
    assert!(!feed.more && !feed.has_gap);
    assert_eq!(kinds(&read(&*store, seen, 100, u64::MAX).await), [(two, 2)]);
    assert_eq!(read(&*store, feed.position, 100, u64::MAX).await.position, feed.position, "nothing is left");
    let mut writers = JoinSet::new();
    for writer in 0..8 {
        let store = harness.open().await;
        writers.spawn(async move {
            for number in 0..10 {
                submitted(&*store, &format!("task-{writer}-{number}")).await;
            }
        });
    }
    // A reader that follows while others commit misses nothing and reads nothing twice.
    let (mut position, mut read_so_far) = (feed.position, Vec::new());
    loop {
        let is_over = writers.is_empty();
        let page = read(&*store, position, 7, u64::MAX).await;
        position = page.position;
        read_so_far.extend(page.events);
        if is_over && !page.more {
            break;
        }
        while let Some(ended) = writers.try_join_next() {
            ended.expect("a writer");
        }
    }
    assert_eq!(read_so_far, read(&*store, feed.position, u32::MAX, u64::MAX).await.events);
    assert_eq!(read_so_far.len(), 80);
}

pub(crate) async fn pages_of_the_feed_are_bounded_and_follow_each_other(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut task = submitted(&*store, "one").await;
    for size in [10, 5_000, 1, 300, 300, 20_000, 2] {
        task = store.commit(by_person(&task, vec![mark("x".repeat(size))])).await.expect("a change").stored;
    }
    let everything = all(&*store).await;
    for (events, bytes, pages) in [(3, u64::MAX, 3), (1, u64::MAX, 8), (100, 0, 8), (100, 6_500, 4), (100, 1 << 20, 1)]
    {
        let (mut position, mut found, mut count) = (0, Vec::new(), 0);
        loop {
            let page = read(&*store, position, events, bytes).await;
            let size: usize = page.events.iter().map(|event| format!("{:?}", event.event.event).len()).sum();
            assert!(page.events.len() == 1 || size as u64 <= bytes, "{size} of {bytes}");
            (position, count) = (page.position, count + 1);
            found.extend(page.events);
            if !page.more {
                break;
            }
        }
        assert!(found == everything.events, "{events} events, {bytes} bytes");
        assert_eq!(count, pages, "{events} events, {bytes} bytes");
    }
}

pub(crate) async fn a_reader_is_told_that_events_are_missing(harness: &dyn Harness) {
    let store = harness.open().await;
    let kept = submitted(&*store, "kept").await;
    let before = all(&*store).await.position;
    let gone = submitted(&*store, "gone").await;
    let gone = store.commit(by_person(&gone, vec![mark("x"), cancelled()])).await.expect("a cancel").stored;
    let after = all(&*store).await.position;
    let kept = store.commit(by_person(&kept, vec![mark("y")])).await.expect("a change").stored;
    assert!(!all(&*store).await.has_gap, "control");
    store.remove(gone.task.id, Guard::Version(gone.task.version)).await.expect("a removal");
    let store = harness.open().await;
    let feed = read(&*store, before, 100, u64::MAX).await;
    assert_eq!((feed.has_gap, kinds(&feed)), (true, vec![(kept.task.id, 2)]), "what exists is answered");
    let feed = read(&*store, after, 100, u64::MAX).await;
    assert_eq!((feed.has_gap, kinds(&feed)), (false, vec![(kept.task.id, 2)]), "this reader saw what is gone");
    // Positions are not used again, so this one stays where it is although nothing else is left.
    let kept = store.commit(by_person(&kept, vec![cancelled()])).await.expect("a cancel").stored;
    let end = all(&*store).await.position;
    store.remove(kept.task.id, Guard::Version(kept.task.version)).await.expect("a removal");
    let feed = read(&*store, end, 100, u64::MAX).await;
    assert_eq!((feed.position, feed.has_gap, feed.events.len()), (end, false, 0));
    let next = submitted(&*harness.open().await, "next").await;
    assert_eq!(kinds(&read(&*store, end, 100, u64::MAX).await), [(next.task.id, 1)]);
    // A position that this history never had: of another home, or from before an older copy was restored.
    let feed = store.feed(end + 1_000, 100, u64::MAX).await.expect("a feed");
    assert_eq!((feed.position, feed.has_gap, feed.events.len()), (end + 1, true, 0));
}

pub(crate) async fn a_tenants_feed_has_its_own_events(harness: &dyn Harness) {
    let whole = harness.open().await;
    let [mine, theirs] = ["mine", "theirs"].map(|tenant| whole.of_tenant(&Tenant::new(tenant)));
    let foreign = submitted(&*theirs, "one").await;
    let own = submitted(&*mine, "one").await;
    let gone = whole.commit(by_person(&foreign, vec![mark("x"), cancelled()])).await.expect("a cancel").stored;
    let own = whole.commit(by_person(&own, vec![mark("y")])).await.expect("a change by a worker").stored.task.id;
    submitted(&*theirs, "two").await;
    let end = all(&*whole).await.position;
    let feed = all(&*mine).await;
    assert_eq!(
        (kinds(&feed), feed.position, feed.more),
        (vec![(own, 1), (own, 2)], end, false),
        "past the others' events"
    );
    let first = read(&*mine, 0, 1, u64::MAX).await;
    assert_eq!((kinds(&first), first.more), (vec![(own, 1)], true));
    // The position of another tenant's event is a place like any other.
    let between = all(&*theirs).await.events[1].position;
    assert_eq!(kinds(&read(&*mine, between, 9, u64::MAX).await), [(own, 2)]);
    whole.remove(gone.task.id, Guard::Version(gone.task.version)).await.expect("a removal");
    assert_eq!((all(&*mine).await.has_gap, all(&*theirs).await.has_gap), (false, true));
}
