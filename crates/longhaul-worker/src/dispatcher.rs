//! The hub of one owned task: decide, commit, due, start effects. Everything that the owner changes about a task is committed here.
//!
//! Everything that arrives is handled one after the other; effects run beside it and answer with inputs. When the lease is lost the
//! hub stops its effects and writes nothing more; the sessions themselves are never touched by that.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use longhaul_core::causes::with_causes;
use longhaul_core::ids::SessionId;
use longhaul_core::task::{Actor, Checkout, Command, Effect, Input, Observation, StopMode, due};
use longhaul_keeper::{Environment, fail_point};
use longhaul_store::{CommitError, Guard, Lease, StoreError, Stored};
use tokio::sync::{Notify, mpsc};
use tokio::task::{AbortHandle, JoinError, JoinSet};

use crate::effects::{self, Job, Message, Outcome};
use crate::worker::Context;
use longhaul_app::{ChangeError, Terms, checkouts, commit_input, now};

/// How long a hub waits before it tries again what the store refused for now.
const TRY_AGAIN: Duration = Duration::from_millis(250);

/// Why a hub stopped.
#[derive(Debug)]
pub(crate) enum HubExit {
    /// The task no longer wants an owner, or has another one.
    NotOurs,
    /// The task waits for its turn to start a session. It is still ours; `InLine` has what the next hub needs.
    InLine(InLine),
    /// An effect died of a bug. The task is still ours and is claimed anew, which recovers it like after a crash.
    Broken(String),
    /// The store failed: nothing more may be acknowledged.
    Store(StoreError),
}

/// What a task keeps while it waits in line without a hub.
#[derive(Debug)]
pub(crate) struct InLine {
    /// The version that its hub knew.
    pub(crate) version: u64,
    /// The clean checkout of the round that was open then.
    checkout: Option<Checkout>,
}

/// Makes a hub load its task again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waker {
    news: Arc<Notify>,
    /// The version that the hub knows.
    version: Arc<AtomicU64>,
}

impl Waker {
    /// Wakes the hub for this version of its task, unless it knows that.
    pub(crate) fn wake_for(&self, version: u64) {
        if self.version.load(Ordering::Relaxed) != version {
            self.wake();
        }
    }

    /// Makes the hub load its task, whatever version it knows.
    pub(crate) fn wake(&self) {
        self.news.notify_one();
    }
}

/// The hub of one task.
pub(crate) struct Hub {
    context: Arc<Context>,
    lease: Lease,
    environment: Environment,
    stored: Stored,
    /// The session whose start this process committed and has not spawned yet.
    fresh: Option<SessionId>,
    /// The clean checkout of the round that is open.
    checkout: Option<Checkout>,
    started: HashMap<Effect, AbortHandle>,
    running: JoinSet<Outcome>,
    answers: mpsc::Sender<Box<Message>>,
    arrived: mpsc::Receiver<Box<Message>>,
    waker: Waker,
}

impl Hub {
    /// A hub for a task whose lease was just taken.
    pub(crate) fn new(context: Arc<Context>, stored: Stored, lease: Lease, waker: Waker) -> Hub {
        let (answers, arrived) = mpsc::channel(16);
        let checkout = stored.task.checkout().cloned();
        waker.version.store(stored.task.version, Ordering::Relaxed);
        Hub {
            environment: context.environments.of(lease.id),
            context,
            lease,
            stored,
            fresh: None,
            checkout,
            started: HashMap::new(),
            running: JoinSet::new(),
            answers,
            arrived,
            waker,
        }
    }

    /// The next hub of a task that was in line.
    pub(crate) fn after(self, line: InLine) -> Hub {
        Hub { checkout: line.checkout, ..self }
    }

