//! The hub of one owned task: load, decide, commit, apply, due, start effects. The only place that moves a supervised task.
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
use longhaul_core::task::{Actor, Checkout, Command, Effect, Input, Observation, StopMode, Task, decide, due};
use longhaul_keeper::fail_point;
use longhaul_store::{Change, CommitError, Guard, Lease, StoreError};
use tokio::sync::{Notify, mpsc};
use tokio::task::{AbortHandle, JoinError, JoinSet};

use crate::effects::{self, Job, Message, Outcome};
use crate::worker::Context;
use longhaul_app::checkouts;
use longhaul_app::now;
use longhaul_keeper::Environment;

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
    task: Task,
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
    pub(crate) fn new(context: Arc<Context>, task: Task, lease: Lease, waker: Waker) -> Hub {
        let (answers, arrived) = mpsc::channel(16);
        let task_checkout = task.checkout().cloned();
        waker.version.store(task.version, Ordering::Relaxed);
        Hub {
            environment: context.environments.of(lease.id),
            context,
            lease,
            task,
            fresh: None,
            checkout: task_checkout,
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
            if !self.task.state.wants_owner() {
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
        let now = self.task.checkout();
        let is_stopping = now.is_none() && self.task.state.session().is_some();
        if is_stopping || self.checkout.as_ref() == now {
            return;
        }
        let over = std::mem::replace(&mut self.checkout, now.cloned());
        let Some(over) = over else { return };
        fail_point::reach("worker.checkout_over");
        let (home, project) = (self.context.home.clone(), self.task.submission.project.clone());
        let remove = move || checkouts::remove(&home, Path::new(&over.root), Some(Path::new(&project)));
        if let Ok(Err(error)) = tokio::task::spawn_blocking(remove).await {
            let why = with_causes(&error);
            self.context.report(&format!("task {}: cannot remove its checkout: {why}", self.task.id));
        }
    }

    /// A worker only ends a runner's session that was told to stop; what comes after it is an invocation's.
    fn is_for_its_runner(&self) -> bool {
        let over = self.task.state.session().is_none();
        over && self.context.watcher.is_none() && !self.task.submission.driver.conduct().any_worker
    }

    fn start_what_is_due(&mut self) {
        let wanted = due(&self.task);
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
            task: Arc::new(self.task.clone()),
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
            Ok(Outcome::InLine) if due(&self.task) == [Effect::Prepare] => {
                Err(HubExit::InLine(InLine { version: self.task.version, checkout: self.checkout.take() }))
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

    /// Decides and commits; on conflict reloads and decides again, so that no observation is dropped.
    async fn offer(&mut self, mut input: Input, actor: &Actor) -> Result<(), HubExit> {
        let mut actor = actor.clone();
        loop {
            let at = now();
            let events = match decide(&self.task, &input, &actor, at) {
                Ok(events) => events,
                Err(refusal) => {
                    self.report(&refusal);
                    return Ok(());
                }
            };
            if events.is_empty() {
                return Ok(());
            }
            let change = Change {
                task: self.task.id,
                guard: Guard::Owner { version: self.task.version, lease: self.lease },
                events: events.clone(),
                actor: actor.clone(),
                at,
                key: None,
                claim: None,
                session_cap: self.session_cap(),
            };
            match self.context.store.commit(change).await {
                Ok(committed) => {
                    // Here and not in the effect: an effect that is no longer due is aborted as soon as this is known.
                    committed_points(&input);
                    self.moved(committed.stored.task);
                    if let Some(watcher) = &self.context.watcher {
                        watcher.committed(&events, &self.task);
                    }
                    return Ok(());
                }
                Err(CommitError::Conflict) => self.reload().await?,
                // Another task took the slot or the directory meanwhile: the effect starts again and waits for the next turn.
                Err(CommitError::SessionCap { .. } | CommitError::DirectoryTaken { .. }) => return Ok(()),
                Err(CommitError::FamilyLimit { reached }) => {
                    (input, actor) = (Observation::FamilyLimit { reached }.into(), Actor::worker());
                }
                Err(error) => self.survive(error).await?,
            }
        }
    }

    /// An invocation of the runner is one session in a terminal of its own, which somebody waits for.
    fn session_cap(&self) -> Option<u32> {
        self.task.submission.driver.conduct().takes_turns.then(|| self.context.home.session_cap())
    }

    async fn survive(&self, error: CommitError) -> Result<(), HubExit> {
        match error {
            // The session goes on meanwhile: its keeper writes its own files, and waits for room of its own.
            CommitError::Store(error) if error.is_transient() => {
                self.report(&format!("{error}; trying again"));
                tokio::time::sleep(TRY_AGAIN).await;
                Ok(())
            }
            CommitError::Store(error) => Err(HubExit::Store(error)),
            CommitError::Fenced | CommitError::NotFound => Err(HubExit::NotOurs),
            other @ (CommitError::Conflict
            | CommitError::NameTaken { .. }
            | CommitError::SessionCap { .. }
            | CommitError::DirectoryTaken { .. }
            | CommitError::FamilyLimit { .. }
            | CommitError::TooManyChildren { .. }
            | CommitError::TooDeep { .. }
            | CommitError::KeyReused
            | CommitError::Illegal(_)) => {
                self.report(&other);
                Err(HubExit::NotOurs)
            }
        }
    }

    fn moved(&mut self, task: Task) {
        let before = self.task.state.session().map(|session| session.id);
        let after = task.state.session().map(|session| session.id);
        if before != after {
            self.fresh = after;
        }
        self.is_now(task);
    }

    fn is_now(&mut self, task: Task) {
        self.waker.version.store(task.version, Ordering::Relaxed);
        self.task = task;
    }

    fn report(&self, what: &dyn Display) {
        self.context.report_from(&self.environment, &format!("task {}: {what}", self.task.id));
    }

    async fn reload(&mut self) -> Result<(), HubExit> {
        let stored = match self.context.store.load(self.task.id).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return Err(HubExit::NotOurs),
            Err(error) if error.is_transient() => return Ok(()),
            Err(error) => return Err(HubExit::Store(error)),
        };
        if stored.owner.as_ref().map(|owner| owner.lease) != Some(self.lease) {
            return Err(HubExit::NotOurs);
        }
        self.is_now(stored.task);
        Ok(())
    }
}

/// Where a test may kill this process after a commit.
fn committed_points(input: &Input) {
    let Input::Observation(seen) = input else { return };
    match **seen {
        Observation::SessionEnded { .. } => fail_point::reach("worker.end_committed"),
        Observation::Placed { .. } => fail_point::reach("worker.place_committed"),
        Observation::Prepared { .. }
        | Observation::CannotPrepare { .. }
        | Observation::AccountsLimited { .. }
        | Observation::FamilyLimit { .. }
        | Observation::PlanRestored
        | Observation::Woke
        | Observation::OtherEnded { .. }
        | Observation::SessionRead { .. } => {}
    }
}
