//! Promises about tenants: through a tenant's store another tenant's task, name, key, place or filter is as good as unknown; workers see all.

use std::collections::BTreeSet;
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Event, Submission, Until};
use longhaul_core::time::Time;
use longhaul_store::{
    Change, CommitError, Cursor, Filter, Guard, Holder, Key, Lease, Store, Stored, Tenant, Which, WholeStore,
};

use super::Harness;
use super::families::in_place;
use super::notices::told;
use super::sample::{
    advance, by_person, claimed, ended, lease, mark, now, started, submission, submit, submitted, task_id,
};

fn of(store: &dyn WholeStore, name: &str) -> Arc<dyn Store> {
    store.of_tenant(&Tenant::new(name))
}

/// What a store answers about one task, in every way it can be asked, with nothing of the asked id in it.
async fn answers(store: &dyn Store, task: TaskId) -> Vec<(&'static str, String)> {
    let change = |guard| Change { task, guard, ..submit(task, submission("x")) };
    let marked = |guard| Change { events: vec![mark("x")], ..change(guard) };
    let owned = Guard::Owner { version: 1, lease: Lease { epoch: 1, id: lease().id } };
    let child = Submission { parent: Some(task), ..submission("child-of-it") };
    let committed = |answer: Result<_, CommitError>| answer.map(|_| "committed").map_err(|error| format!("{error:?}"));
    let told = [
        ("load", format!("{:?}", store.load(task).await)),
        ("events", format!("{:?}", store.events(task, 0, 100).await)),
        ("newest_events", format!("{:?}", store.newest_events(task, &["submitted"], 100).await)),
        ("family", format!("{:?}", store.family(task).await)),
        ("directory_holder", format!("{:?}", store.directory_holder(task).await)),
        ("verify", format!("{:?}", store.verify(task).await)),
        ("notices", format!("{:?}", store.notices(task).await)),
        ("change", format!("{:?}", committed(store.commit(marked(Guard::Version(99))).await))),
        ("owner's change", format!("{:?}", committed(store.commit(marked(owned)).await))),
        ("child", format!("{:?}", committed(store.commit(submit(task_id(), child)).await))),
    ];
    told.map(|(asked, answer)| (asked, answer.replace(&task.to_string(), "ID"))).to_vec()
}

/// A task of which every question has an answer.
async fn eventful(whole: &dyn WholeStore, tenant: &str) -> TaskId {
    let store = of(whole, tenant);
    in_place(&*store, "before", "/shared", None).await;
    let task = in_place(&*store, "eventful", "/shared", None).await;
    in_place(&*store, "part", "/shared/part", Some(task.task.id)).await;
    task.task.id
}

pub(crate) async fn another_tenants_task_is_answered_like_an_unknown_one(harness: &dyn Harness) {
    let whole = harness.open().await;
    let (mine, theirs) = (of(&*whole, "mine"), of(&*whole, "theirs"));
    let task = eventful(&*whole, "theirs").await;
    let (finished, _) = told(&*theirs, "told").await;
    let before = whole.feed(0, 1_000, u64::MAX).await.expect("events");
    for foreign in [task, finished.task.id] {
        assert_eq!(answers(&*mine, foreign).await, answers(&*mine, task_id()).await);
    }
    assert_eq!(whole.feed(0, 1_000, u64::MAX).await.expect("events"), before, "nothing was written");
    let unknown = answers(&*theirs, task_id()).await;
    let own: Vec<_> =
        answers(&*theirs, task).await.into_iter().zip(answers(&*theirs, finished.task.id).await).collect();
    for ((asked, unknown), (one, other)) in unknown.into_iter().zip(own) {
        assert!(unknown != one.1 || unknown != other.1, "control: `{asked}` tells its own tenant nothing either");
    }
}