    /// Runs until the task needs no owner, has another one, or waits for its turn.
    pub(crate) async fn run(mut self) -> HubExit {
        let left = loop {
            self.leave_checkout().await;
            if !self.stored.task.state.wants_owner() {
                break HubExit::NotOurs;
            }
            if self.is_for_its_runner() {
                let paused = self.offer(Command::Pause { mode: StopMode::Graceful }.into(), &Actor::worker()).await;
                break paused.err().unwrap_or(HubExit::NotOurs);
            }
            self.start_what_is_due();
            let next = tokio::select! {
                Some(message) = self.arrived.recv() => self.take(*message).await,
                () = self.waker.news.notified() => self.reload().await,
                Some(ended) = self.running.join_next() => self.ended(ended),
            };
            if let Err(left) = next {
                break left;
            }
        };
        // Waited for, so that no spawn of this hub can come after the next one has started.
        self.running.shutdown().await;
        left
    }

    /// Removes the clean checkout of a round that is over. What a kill leaves is removed before the next round, or by `gc`.
    async fn leave_checkout(&mut self) {
        let now = self.stored.task.checkout();
        let is_stopping = now.is_none() && self.stored.task.state.session().is_some();
        if is_stopping || self.checkout.as_ref() == now {
            return;
        }
        let over = std::mem::replace(&mut self.checkout, now.cloned());
        let Some(over) = over else { return };
        fail_point::reach("worker.checkout_over");
        let (home, project) = (self.context.home.clone(), self.stored.task.submission.project.clone());
        let remove = move || checkouts::remove(&home, Path::new(&over.root), Some(Path::new(&project)));
        if let Ok(Err(error)) = tokio::task::spawn_blocking(remove).await {
            let why = with_causes(&error);
            self.context.report(&format!("task {}: cannot remove its checkout: {why}", self.stored.task.id));
        }
    }

    /// A worker only ends a runner's session that was told to stop; what comes after it is an invocation's.
    fn is_for_its_runner(&self) -> bool {
        let over = self.stored.task.state.session().is_none();
        over && self.context.watcher.is_none() && !self.stored.task.submission.driver.conduct().any_worker
    }

    fn start_what_is_due(&mut self) {
        let wanted = due(&self.stored.task);
        self.started.retain(|effect, handle| {
            let keep = wanted.contains(effect);
            if !keep {
                handle.abort();
            }
            keep
        });
        for effect in wanted {
            if !self.started.contains_key(&effect) {
                let running = self.running.spawn(effects::carry_out(self.job(effect)));
                self.started.insert(effect, running);
            }
        }
    }

    fn job(&self, effect: Effect) -> Job {
        Job {
            context: Arc::clone(&self.context),
            task: Arc::new(self.stored.task.clone()),
            epoch: self.lease.epoch,
            environment: self.environment.clone(),
            effect,
            fresh: self.fresh,
            answers: self.answers.clone(),
        }
    }

    /// Effects end by themselves or because they were aborted; anything else is a bug of ours.
    fn ended(&mut self, ended: Result<Outcome, JoinError>) -> Result<(), HubExit> {
        match ended {
            // If the task has moved on since, this is about a wait that is over.
            Ok(Outcome::InLine) if due(&self.stored.task) == [Effect::Prepare] => {
                Err(HubExit::InLine(InLine { version: self.stored.task.version, checkout: self.checkout.take() }))
            }
            Err(error) if error.is_panic() => Err(HubExit::Broken(error.to_string())),
            Ok(Outcome::InLine | Outcome::Over) | Err(_) => Ok(()),
        }
    }

    async fn take(&mut self, message: Message) -> Result<(), HubExit> {
        let outcome = self.offer(message.seen.into(), &message.actor).await;
        if message.effect.answers_once() {
            self.started.remove(&message.effect);
        }
        message.committed.send(()).ok();
        outcome
    }

