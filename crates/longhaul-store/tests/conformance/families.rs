//! Promises about families of tasks and the directories they work in: who belongs together, how many, and who goes first.

use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, Limit, Place, Purpose, Reached, SessionRun, Setting, Submission};
use longhaul_store::{Change, CommitError, Holder, Store, Stored};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::Harness;
use super::sample::{
    advance, by_owner, by_person, cancelled, claimed, ended, lease, session, started, submission, submit, task_id,
};

/// A task in place in this directory, owned and preparing.
pub(crate) async fn in_place(store: &dyn Store, name: &str, directory: &str, parent: Option<TaskId>) -> Stored {
    let wanted = Submission { place: Place::InPlace, project: directory.into(), parent, ..submission(name) };
    let change = Change { claim: Some(lease()), ..submit(task_id(), wanted) };
    store.commit(change).await.expect("a submission").stored
}

async fn holder(store: &dyn Store, task: &Stored) -> Option<TaskId> {
    before(store, task.task.id).await
}

async fn before(store: &dyn Store, task: TaskId) -> Option<TaskId> {
    match store.directory_holder(task).await.expect("an answer") {
        Some(Holder::Task(by)) => Some(by),
        Some(Holder::Foreign) => panic!("there is one tenant"),
        None => None,
    }
}

/// The commit enforces what the question answers.
async fn start(store: &dyn Store, task: &Stored) -> Result<Stored, TaskId> {
    let asked = holder(store, task).await;
    match store.commit(by_owner(task, vec![started()])).await {
        Ok(committed) => {
            assert_eq!(asked, None);
            Ok(committed.stored)
        }
        Err(CommitError::DirectoryTaken { by }) => {
            assert_eq!(asked, Some(by));
            Err(by)
        }
        Err(error) => panic!("{error}"),
    }
}

/// The task that nobody keeps from working, at the end of the line that begins with this one.
async fn first_in_line(store: &dyn Store, task: &Stored) -> TaskId {
    let mut first = task.task.id;
    while let Some(by) = before(store, first).await {
        first = by;
    }
    first
}

async fn end(store: &dyn Store, task: &Stored) -> Stored {
    let session = task.task.state.session().expect("a session").id;
    advance(store, task, ended(session)).await
}

pub(crate) async fn one_task_at_a_time_works_in_a_directory(harness: &dyn Harness) {
    let store = &*harness.open().await;
    let first = in_place(store, "first", "/a/b", None).await;
    let same = in_place(store, "same", "/a/b", None).await;
    let (outer, inner) = (in_place(store, "outer", "/a", None).await, in_place(store, "inner", "/a/b/c", None).await);
    let beside = in_place(store, "beside", "/a/bc", None).await;
    let worktree = claimed(store, "worktree").await;
    for waits in [&same, &outer, &inner] {
        start(store, waits).await.expect_err("the older goes first");
        assert_eq!(first_in_line(store, waits).await, first.task.id);
    }
    let first = start(store, &first).await.expect("the oldest waits for nobody");
    start(store, &outer).await.expect_err("a live session inside");
    start(store, &worktree).await.expect("a worktree is nobody else's");
    let first = end(store, &first).await;
    assert_eq!(start(store, &same).await.expect_err("between sessions too"), first.task.id);
    advance(store, &first, cancelled()).await;
    let same = start(store, &same).await.expect("the first is finished");
    start(store, &inner).await.expect_err("the older");
    assert_eq!(first_in_line(store, &inner).await, same.task.id);
    assert_eq!(holder(store, &beside).await, Some(outer.task.id), "by the one around it, not by the similar name");
    for (directory, holder) in [("/a/b/c/d", true), ("/", true), ("/elsewhere", false), ("/a/b/c/dd", true)] {
        assert_eq!(store.works_in(directory).await.expect("an answer").is_some(), holder, "{directory}");
    }
}

