//! `task_run_start`: a new run, which the caller executes itself. Nothing is started for it, and no directory is used. An agent session gets
//! the task that it works on.
//! An input that cannot be a run leaves nothing behind, not even a home.

use std::path::Path;

use longhaul_core::ids::TaskId;
use longhaul_core::names::{self, TaskName};
use longhaul_core::task::{Action, Links, Submission, submit};
use longhaul_store::{Change, CommitError, Committed, Guard, Key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Said, TaskRunAnswer, answer, own_task};
use crate::app::Call;
use crate::config::{Overrides, Settings, Sources};
use crate::error::{AppError, ErrorKind};
use crate::intake::blocking_here;
use crate::operation::{About, Answer, Operation, Permit, TOOL};
use crate::submit::notify_targets;

/// Why an agent gets no run of its own.
const OWN: &str = "this session works on the task of this run_id, so no other run was started; report on this one";

/// So many numbered names are tried; then the name gets a part of the id.
const NUMBERED: usize = 9;

/// The operation `task_run_start`.
pub struct TaskRunStart;

/// What `task_run_start` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskRunStartInput {
    /// What the run is to reach; at most 4096 bytes are kept.
    pub goal: String,
    /// What must hold in the end; at most 50.
    #[serde(default)]
    pub success_criteria: Option<Vec<String>>,
    /// The caller's own session.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The workflow that the run is a part of.
    #[serde(default)]
    pub workflow_id: Option<String>,
    /// Ids of single executions in another system.
    #[serde(default)]
    pub ledger_task_ids: Option<Vec<String>>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for TaskRunStart {
    const ABOUT: About = About::new(
        "task_run_start",
        "Start a run that you execute yourself and report here, so that it survives restarts",
        Action::Report("start a run"),
        TOOL,
    )
    .route("/runs");
    type Input = TaskRunStartInput;
    type Output = TaskRunAnswer;

    fn key(input: &TaskRunStartInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: TaskRunStartInput) -> Result<Answer<TaskRunAnswer>, AppError> {
        if call.caller.actor.session.is_some() {
            return Ok(TaskRunAnswer::of(&own_task(call).await?.task).note([OWN.to_owned()]));
        }
        let project = call.caller.project().ok().map(|project| project.root);
        let environment = &call.app.system.environment;
        let settings = settings(call, project.as_deref())?;
        let (secret_names, notify) = (settings.redact.extra, notify_targets::notify(&settings.notify, environment));
        let mut said = Said::new(environment.secrets(&secret_names));
        let links = Links {
            session_id: said.optional(input.session_id.as_ref()),
            workflow_id: said.optional(input.workflow_id.as_ref()),
            ledger_task_ids: said.texts(input.ledger_task_ids.as_ref()),
        };
        let (goal, criteria) = (said.text(&input.goal), said.texts(input.success_criteria.as_ref()));
        let project = project.map_or_else(String::new, |root| root.display().to_string());
        let run = |name| Submission {
            secret_names: secret_names.clone(),
            notify: notify.clone(),
            ..Submission::tracked(&goal, name, project.clone(), &criteria, links.clone())
        };
        let committed = commit(call, &goal, permit.key(), run).await?;
        Ok(answer(&committed, said))
    }
}

/// Whose secrets are masked and who is notified: as the user configured it, and the project if the program works in one.
fn settings(call: &Call, project: Option<&Path>) -> Result<Settings, AppError> {
    let root = project.unwrap_or(Path::new("/"));
    let sources = Sources::of(&call.app.system.environment, &call.caller, root)?;
    let sources = Sources { project: sources.project.filter(|_| project.is_some()), ..sources };
    Ok(blocking_here(|| sources.load(&Overrides::default()))?.settings)
}

/// Commits the run under the first name that is free.
async fn commit(
    call: &Call,
    goal: &str,
    key: Option<Key>,
    run: impl Fn(TaskName) -> Submission,
) -> Result<Committed, AppError> {
    let task = crate::mint_task();
    let mut refused = AppError::new(ErrorKind::Conflict, "no free name was found; try again");
    for name in candidates(goal, task) {
        let events = submit(&run(name))?;
        call.app.create()?;
        let (actor, at, key) = (call.caller.actor.clone(), call.now(), key.clone());
        let change = Change { task, guard: Guard::New, events, actor, at, key, claim: None, session_cap: None };
        match call.store()?.commit(change).await {
            Err(error @ CommitError::NameTaken { .. }) => refused = error.into(),
            committed => return Ok(committed?),
        }
    }
    Err(refused)
}

/// Names from the goal. Many runs may have one goal, so the last one is unique.
pub(super) fn candidates(goal: &str, task: TaskId) -> impl Iterator<Item = TaskName> {
    let base = names::slug(goal).unwrap_or_else(|| "run".to_owned());
    let id = task.to_string();
    let unique = format!("{base}-{}", id.rsplit('-').next().unwrap_or_default());
    names::candidates(base).take(NUMBERED).chain([unique]).filter_map(|name| TaskName::new(&name).ok())
}
