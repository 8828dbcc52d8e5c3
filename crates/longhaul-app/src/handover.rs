//! What a front end hands to a worker: one JSON line in, one JSON line back. Nothing of a goal is ever in argv.
//!
//! The worker commits the input together with its claim, so that a task never exists without someone who acts on it. A worker of this
//! home that lives takes it on its socket (`offer`; the other side is the worker's `reception`); one that is started for it, on its standard input.

mod deliver;
mod offer;

use longhaul_agents::UnknownAgent;
use longhaul_core::causes::with_causes;
use longhaul_core::ids::TaskId;
use longhaul_core::names::{self, BadName, TaskName};
use longhaul_core::task::{Actor, Command, Refusal, Submission, submit};
use longhaul_store::{CommitError, Committed, Key, NewLease, Store, Tenant, WholeStore};
use serde::{Deserialize, Serialize};

pub(crate) use deliver::deliver;
pub use offer::{Greeting, Offer, is_attended, offer, sockets};

use crate::app::Call;
use crate::change::{ChangeError, change};
use crate::child::NoChild;
use crate::clock::Clock;
use crate::error::AppError;
use crate::home::Home;
use crate::intake::{agents, commit_submission, complete};
use crate::text;
use longhaul_keeper::{Environment, random};

/// What is handed over.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handover {
    /// A new task.
    Submit(Box<Request>),
    /// A command on a task that nobody owns.
    Command {
        /// Which task.
        task: TaskId,
        /// What to do.
        command: Box<Command>,
        /// Who asked.
        actor: Actor,
        /// Whose the task is.
        tenant: Tenant,
        /// What makes a repeat harmless: the caller's idempotency key, or one of this request alone.
        key: Key,
    },
}

impl Handover {
    /// Whether a worker committed it, answered or not.
    pub async fn is_committed(&self, store: &dyn Store) -> Result<bool, CommitError> {
        Ok(match self {
            Handover::Submit(request) => store.load(request.id).await?.is_some(),
            Handover::Command { actor, key, .. } => store.repeat_of(key, actor).await?.is_some(),
        })
    }
}

/// A submission as the front end knows it; the worker completes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// Minted by the front end: also the idempotency key.
    pub id: TaskId,
    /// The name asked for; none generates one.
    pub name: Option<String>,
    /// Everything else; its name is provisional.
    pub submission: Submission,
    /// Who asked.
    pub actor: Actor,
    /// Whose the task will be.
    pub tenant: Tenant,
    /// The caller's idempotency key.
    pub key: Option<Key>,
}

/// The worker's one line back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is durable.
    Accepted {
        /// Which task.
        task: TaskId,
        /// What the person should know.
        warnings: Vec<String>,
        /// The same request was carried out before under its key; nothing was written now.
        repeated: bool,
    },
    /// Nothing was written.
    Refused {
        /// Which kind of no.
        kind: RefusalKind,
        /// Why.
        message: String,
    },
}

/// Which kind of no a hand-over met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The input makes no sense.
    Usage,
    /// The task's state or scope does not allow it.
    Refused,
    /// A name is taken.
    Conflict,
    /// There is no such task.
    NotFound,
    /// The store failed.
    Store,
}

/// Why a hand-over was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Declined {
    /// The name cannot be used.
    #[error("{0}; {rule}", rule = names::RULE)]
    Name(#[from] BadName),
    /// The agent does not exist.
    #[error(transparent)]
    Agent(#[from] UnknownAgent),
    /// The task directory belongs to something else.
    #[error("{path} already exists: choose another --name, or move that directory away")]
    DirectoryExists {
        /// Where it is.
        path: String,
    },
    /// The submission contains a secret of the environment.
    #[error("the {what} contains a secret value from this shell's environment: choose another one")]
    Secret {
        /// Where in the submission.
        what: &'static str,
    },
    /// The parent may have no such child.
    #[error(transparent)]
    Child(#[from] NoChild),
    /// The commit failed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// What a hand-over came to.
#[derive(Debug)]
pub struct Taken {
    /// What was committed.
    pub committed: Committed,
    /// What the person should know.
    pub(crate) warnings: Vec<String>,
}

impl Declined {
    fn kind(&self) -> RefusalKind {
        match self {
            Declined::Name(_)
            | Declined::Agent(_)
            | Declined::Secret { .. }
            | Declined::Child(NoChild::StrangeCheck { .. })
            | Declined::Change(ChangeError::Refused(
                Refusal::BadGoal { .. } | Refusal::BadInput { .. } | Refusal::ReasonMissing,
            )) => RefusalKind::Usage,
            Declined::DirectoryExists { .. }
            | Declined::Change(ChangeError::Commit(
                CommitError::NameTaken { .. } | CommitError::FollowedUp { .. } | CommitError::KeyReused,
            )) => RefusalKind::Conflict,
            Declined::Child(_) | Declined::Change(ChangeError::Refused(_)) => RefusalKind::Refused,
            Declined::Change(ChangeError::NotFound) => RefusalKind::NotFound,
            Declined::Change(ChangeError::Commit(_)) => RefusalKind::Store,
        }
    }
}

impl Handover {
    /// Commits what was handed over, together with the claim of the worker that took it. The task's programs will run in this environment.
    pub async fn commit(
        self,
        store: &dyn WholeStore,
        home: &Home,
        environment: &Environment,
        lease: NewLease,
        clock: Clock,
    ) -> Result<Taken, Declined> {
        match self {
            Handover::Submit(request) => {
                let store = store.of_tenant(&request.tenant);
                commit_submission(&*store, home, *request, environment, Some(lease), clock()).await
            }
            Handover::Command { task, command, actor, tenant, key } => {
                let store = store.of_tenant(&tenant);
                let committed = change(&*store, clock, task, *command, &actor, Some(key), Some(lease)).await?;
                Ok(Taken { committed, warnings: Vec::new() })
            }
        }
    }
}

impl From<Result<Taken, Declined>> for Answer {
    fn from(done: Result<Taken, Declined>) -> Self {
        match done {
            Ok(Taken { committed: Committed { stored, repeated }, warnings }) => {
                Answer::Accepted { task: stored.task.id, warnings, repeated }
            }
            Err(declined) => Answer::Refused { kind: declined.kind(), message: with_causes(&declined) },
        }
    }
}

impl From<Declined> for AppError {
    fn from(declined: Declined) -> AppError {
        AppError::new(declined.kind().into(), text::safe(&with_causes(&declined)))
    }
}

impl Request {
    /// A new request for a task, without a key.
    pub fn new(call: &Call, name: Option<String>, submission: Submission) -> Request {
        let (actor, tenant) = (call.caller.actor.clone(), call.caller.tenant.clone());
        Request { id: TaskId::mint(call.now(), random()), name, submission, actor, tenant, key: None }
    }

    /// Refuses before anything is created what any worker would refuse.
    pub(crate) fn check(&self, environment: &Environment) -> Result<(), Declined> {
        let agents = agents(&self.submission)?;
        let name = TaskName::new(self.name.as_deref().unwrap_or("generated"))?;
        submit(&complete(self, self.submission.goal.clone(), name, &agents, environment)).map_err(ChangeError::from)?;
        Ok(())
    }

    /// Commits the submission without a claim: below an agent session, where the parent's owner takes it.
    pub(crate) async fn commit_unclaimed(self, call: &Call) -> Result<Taken, AppError> {
        let environment = &call.app.system.environment;
        Ok(commit_submission(call.store()?, call.home(), self, environment, None, call.now()).await?)
    }
}