pub(crate) async fn the_task_in_progress_goes_before_the_older_one(harness: &dyn Harness) {
    let store = &*harness.open().await;
    let (old_id, young_id) = (task_id(), task_id());
    let make = async |id: TaskId, name: &str| {
        let wanted = Submission { place: Place::InPlace, ..submission(name) };
        let change = Change { claim: Some(lease()), ..submit(id, wanted) };
        store.commit(change).await.expect("a submission").stored
    };
    let young = make(young_id, "young").await;
    let young = start(store, &young).await.expect("it is alone");
    let old = make(old_id, "old").await;
    assert_eq!(start(store, &old).await.expect_err("the other is in progress"), young_id);
    let young = end(store, &young).await;
    assert_eq!(start(store, &old).await.expect_err("between its sessions too"), young_id);
    let young = start(store, &young).await.expect("its next session");
    let young = end(store, &young).await;
    advance(store, &young, cancelled()).await;
    start(store, &old).await.expect("its turn");
}

/// A stranger between parent and child must not make a circle: stranger behind parent, parent behind child, child behind stranger.
pub(crate) async fn a_child_goes_before_its_parent_and_a_family_before_strangers(harness: &dyn Harness) {
    let store = &*harness.open().await;
    let parent = in_place(store, "parent", "/d", None).await;
    let stranger = in_place(store, "stranger", "/d", None).await;
    let parent = start(store, &parent).await.expect("the oldest");
    let elder = in_place(store, "elder", "/d", Some(parent.task.id)).await;
    let younger = in_place(store, "younger", "/d", Some(parent.task.id)).await;
    let grandchild = in_place(store, "grandchild", "/d", Some(elder.task.id)).await;
    for waits in [&stranger, &elder, &younger, &grandchild] {
        assert_eq!(start(store, waits).await.expect_err("a live session"), parent.task.id);
    }
    assert_eq!(holder(store, &parent).await, None, "whoever works waits for nobody");
    let mut parent = end(store, &parent).await;
    let mut waiting = vec![grandchild, elder, younger];
    while !waiting.is_empty() {
        let next = waiting.remove(0);
        for waits in waiting.iter().chain([&parent, &stranger]) {
            start(store, waits).await.expect_err("it is not its turn");
        }
        let next = start(store, &next).await.expect("its turn");
        let next = end(store, &next).await;
        advance(store, &next, cancelled()).await;
    }
    start(store, &stranger).await.expect_err("the parent is in progress");
    parent = start(store, &parent).await.expect("its children are finished");
    let parent = end(store, &parent).await;
    advance(store, &parent, cancelled()).await;
    start(store, &stranger).await.expect("nobody else is left");
}

pub(crate) async fn a_task_in_the_worktree_of_another_waits_for_it(harness: &dyn Harness) {
    let store = &*harness.open().await;
    let owner = claimed(store, "owner").await;
    let inside = in_place(store, "inside", &format!("/home/worktrees/{}/sub", owner.task.id), None).await;
    let around = in_place(store, "around", "/home", None).await;
    assert_eq!(start(store, &inside).await.expect_err("the worktree is the other's"), owner.task.id);
    assert_eq!(holder(store, &around).await, Some(inside.task.id), "worktrees of others do not count from outside");
    start(store, &owner).await.expect("its own worktree");
}

pub(crate) async fn a_family_is_found_from_each_member(harness: &dyn Harness) {
    let store = &*harness.open().await;
    let child_of = async |name: &str, parent: &Stored| {
        let wanted = Submission { parent: Some(parent.task.id), ..submission(name) };
        store.commit(submit(task_id(), wanted)).await.expect("a child").stored
    };
    let parent = claimed(store, "parent").await;
    let stranger = claimed(store, "stranger").await;
    assert!(store.family(parent.task.id).await.expect("an answer").is_empty(), "alone");
    let one = child_of("one", &parent).await;
    let two = child_of("two", &parent).await;
    let below = child_of("below", &one).await;
    let mut members = [&parent, &one, &two, &below].map(|stored| stored.task.id);
    members.sort();
    for member in members {
        let mut found: Vec<TaskId> =
            store.family(member).await.expect("an answer").iter().map(|task| task.id).collect();
        found.sort();
        assert_eq!(found, members);
    }
    assert!(store.family(stranger.task.id).await.expect("an answer").is_empty());
}

