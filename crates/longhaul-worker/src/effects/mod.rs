//! Carrying out what is due: one file per effect. Started by the dispatcher.
//!
//! Effects never write state; they send observations and wait until those are committed. Each is idempotent and may be started again
//! by another worker at any time.

mod account;
mod attend_session;
mod await_task;
mod check_output;
mod keep_work;
mod keeper_death;
mod land;
mod preflight;
mod prepare_workspace;
mod probe;
pub(crate) mod program;
mod pull_request;
mod read_output;
mod session_end;
mod session_server;
mod sleep_inhibitor;
mod start_session;
mod stop_session;
mod transcript;
mod wake;

use std::sync::Arc;

use longhaul_core::ids::SessionId;
use longhaul_core::task::{Actor, Cause, Effect, Observation, Task};
use tokio::sync::{mpsc, oneshot};

pub(crate) use sleep_inhibitor::Awake;
pub(crate) use transcript::OwnConversations;

use crate::worker::Context;
use longhaul_app::TaskDir;
use longhaul_keeper::Environment;

/// An observation on its way to the hub.
pub(crate) struct Message {
    pub(crate) effect: Effect,
    pub(crate) seen: Observation,
    pub(crate) actor: Actor,
    pub(crate) committed: oneshot::Sender<()>,
}

/// How an effect ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It has done what was due.
    Over,
    /// The task has to wait for its turn, which needs no hub.
    InLine,
}

/// What every effect gets: the task as it was when the effect became due, and a way to answer.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) context: Arc<Context>,
    pub(crate) task: Arc<Task>,
    pub(crate) epoch: u64,
    /// What its programs run with.
    pub(crate) environment: Environment,
    pub(crate) effect: Effect,
    /// The session whose start this very process committed and has not spawned yet.
    pub(crate) fresh: Option<SessionId>,
    /// A channel has room for 32 messages from its first one on, so they are boxed.
    pub(crate) answers: mpsc::Sender<Box<Message>>,
}

impl Job {
    /// The task's directory in its workspace, made if it is missing.
    fn task_dir(&self) -> Result<TaskDir, Cause> {
        TaskDir::open(&self.task, self.environment.clone())
    }

    /// Writes to the worker's log, without secret values.
    fn report(&self, message: &str) {
        self.context.report_from(&self.environment, message);
    }

    /// Sends an observation and waits until it is committed. When the hub is gone the effect is pointless and ends with it.
    async fn answer(&self, seen: Observation, actor: Actor) {
        let (committed, done) = oneshot::channel();
        let message = Message { effect: self.effect, seen, actor, committed };
        if self.answers.send(Box::new(message)).await.is_ok() {
            done.await.ok();
        }
    }
}

/// Carries out one effect.
pub(crate) async fn carry_out(job: Job) -> Outcome {
    match job.effect {
        Effect::Land => land::land(job).await,
        Effect::Prepare => return prepare_workspace::prepare(job).await,
        Effect::Attend(session) => attend_session::attend(job, session).await,
        Effect::Stop(session, mode) => stop_session::stop(job, session, mode).await,
        Effect::Wake(alarm) => wake::wake(job, alarm).await,
        Effect::Await(other) => await_task::await_end(job, other).await,
        Effect::Probe => probe::probe(job).await,
    }
    Outcome::Over
}
