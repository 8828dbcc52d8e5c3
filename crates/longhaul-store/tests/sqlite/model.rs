//! The store against a small model in memory: random changes, refusals, reopenings and crashes, compared after every step.
//!
//! A crash is a copy of database and log as they lie on the disk between two answers, opened as another home.

use std::fs;
use std::sync::Arc;

use longhaul_core::ids::TaskId;
use longhaul_core::task::Event;
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Change, CommitError, Committed, Guard, Lease, NewLease, Store, Stored, WholeStore};
use proptest::prelude::*;
use tempfile::TempDir;

use super::conformance::sample::{by_person, cancelled, lease, mark, now, submission, submit, task_id};

#[derive(Debug, Clone, Copy)]
enum Step {
    Submit(usize),
    /// A front end's change, seen so many versions ago.
    Mark(usize, u64),
    /// The owner's change under its present or its former lease.
    OwnerMark(usize, Held),
    Claim(usize, u64),
    Pause(usize),
    Resume(usize),
    Cancel(usize),
    Reopen,
    Crash,
}

#[derive(Debug, Clone, Copy)]
enum Held {
    Now,
    Before,
}

/// What the model knows of one task.
#[derive(Debug, Clone)]
struct Expected {
    id: TaskId,
    version: u64,
    epoch: u64,
    state: &'static str,
    owner: Option<Lease>,
    former: Option<Lease>,
    kinds: Vec<&'static str>,
}

const SLOTS: usize = 3;

struct Machine {
    home: TempDir,
    store: Option<Arc<SqliteStore>>,
    tasks: [Option<Expected>; SLOTS],
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let slot = 0..SLOTS;
    let held = || prop_oneof![Just(Held::Now), Just(Held::Before)];
    let step = prop_oneof![
        3 => slot.clone().prop_map(Step::Submit),
        5 => (slot.clone(), 0..2_u64).prop_map(|(slot, ago)| Step::Mark(slot, ago)),
        4 => (slot.clone(), held()).prop_map(|(slot, held)| Step::OwnerMark(slot, held)),
        5 => (slot.clone(), 0..2_u64).prop_map(|(slot, ago)| Step::Claim(slot, ago)),
        2 => slot.clone().prop_map(Step::Pause),
        3 => slot.clone().prop_map(Step::Resume),
        1 => slot.prop_map(Step::Cancel),
        1 => Just(Step::Reopen),
        2 => Just(Step::Crash),
    ];
    proptest::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_the_model_does(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut machine = Machine::new();
            for step in steps {
                machine.take(step).await;
                machine.compare().await;
            }
        });
    }
}

/// The control: a crash that loses the log must be noticed.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_log_is_caught() {
    let verdict = tokio::spawn(async {
        let mut machine = Machine::new();
        machine.take(Step::Submit(0)).await;
        machine.reopen();
        machine.take(Step::Mark(0, 0)).await;
        machine.compare().await;
        machine.crash(&["longhaul.db", "doorbell"]);
        machine.compare().await;
    });
    assert!(verdict.await.is_err_and(|end| end.is_panic()));
}

/// A refusal's kind, or nothing.
type Verdict = Result<(), &'static str>;

fn verdict(answer: &Result<Committed, CommitError>) -> Verdict {
    match answer {
        Ok(_) => Ok(()),
        Err(CommitError::Conflict) => Err("conflict"),
        Err(CommitError::Fenced) => Err("fenced"),
        Err(CommitError::Illegal(_)) => Err("illegal"),
        Err(other) => panic!("unexpected: {other}"),
    }
}

impl Expected {
    fn wants_owner(&self) -> bool {
        matches!(self.state, "queued" | "preparing")
    }

    /// Moves on by one event.
    fn then(&mut self, kind: &'static str, state: &'static str) {
        self.version += 1;
        self.kinds.push(kind);
        self.state = state;
        if !self.wants_owner() {
            self.former = self.owner.take().or(self.former);
        }
    }

    fn taken(&mut self, lease: &NewLease) {
        self.epoch += 1;
        self.former = self.owner.or(self.former);
        self.owner = Some(Lease { epoch: self.epoch, id: lease.id });
        self.then("claimed", "preparing");
    }

    fn lease(&self, held: Held) -> Option<Lease> {
        match held {
            Held::Now => self.owner,
            Held::Before => self.former,
        }
    }
}

impl Machine {
    fn new() -> Machine {
        let home = tempfile::tempdir().expect("a home");
        let store = Some(Arc::new(SqliteStore::open(home.path()).expect("a store")));
        Machine { home, store, tasks: [const { None }; SLOTS] }
    }