/// The tasks that lists show, whole or as summaries, page by page.
async fn shown(store: &dyn Store, filter: &Filter) -> Vec<TaskId> {
    let whole = store.list(filter.clone()).await.expect("a list").tasks;
    let whole: Vec<TaskId> = whole.iter().map(|stored| stored.task.id).collect();
    let mut page = Filter { limit: Some(1), ..filter.clone() };
    let mut paged = Vec::new();
    loop {
        let found = store.summaries(page.clone()).await.expect("a page");
        paged.extend(found.tasks.iter().map(|summary| summary.task));
        match found.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    assert_eq!(paged, whole);
    whole
}

pub(crate) async fn lists_show_one_tenant(harness: &dyn Harness) {
    let whole = harness.open().await;
    let (mine, theirs) = (of(&*whole, "mine"), of(&*whole, "theirs"));
    let mut own = BTreeSet::new();
    let mut foreign = Vec::new();
    for number in 0..4 {
        own.insert(submitted(&*mine, &format!("own-{number}")).await.task.id);
        foreign.push(submitted(&*theirs, &format!("foreign-{number}")).await.task);
    }
    let part = Submission { parent: Some(foreign[1].id), ..submission("foreign-part") };
    theirs.commit(submit(task_id(), part)).await.expect("a child");
    let one = &foreign[1];
    let any = Filter::default();
    let filters = [
        any.clone(),
        Filter { project: Some("/project".into()), ..any.clone() },
        Filter { which: Which::Unfinished, ..any.clone() },
        Filter { which: Which::Unfinished, project: Some("/project".into()), ..any.clone() },
        Filter { state: Some("queued".into()), ..any.clone() },
        Filter { agent: Some("codex".into()), ..any.clone() },
        Filter { updated_since: Some(one.created), ..any.clone() },
        Filter { updated_before: Some(now()), ..any.clone() },
        Filter { after: Some(Cursor { created: one.created, task: one.id }), ..any.clone() },
        Filter { name: Some(one.submission.name.to_string()), ..any.clone() },
        Filter { id_prefix: Some(one.id.to_string()), ..any.clone() },
        Filter { id_prefix: Some("0".into()), ..any.clone() },
        Filter { family_of: Some(one.id), ..any },
    ];
    for filter in filters {
        let everybodys = shown(&*whole, &filter).await;
        let expected: Vec<TaskId> = everybodys.iter().copied().filter(|task| own.contains(task)).collect();
        assert!(everybodys.len() > expected.len(), "control: {filter:?}");
        assert_eq!(shown(&*mine, &filter).await, expected, "{filter:?}");
    }
    assert_eq!(shown(&*of(&*whole, "nobody"), &Filter::default()).await, []);
}

pub(crate) async fn names_and_keys_are_each_tenants_own(harness: &dyn Harness) {
    let whole = harness.open().await;
    let ann = Actor::person("ann");
    let key = |input: &str| Key::new("k1", "submit", input);
    let keyed = |input: &str| Change { key: Some(key(input)), ..submit(task_id(), submission("one")) };
    let mut made = Vec::new();
    for tenant in ["mine", "theirs"] {
        let store = of(&*whole, tenant);
        let first = store.commit(keyed(tenant)).await.expect("a name and a key that are free here");
        assert!(!first.repeated);
        let again = store.commit(keyed(tenant)).await.expect("a repeat");
        assert_eq!((again.repeated, &again.stored), (true, &first.stored));
        let taken = store.commit(submit(task_id(), submission("one"))).await;
        assert!(matches!(taken, Err(CommitError::NameTaken { .. })), "{taken:?}");
        let reused = store.commit(keyed("another input")).await;
        assert!(matches!(reused, Err(CommitError::KeyReused)), "{reused:?}");
        assert_eq!(
            store.repeat_of(&key(tenant), &ann).await.expect("a key").map(|earlier| earlier.stored).as_ref(),
            Some(&first.stored)
        );
        made.push(first.stored.task.id);
    }
    assert_ne!(made[0], made[1]);
    let third = of(&*whole, "third");
    for input in ["mine", "never used"] {
        assert_eq!(third.repeat_of(&key(input), &ann).await.expect("no key"), None);
    }
    // The key of another tenant's change says nothing about this one's.
    let other = of(&*whole, "mine").repeat_of(&Key { name: "k2".into(), ..key("mine") }, &ann).await;
    assert_eq!(other.expect("no key"), None);
}

/// Ids are ours to choose, and unique. Not even the very same submission is answered with another tenant's task.
pub(crate) async fn a_submission_under_another_tenants_id_is_a_conflict(harness: &dyn Harness) {
    let whole = harness.open().await;
    let (mine, theirs) = (of(&*whole, "mine"), of(&*whole, "theirs"));
    let change = submit(task_id(), submission("one"));
    let made = theirs.commit(change.clone()).await.expect("a task").stored;
    assert!(theirs.commit(change.clone()).await.expect("a repeat").repeated, "control");
    let refused = mine.commit(change).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(mine.load(made.task.id).await.expect("an answer"), None);
}

pub(crate) async fn turns_and_directories_name_no_other_tenants_task(harness: &dyn Harness) {
    let whole = harness.open().await;
    let (mine, theirs) = (of(&*whole, "mine"), of(&*whole, "theirs"));
    let first = in_place(&*theirs, "first", "/shared", None).await;
    let waits = in_place(&*mine, "waits", "/shared", None).await;
    let free = claimed(&*mine, "free").await;
    assert_eq!(mine.directory_holder(waits.task.id).await.expect("an answer"), Some(Holder::Foreign));
    assert_eq!(mine.works_in("/shared/below").await.expect("an answer"), Some(Holder::Foreign));
    assert_eq!(whole.directory_holder(waits.task.id).await.expect("an answer"), Some(Holder::Task(first.task.id)));
    assert_eq!(theirs.works_in("/shared").await.expect("an answer"), Some(Holder::Task(first.task.id)));
    let next = async |store: &dyn Store, cap| {
        let turns = store.turns(cap, &[]).await.expect("turns");
        (turns.in_use, turns.next.iter().map(|turn| turn.task).collect::<Vec<_>>())
    };
    assert_eq!(next(&*whole, 9).await, (0, vec![first.task.id, free.task.id]));
    assert_eq!(next(&*mine, 9).await, (0, vec![free.task.id]));
    assert_eq!(next(&*mine, 1).await, (0, vec![]), "the one free slot is somebody else's");
    advance(&*whole, &first, started()).await;
    assert_eq!(next(&*mine, 9).await, (1, vec![free.task.id]));
}

pub(crate) async fn limits_are_shown_to_the_tenant_that_reached_them(harness: &dyn Harness) {
    let whole = harness.open().await;
    let (mine, theirs) = (of(&*whole, "mine"), of(&*whole, "theirs"));
    let until = Until::Time { at: Time(2_000_000_000_000_000), told: true };
    let limited = Event::AgentLimited { agent: "codex".into(), until, account: Some("a".into()), found_by: None };
    let task = claimed(&*theirs, "one").await;
    advance(&*whole, &task, limited).await;
    assert_eq!(mine.account_limits().await.expect("limits"), []);
    for store in [theirs, whole as Arc<dyn Store>] {
        let limits = store.account_limits().await.expect("limits");
        assert_eq!(limits.iter().map(|limit| limit.task).collect::<Vec<_>>(), [task.task.id]);
    }
}

pub(crate) async fn workers_see_every_tenant(harness: &dyn Harness) {
    let whole = harness.open().await;
    let mut tasks: Vec<Stored> = Vec::new();
    for tenant in ["mine", "theirs"] {
        let task = submitted(&*of(&*whole, tenant), "one").await;
        assert_eq!(whole.tenant_of(task.task.id).expect("an answer"), Some(Tenant::new(tenant)));
        tasks.push(task);
    }
    let local = submitted(&*whole, "one").await;
    assert_eq!(whole.tenant_of(local.task.id).expect("an answer"), Some(Tenant::default()));
    assert_eq!(whole.tenant_of(task_id()).expect("an answer"), None);
    tasks.push(local);
    let ids: Vec<TaskId> = tasks.iter().map(|stored| stored.task.id).collect();
    let wanting: Vec<TaskId> = whole.candidates().await.expect("candidates").iter().map(|one| one.task).collect();
    assert_eq!(wanting, ids);
    let moved: BTreeSet<TaskId> = whole.news(0).await.expect("news").tasks.iter().map(|one| one.task).collect();
    assert_eq!(moved, ids.iter().copied().collect());
    for task in tasks {
        let task = whole.claim(task.task.id, task.epoch, lease(), now()).await.expect("a claim").stored;
        let task = advance(&*whole, &task, started()).await;
        let session = task.task.state.session().expect("a session").id;
        let task = advance(&*whole, &task, ended(session)).await;
        whole.commit(by_person(&task, vec![mark("x")])).await.expect("a change");
        assert_eq!(whole.verify(task.task.id).await.expect("a report").broken, None);
    }
    assert_eq!(whole.check().await.expect("a check"), []);
}