    /// Decides and commits. No observation is dropped: what the store refuses for now is tried again.
    async fn offer(&mut self, mut input: Input, actor: &Actor) -> Result<(), HubExit> {
        let mut actor = actor.clone();
        loop {
            match self.commit(&input, &actor).await {
                Ok(()) => return Ok(()),
                Err(ChangeError::NotFound) => return Err(HubExit::NotOurs),
                Err(ChangeError::Refused(refusal)) => {
                    self.report(&refusal);
                    return Ok(());
                }
                // Another task took the slot or the directory meanwhile: the effect starts again and waits for the next turn.
                Err(ChangeError::Commit(CommitError::SessionCap { .. } | CommitError::DirectoryTaken { .. })) => {
                    return Ok(());
                }
                Err(ChangeError::Commit(CommitError::FamilyLimit { reached })) => {
                    (input, actor) = (Observation::FamilyLimit { reached }.into(), Actor::worker());
                }
                Err(ChangeError::Commit(error)) => self.survive(error).await?,
            }
        }
    }

    async fn commit(&mut self, input: &Input, actor: &Actor) -> Result<(), ChangeError> {
        let (lease, home) = (self.lease, &self.context.home);
        let terms = |stored: &Stored| {
            // An invocation of the runner is one session in its own terminal, and a person waits for it.
            let takes_turns = stored.task.submission.driver.conduct().takes_turns;
            let session_cap = takes_turns.then(|| home.session_cap());
            let guard = Guard::Owner { version: stored.task.version, lease };
            owned_by(lease, stored).then_some(Terms { session_cap, ..guard.into() })
        };
        let before = self.session();
        let committed = commit_input(&*self.context.store, now, &mut self.stored, input, actor, terms).await;
        self.waker.version.store(self.stored.task.version, Ordering::Relaxed);
        let events = committed?;
        if events.is_empty() {
            return Ok(());
        }
        // Here and not in the effect: an effect that is no longer due is aborted as soon as this is known.
        committed_points(input);
        // Only this hub starts sessions of its task.
        if before != self.session() {
            self.fresh = self.session();
        }
        if let Some(watcher) = &self.context.watcher {
            watcher.committed(&events, &self.stored.task);
        }
        Ok(())
    }

    fn session(&self) -> Option<SessionId> {
        self.stored.task.state.session().map(|session| session.id)
    }

    async fn survive(&self, error: CommitError) -> Result<(), HubExit> {
        let CommitError::Store(error) = error else {
            if !matches!(error, CommitError::Fenced | CommitError::NotFound) {
                self.report(&error);
            }
            return Err(HubExit::NotOurs);
        };
        if !error.is_transient() {
            return Err(HubExit::Store(error));
        }
        // The session continues: its keeper writes its own files and waits for space itself.
        self.report(&format!("{error}; trying again"));
        tokio::time::sleep(TRY_AGAIN).await;
        Ok(())
    }

    fn report(&self, what: &dyn Display) {
        self.context.report_from(&self.environment, &format!("task {}: {what}", self.stored.task.id));
    }

    async fn reload(&mut self) -> Result<(), HubExit> {
        let stored = match self.context.store.load(self.stored.task.id).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return Err(HubExit::NotOurs),
            Err(error) if error.is_transient() => return Ok(()),
            Err(error) => return Err(HubExit::Store(error)),
        };
        if !owned_by(self.lease, &stored) {
            return Err(HubExit::NotOurs);
        }
        self.waker.version.store(stored.task.version, Ordering::Relaxed);
        self.stored = stored;
        Ok(())
    }
}

fn owned_by(lease: Lease, stored: &Stored) -> bool {
    stored.owner.as_ref().is_some_and(|owner| owner.lease == lease)
}

/// Where a test may kill this process after a commit.
fn committed_points(input: &Input) {
    let Input::Observation(seen) = input else { return };
    if matches!(**seen, Observation::SessionEnded { .. }) {
        fail_point::reach("worker.end_committed");
    } else if matches!(**seen, Observation::Placed { .. }) {
        fail_point::reach("worker.place_committed");
    }
}