    fn store(&self) -> Arc<SqliteStore> {
        Arc::clone(self.store.as_ref().expect("an open store"))
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Submit(slot) => self.submit(slot).await,
            Step::Mark(slot, ago) => {
                self.change(slot, ago, mark("x"), |task| {
                    if task.state == "cancelled" { Err("illegal") } else { Ok(("forced", task.state)) }
                })
                .await;
            }
            Step::Pause(slot) => {
                self.change(slot, 0, Event::Paused { why: None }, |task| {
                    if task.wants_owner() { Ok(("paused", "paused")) } else { Err("illegal") }
                })
                .await;
            }
            Step::Resume(slot) => {
                self.change(slot, 0, Event::Resumed { reason: None }, |task| {
                    if task.state == "paused" { Ok(("resumed", "queued")) } else { Err("illegal") }
                })
                .await;
            }
            Step::Cancel(slot) => {
                self.change(slot, 0, cancelled(), |task| {
                    if task.state == "cancelled" { Err("illegal") } else { Ok(("cancelled", "cancelled")) }
                })
                .await;
            }
            Step::OwnerMark(slot, held) => self.owner_mark(slot, held).await,
            Step::Claim(slot, ago) => self.claim(slot, ago).await,
            Step::Reopen => self.reopen(),
            Step::Crash => self.crash(&["longhaul.db", "longhaul.db-wal", "doorbell"]),
        }
    }

    async fn submit(&mut self, slot: usize) {
        let id = self.tasks[slot].as_ref().map_or_else(task_id, |task| task.id);
        let answer = self.store().commit(submit(id, submission(&format!("slot-{slot}")))).await.expect("a submission");
        assert_eq!(answer.repeated, self.tasks[slot].is_some());
        self.tasks[slot].get_or_insert_with(|| Expected {
            id,
            version: 1,
            epoch: 0,
            state: "queued",
            owner: None,
            former: None,
            kinds: vec!["submitted"],
        });
    }

    async fn change(
        &mut self,
        slot: usize,
        ago: u64,
        event: Event,
        expect: impl Fn(&Expected) -> Result<(&'static str, &'static str), &'static str>,
    ) {
        let store = self.store();
        let Some(task) = &mut self.tasks[slot] else { return };
        let expected = if ago > 0 { Err("conflict") } else { expect(task) };
        let seen = store.load(task.id).await.expect("a readable store").expect("the task");
        let guard = Guard::Version(task.version - ago.min(task.version));
        let answer = store.commit(Change { guard, ..by_person(&seen, vec![event]) }).await;
        assert_eq!(verdict(&answer), expected.map(drop));
        if let Ok((kind, state)) = expected {
            task.then(kind, state);
        }
    }

    async fn owner_mark(&mut self, slot: usize, held: Held) {
        let store = self.store();
        let Some(task) = &mut self.tasks[slot] else { return };
        let Some(lease) = task.lease(held) else { return };
        let seen = store.load(task.id).await.expect("a readable store").expect("the task");
        let guard = Guard::Owner { version: task.version, lease };
        let answer = store.commit(Change { guard, ..by_person(&seen, vec![mark("x")]) }).await;
        let fenced = task.owner != Some(lease);
        assert_eq!(verdict(&answer), if fenced { Err("fenced") } else { Ok(()) });
        if !fenced {
            task.then("forced", task.state);
        }
    }

    async fn claim(&mut self, slot: usize, ago: u64) {
        let store = self.store();
        let Some(task) = &mut self.tasks[slot] else { return };
        let lease = lease();
        let answer = store.claim(task.id, task.epoch + ago, lease.clone(), now()).await;
        let expected = if ago == 0 && task.wants_owner() { Ok(()) } else { Err("conflict") };
        assert_eq!(verdict(&answer), expected);
        if expected.is_ok() {
            task.taken(&lease);
        }
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(Arc::new(SqliteStore::open(self.home.path()).expect("a store")));
    }

    fn crash(&mut self, surviving: &[&str]) {
        let after = tempfile::tempdir().expect("a home");
        for name in surviving {
            let from = self.home.path().join(name);
            if from.exists() {
                fs::copy(from, after.path().join(name)).expect("a copy");
            }
        }
        self.store = None;
        self.home = after;
        self.reopen();
    }

    async fn compare(&self) {
        let store = self.store();
        for expected in self.tasks.iter().flatten() {
            let stored: Stored = store.load(expected.id).await.expect("a readable store").expect("the task");
            assert_eq!(stored.task.version, expected.version);
            assert_eq!((stored.task.state.name(), stored.epoch), (expected.state, expected.epoch));
            assert_eq!(stored.owner.map(|owner| owner.lease), expected.owner);
            let events = store.events(expected.id, 0, u32::MAX).await.expect("events");
            assert_eq!(events.iter().map(|event| event.event.kind()).collect::<Vec<_>>(), expected.kinds);
        }
        assert_eq!(store.check().await.expect("a check"), []);
    }
}