pub(crate) async fn a_family_is_neither_larger_nor_deeper_than_it_may_be(harness: &dyn Harness) {
    let store = &*harness.open().await;
    let child_of = async |name: &str, parent: TaskId| {
        let mut wanted = Submission { parent: Some(parent), ..submission(name) };
        (wanted.patience.max_children, wanted.patience.child_depth) = (3, 2);
        store.commit(submit(task_id(), wanted)).await.map(|committed| committed.stored)
    };
    let top = claimed(store, "top").await.task.id;
    let one = child_of("one", top).await.expect("a child");
    let two = child_of("two", one.task.id).await.expect("a grandchild");
    let refused = child_of("three", two.task.id).await;
    assert!(matches!(refused, Err(CommitError::TooDeep { deepest: 2 })), "{refused:?}");
    child_of("three", top).await.expect("a second child");
    let refused = child_of("four", top).await;
    assert!(matches!(refused, Err(CommitError::TooManyChildren { most: 3 })), "{refused:?}");
    store.commit(by_person(&two, vec![cancelled()])).await.expect("one is finished");
    child_of("four", top).await.expect("there is room");
    let refused = child_of("five", task_id()).await;
    assert!(matches!(refused, Err(CommitError::NotFound)), "nobody is its parent: {refused:?}");
}

/// A task whose family may have so many sessions, with so many children; each has an owner and is about to start.
pub(crate) async fn family_of(store: &dyn Store, sessions: u32, children: usize) -> (Stored, Vec<Stored>) {
    let mut wanted = submission("top");
    wanted.patience.max_sessions = Some(sessions);
    let top = store.commit(Change { claim: Some(lease()), ..submit(task_id(), wanted) }).await.expect("a task").stored;
    let mut members = Vec::new();
    for number in 0..children {
        let child = Submission { parent: Some(top.task.id), ..submission(&format!("child-{number}")) };
        let change = Change { claim: Some(lease()), ..submit(task_id(), child) };
        members.push(store.commit(change).await.expect("a child").stored);
    }
    (top, members)
}

pub(crate) async fn the_limits_of_a_family_hold_under_concurrency(harness: &dyn Harness) {
    let handles = [harness.open().await, harness.open().await];
    let (top, children) = family_of(&*handles[0], 3, 8).await;
    let together = Arc::new(Barrier::new(children.len()));
    let mut starts = JoinSet::new();
    for (number, child) in children.into_iter().enumerate() {
        let (store, together) = (Arc::clone(&handles[number % 2]), Arc::clone(&together));
        starts.spawn(async move {
            together.wait().await;
            store.commit(by_owner(&child, vec![started()])).await
        });
    }
    let (live, refused): (Vec<_>, Vec<_>) = starts.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((live.len(), refused.len()), (3, 5));
    let all = Reached {
        limit: Limit::Sessions,
        used: 3,
        cap: 3,
        family: Some(top.task.id),
        family_name: Some(top.task.submission.name.clone()),
    };
    let is_told =
        |answer: &Result<_, _>| matches!(answer, Err(CommitError::FamilyLimit { reached }) if *reached == all);
    assert!(refused.iter().all(is_told), "{refused:?}");
}

pub(crate) async fn a_familys_limit_counts_sessions_of_agents_and_can_be_raised(harness: &dyn Harness) {
    let store = &*harness.open().await;
    let (top, children) = family_of(store, 1, 2).await;
    let one = store.commit(by_owner(&children[0], vec![started()])).await.expect("the only one").stored;
    end(store, &one).await;
    let refused = store.commit(by_owner(&top, vec![started()])).await;
    assert!(matches!(refused, Err(CommitError::FamilyLimit { .. })), "an ended one counts too: {refused:?}");
    let check = Event::SessionStarted { session: SessionRun { purpose: Purpose::Check, ..session() } };
    advance(store, &children[1], check).await;
    let raised = Event::Edited { settings: vec![Setting::Limit(Limit::Sessions, Some(2))], by: None };
    let top = store.commit(by_person(&top, vec![raised])).await.expect("an edit").stored;
    store.commit(by_owner(&top, vec![started()])).await.expect("one more");
}
