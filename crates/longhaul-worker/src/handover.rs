//! What a front end hands to the worker it starts: one JSON line in, one JSON line back. Nothing of a goal is ever in argv.
//!
//! The worker commits the input together with its claim, so that a task never exists without someone who acts on it.

use longhaul_agents::UnknownAgent;
use longhaul_core::causes::with_causes;
use longhaul_core::ids::TaskId;
use longhaul_core::names::{self, BadName, TaskName};
use longhaul_core::task::{Actor, Command, Refusal, Submission, submit};
use longhaul_store::{CommitError, Key, NewLease, Store};
use serde::{Deserialize, Serialize};

use crate::change::{ChangeError, change};
use crate::clock::mint_lease;
use crate::home::Home;
use crate::intake::{agents, commit_submission, complete};
use crate::worker::Context;

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
        command: Command,
        /// Who asked.
        actor: Actor,
        /// The caller's idempotency key.
        key: String,
    },
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
}

/// The worker's one line back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is durable.
    Accepted {
        /// Which task.
        task: TaskId,
        /// Its name.
        name: String,
        /// What the person should know.
        warnings: Vec<String>,
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
pub(crate) enum Declined {
    #[error("{0}; {rule}", rule = names::RULE)]
    Name(#[from] BadName),
    #[error(transparent)]
    Agent(#[from] UnknownAgent),
    #[error("{path} exists already: choose another --name, or move that directory away")]
    DirectoryExists { path: String },
    #[error("the {what} contains a secret value of this shell's environment: choose another one")]
    Secret { what: &'static str },
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl Declined {
    fn kind(&self) -> RefusalKind {
        match self {
            Declined::Name(_)
            | Declined::Agent(_)
            | Declined::Secret { .. }
            | Declined::Change(ChangeError::Refused(
                Refusal::BadGoal { .. } | Refusal::BadInput { .. } | Refusal::ReasonMissing,
            )) => RefusalKind::Usage,
            Declined::DirectoryExists { .. } | Declined::Change(ChangeError::Commit(CommitError::NameTaken { .. })) => {
                RefusalKind::Conflict
            }
            Declined::Change(ChangeError::Refused(_)) => RefusalKind::Refused,
            Declined::Change(ChangeError::NotFound) => RefusalKind::NotFound,
            Declined::Change(ChangeError::Commit(_)) => RefusalKind::Store,
        }
    }
}

impl Handover {
    /// Commits what was handed over, together with this worker's claim.
    pub(crate) async fn commit(self, context: &Context) -> Answer {
        let store = &*context.store;
        let lease = NewLease { id: mint_lease(), worker: context.worker, host: context.host.clone() };
        let done = match self {
            Handover::Submit(request) => commit_submission(store, &context.home, *request, Some(lease)).await,
            Handover::Command { task, command, actor, key } => {
                let changed = change(store, task, command, &actor, Some(Key(key)), Some(lease)).await;
                changed.map(|changed| (changed.stored.task, Vec::new())).map_err(Declined::from)
            }
        };
        match done {
            Ok((task, warnings)) => {
                Answer::Accepted { task: task.id, name: task.submission.name.to_string(), warnings }
            }
            Err(declined) => Answer::Refused { kind: declined.kind(), message: with_causes(&declined) },
        }
    }
}

impl Request {
    /// The refusal that any worker would answer with, told before anything is made; none when the request makes sense.
    pub fn refusal(&self) -> Option<Answer> {
        let declined = self.check().err()?;
        Some(Answer::Refused { kind: declined.kind(), message: with_causes(&declined) })
    }

    fn check(&self) -> Result<(), Declined> {
        let agents = agents(&self.submission)?;
        let name = TaskName::new(self.name.as_deref().unwrap_or("generated"))?;
        submit(&complete(self, self.submission.goal.clone(), name, &agents)).map_err(ChangeError::from)?;
        Ok(())
    }

    /// Commits the submission without a claim: below an agent session, where the parent's owner takes it.
    pub async fn commit_unclaimed(self, store: &dyn Store, home: &Home) -> Answer {
        match commit_submission(store, home, self, None).await {
            Ok((task, warnings)) => {
                Answer::Accepted { task: task.id, name: task.submission.name.to_string(), warnings }
            }
            Err(declined) => Answer::Refused { kind: declined.kind(), message: with_causes(&declined) },
        }
    }
}
