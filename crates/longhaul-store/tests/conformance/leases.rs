//! Promises about ownership: one owner per epoch, a lost lease writes nothing more, and it is given up where it must be.

use std::sync::Arc;

use longhaul_core::task::{Cause, Event, HelpReason, StopMode, Then, Verdict, Wait};
use longhaul_core::time::Time;
use longhaul_store::{Change, CommitError};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::Harness;
use super::sample::{
    advance, by_owner, by_person, cancelled, claimed, lease, lease_of, mark, now, reload, started, submitted, worker_id,
};

pub(crate) async fn one_of_many_claimers_wins(harness: &dyn Harness) {
    let handles = [harness.open().await, harness.open().await];
    let mut tasks = Vec::new();
    for number in 0..8 {
        tasks.push(submitted(&*handles[0], &format!("task-{number}")).await);
    }
    let together = Arc::new(Barrier::new(8 * 6));
    let mut claims = JoinSet::new();
    for claimer in 0..6 {
        for task in tasks.iter().map(|stored| stored.task.id) {
            let (store, together) = (Arc::clone(&handles[claimer % 2]), Arc::clone(&together));
            claims.spawn(async move {
                together.wait().await;
                (task, store.claim(task, 0, lease(), now()).await)
            });
        }
    }
    let answers = claims.join_all().await;
    for task in &tasks {
        let of_task = || answers.iter().filter(|(id, _)| *id == task.task.id).map(|(_, answer)| answer);
        let winners: Vec<_> = of_task().filter_map(|answer| answer.as_ref().ok()).collect();
        assert_eq!(winners.len(), 1);
        assert_eq!(of_task().filter(|answer| matches!(answer, Err(CommitError::Conflict))).count(), 5);
        assert_eq!(reload(&*handles[1], task).await, winners[0].stored);
        assert_eq!(handles[0].events(task.task.id, 0, 10).await.expect("events").len(), 2);
    }
}

pub(crate) async fn an_old_lease_is_fenced_off(harness: &dyn Harness) {
    let store = harness.open().await;
    let old = claimed(&*store, "one").await;
    let taken = harness.open().await.claim(old.task.id, 1, lease(), now()).await.expect("a takeover").stored;
    assert_eq!(taken.epoch, 2);
    let mut late = by_owner(&old, vec![mark("late")]);
    let answer = store.commit(late.clone()).await;
    assert!(matches!(answer, Err(CommitError::Fenced)), "{answer:?}");
    // Neither the new version nor the new epoch helps without the new lease.
    let old_lease = old.owner.as_ref().expect("an owner").lease;
    let forged = longhaul_store::Lease { epoch: 2, ..old_lease };
    for lease in [old_lease, forged] {
        late.guard = longhaul_store::Guard::Owner { version: taken.task.version, lease };
        let answer = store.commit(late.clone()).await;
        assert!(matches!(answer, Err(CommitError::Fenced)), "{answer:?}");
    }
    assert_eq!(reload(&*store, &old).await, taken);
    let events = store.events(old.task.id, 2, 10).await.expect("events");
    let from = old.owner.map(|owner| owner.worker);
    assert!(matches!(&events[..], [one] if matches!(one.event, Event::Claimed { from: f, .. } if f == from)));
    advance(&*store, &taken, mark("new owner")).await;
}

pub(crate) async fn a_front_ends_change_is_a_conflict_to_the_owner(harness: &dyn Harness) {
    let store = harness.open().await;
    let seen = claimed(&*store, "one").await;
    let moved = store.commit(by_person(&seen, vec![mark("person")])).await.expect("a change").stored;
    let answer = store.commit(by_owner(&seen, vec![mark("owner")])).await;
    assert!(matches!(answer, Err(CommitError::Conflict)), "{answer:?}");
    assert_eq!(moved.owner, seen.owner);
    advance(&*store, &moved, mark("owner, again")).await;
}

pub(crate) async fn a_claim_needs_the_epoch_and_another_worker(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = claimed(&*store, "one").await;
    let owner = task.owner.as_ref().expect("an owner").worker;
    for (epoch, lease) in [(0, lease()), (2, lease()), (1, lease_of(owner))] {
        let answer = store.claim(task.task.id, epoch, lease, now()).await;
        assert!(matches!(answer, Err(CommitError::Conflict)), "{answer:?}");
    }
    let inside = Change { claim: Some(lease()), ..by_person(&task, vec![mark("x")]) };
    let answer = store.commit(inside).await;
    assert!(matches!(answer, Err(CommitError::Conflict)), "{answer:?}");
    assert_eq!(reload(&*store, &task).await, task);
}

pub(crate) async fn a_claim_alone_may_ride_on_a_commit(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = submitted(&*store, "one").await;
    let change = Change { claim: Some(lease()), ..by_person(&task, Vec::new()) };
    let taken = store.commit(change).await.expect("a claim").stored;
    assert_eq!((taken.epoch, taken.task.version), (1, 2));
    assert!(taken.owner.is_some());
}

pub(crate) async fn the_lease_is_kept_while_there_is_work(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = claimed(&*store, "one").await;
    let waiting = Event::WaitStarted { why: Wait::Backoff, until: Some(Time(1)), span_ms: Some(1) };
    let waited = advance(&*store, &task, waiting).await;
    assert_eq!(waited.owner, task.owner);
    let again = advance(&*store, &waited, Event::WaitEnded).await;
    let working = advance(&*store, &again, started()).await;
    assert_eq!(working.owner, task.owner);
    let stopping = Event::StopAsked { mode: StopMode::Graceful, then: Then::Pause };
    let stopping = store.commit(by_person(&working, vec![stopping])).await.expect("a stop").stored;
    assert_eq!((&stopping.owner, stopping.epoch), (&task.owner, 1));
    assert_eq!(reload(&*store, &task).await, stopping);
}

pub(crate) async fn the_lease_is_given_up_with_the_work(harness: &dyn Harness) {
    let store = harness.open().await;
    let ends = [
        Event::Paused { why: None },
        Event::HelpNeeded { reason: HelpReason::NoProgress { sessions: 3 } },
        Event::Blocked { cause: Cause::Variable { name: "API_KEY".into() } },
        Event::Finished { verdict: Verdict::NoChecks },
        cancelled(),
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let task = claimed(&*store, &format!("task-{number}")).await;
        let after = advance(&*store, &task, end).await;
        assert_eq!((&after.owner, after.epoch), (&None, 1), "{}", after.task.state.name());
        assert_eq!(reload(&*store, &task).await, after);
        assert!(store.other_owners(worker_id()).await.expect("owners").is_empty());
        let late = Change { guard: by_owner(&task, Vec::new()).guard, ..by_person(&after, vec![mark("late")]) };
        let answer = store.commit(late).await;
        assert!(matches!(answer, Err(CommitError::Fenced)), "{answer:?}");
        let answer = store.claim(task.task.id, 1, lease(), now()).await;
        assert!(matches!(answer, Err(CommitError::Conflict)), "nothing to own: {answer:?}");
    }
    assert!(store.candidates().await.expect("candidates").is_empty());
}
