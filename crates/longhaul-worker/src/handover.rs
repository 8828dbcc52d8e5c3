//! What a front end hands to the worker it starts: one JSON line in, one JSON line back. Nothing of a goal is ever in argv.
//!
//! The worker commits the input together with its claim, so that a task never exists without someone who acts on it.

use std::path::Path;

use longhaul_agents::{About, UnknownAgent};
use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::names::{self, BadName, TaskName};
use longhaul_core::redact::{Secrets, redact_text};
use longhaul_core::task::{Actor, Command, Driver, Policy, Refusal, Submission, submit};
use longhaul_store::{Change, CommitError, Guard, Key, NewLease, Store};
use serde::{Deserialize, Serialize};

use crate::change::{ChangeError, change};
use crate::clock::{mint_lease, now};
use crate::task_dir::task_dir_exists;

/// What is handed over.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handover {
    /// A new task.
    Submit(Request),
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
    /// What is to be reached.
    pub goal: String,
    /// The name asked for; none generates one.
    pub name: Option<String>,
    /// The user's checkout.
    pub project: String,
    /// The directory the agent works in.
    pub workspace: String,
    /// The agent's name.
    pub agent: String,
    /// The model asked for.
    pub model: Option<String>,
    /// The task it is a part of.
    pub parent: Option<TaskId>,
    /// How patient it is.
    pub policy: Policy,
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
            | Declined::Change(ChangeError::Refused(Refusal::BadGoal { .. } | Refusal::ReasonMissing)) => {
                RefusalKind::Usage
            }
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
    pub(crate) async fn commit(self, store: &dyn Store, worker: WorkerId, host: &str) -> Answer {
        let lease = NewLease { id: mint_lease(), worker, host: host.to_owned() };
        let done = match self {
            Handover::Submit(request) => commit_submission(store, request, Some(lease)).await,
            Handover::Command { task, command, actor, key } => {
                let changed = change(store, task, command, &actor, Some(Key(key)), Some(lease)).await;
                changed.map(|changed| (changed.stored.task, Vec::new())).map_err(Declined::from)
            }
        };
        match done {
            Ok((task, warnings)) => {
                Answer::Accepted { task: task.id, name: task.submission.name.to_string(), warnings }
            }
            Err(declined) => Answer::Refused { kind: declined.kind(), message: with_sources(&declined) },
        }
    }
}

impl Request {
    /// The refusal that any worker would answer with, told before anything is made; none when the request makes sense.
    pub fn refusal(&self) -> Option<Answer> {
        let declined = self.check().err()?;
        Some(Answer::Refused { kind: declined.kind(), message: with_sources(&declined) })
    }

    fn check(&self) -> Result<(), Declined> {
        let about = longhaul_agents::find(&self.agent)?.about();
        let name = TaskName::new(self.name.as_deref().unwrap_or("generated"))?;
        submit(&complete(self, self.goal.clone(), name, about)).map_err(ChangeError::from)?;
        Ok(())
    }

    /// Commits the submission without a claim: below an agent session, where the parent's owner takes it.
    pub async fn commit_unclaimed(self, store: &dyn Store) -> Answer {
        match commit_submission(store, self, None).await {
            Ok((task, warnings)) => {
                Answer::Accepted { task: task.id, name: task.submission.name.to_string(), warnings }
            }
            Err(declined) => Answer::Refused { kind: declined.kind(), message: with_sources(&declined) },
        }
    }
}

async fn commit_submission(
    store: &dyn Store,
    request: Request,
    claim: Option<NewLease>,
) -> Result<(longhaul_core::task::Task, Vec<String>), Declined> {
    let about = longhaul_agents::find(&request.agent)?.about();
    for (what, text) in [("name", &request.name), ("model", &request.model)] {
        if text.as_ref().is_some_and(|text| redact_intake(text).1 > 0) {
            return Err(Declined::Secret { what });
        }
    }
    let (goal, warnings) = redact_goal(&request.goal);
    let wanted = request.name.as_deref().map(TaskName::new).transpose()?;
    let id = request.id;
    let actor = request.actor.clone();
    let project = request.project.clone();
    let mut names = candidates(wanted.as_ref(), &goal, &project)?;
    loop {
        let name = names.next().expect("candidates never end");
        let submission = complete(&request, goal.clone(), name, about);
        let change = Change {
            task: id,
            guard: Guard::New,
            events: submit(&submission).map_err(ChangeError::from)?,
            actor: actor.clone(),
            at: now(),
            key: None,
            claim: claim.clone(),
            session_cap: None,
        };
        match store.commit(change).await {
            Ok(committed) => return Ok((committed.stored.task, warnings)),
            Err(CommitError::NameTaken { .. }) if wanted.is_none() => {}
            Err(error) => return Err(ChangeError::from(error).into()),
        }
    }
}

fn complete(request: &Request, goal: String, name: TaskName, about: &About) -> Submission {
    Submission {
        goal,
        name,
        project: request.project.clone(),
        workspace: request.workspace.clone(),
        agent: request.agent.clone(),
        model: request.model.clone(),
        parent: request.parent,
        needs_env: set_now(about.env),
        driver: Driver::Supervised,
        policy: request.policy.clone(),
    }
}

/// Of the names an agent declares, those that are set now: missing later, they block the task instead of failing a login.
fn set_now(names: &[&str]) -> Vec<String> {
    names.iter().filter(|name| std::env::var_os(name).is_some()).map(|name| (*name).to_owned()).collect()
}

/// An explicit name stands alone; a generated one also avoids directories that are there already.
fn candidates<'a>(
    wanted: Option<&TaskName>,
    goal: &str,
    project: &'a str,
) -> Result<Box<dyn Iterator<Item = TaskName> + Send + 'a>, Declined> {
    if let Some(name) = wanted {
        if task_dir_exists(Path::new(project), name.as_ref()) {
            let path = format!("{}/{name}", crate::STATE_DIR);
            return Err(Declined::DirectoryExists { path });
        }
        return Ok(Box::new(std::iter::repeat(name.clone())));
    }
    let base = names::slug(goal).unwrap_or_else(|| names::fallback(jiff::Zoned::now().datetime()));
    let free = names::candidates(base)
        .filter_map(|name| TaskName::new(&name).ok())
        .filter(move |name| !task_dir_exists(Path::new(project), name.as_ref()));
    Ok(Box::new(free))
}

/// Masks what a person typed before it is stored: values of secrets in this process's environment. Says how many there were.
pub fn redact_intake(text: &str) -> (String, usize) {
    let variables = std::env::vars_os();
    let texts = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    redact_text(&Secrets::from_env(texts), text)
}

fn redact_goal(goal: &str) -> (String, Vec<String>) {
    let (goal, hits) = redact_intake(goal);
    let warnings = if hits == 0 {
        Vec::new()
    } else {
        vec![format!("the goal contained {hits} secret value(s) of this shell's environment; they were masked")]
    };
    (goal, warnings)
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
