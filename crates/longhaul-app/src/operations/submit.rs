//! `submit`: a new task. It is durable once this answers; from below an agent session it is a child task.
//! A person's task is handed to a worker with the caller's environment; a child is taken by the owner of its parent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use longhaul_core::task::{Action, Need};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::request_key::answer;
use crate::submit::{
    child_request, choose_place, need_of_terms, person_request, place_of_child, refuse_impossible_checks, send,
};
use crate::views::TaskView;

/// The operation `submit`.
pub struct Submit;

/// What `submit` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct SubmitInput {
    /// What to reach.
    pub goal: String,
    /// Name of the task; by default made from the goal.
    #[serde(default)]
    pub name: Option<String>,
    /// The directory to work in, by default the caller's.
    #[serde(default)]
    pub workspace: Option<PathBuf>,
    /// Commands that must pass, besides the configured ones.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Acceptance criteria, each in words or as `words = command`.
    #[serde(default)]
    pub criteria: Vec<String>,
    /// Constraints the agent must respect.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Files the agent should start from.
    #[serde(default)]
    pub inputs: Vec<PathBuf>,
    /// Files that must exist when the task is done, relative to the workspace.
    #[serde(default)]
    pub expects: Vec<String>,
    /// Name or id of a task that must be verified first.
    #[serde(default)]
    pub after: Option<String>,
    /// Tasks with a higher priority start first.
    #[serde(default)]
    pub priority: i64,
    /// The branch to start from and to land on; by default the one that is checked out.
    #[serde(default)]
    pub base: Option<String>,
    /// A profile of the configuration, `[profile.NAME]`. Without the right `approve`, only keys count that the caller could set itself, and
    /// stricter limits.
    #[serde(default)]
    pub profile: Option<String>,
    /// Work in the checkout itself instead of a separate worktree.
    #[serde(default)]
    pub in_place: bool,
    /// Fail instead of waiting if another task works in the same directory.
    #[serde(default)]
    pub no_wait: bool,
    /// Pause after one session.
    #[serde(default)]
    pub once: bool,
    /// Submit although the agent, the workspace or a check looks unusable.
    #[serde(default)]
    pub no_preflight: bool,
    /// Configuration keys and their values for this task, spelled as in the environment, such as `{"agent": "codex"}`.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Submit {
    const ABOUT: About = About::new("submit", "Start a task", Action::Submit("submit a task"), VERB_AND_TOOL)
        .route("/tasks")
        .runs_agents()
        .by_hand("run");
    type Input = SubmitInput;
    type Output = TaskView;

    fn need(input: &SubmitInput) -> Need {
        need_of_terms::<Submit>(&input.settings, input.in_place)
    }

    fn key(input: &SubmitInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: SubmitInput) -> Result<Answer<TaskView>, AppError> {
        let session = call.caller.actor.session;
        let (mut prepared, in_place) = match session {
            Some(session) => (child_request(call, &input, session).await?, true),
            None => person_request(call, &input).await?,
        };
        prepared.request.check(&call.app.system.environment)?;
        prepared.request.key = permit.key();
        if session.is_none() {
            call.app.create()?;
            choose_place(call, &mut prepared, &input, in_place).await?;
            if !input.no_preflight {
                refuse_impossible_checks(call, &prepared.request.submission).await?;
            }
        }
        let sent = send(call, prepared.request).await?;
        if session.is_some() {
            prepared.notes.extend(place_of_child(call, sent.task).await?);
        }
        let answer = answer(call, sent.task, sent.repeated).await?;
        Ok(answer.note(prepared.notes).warn(prepared.warnings).warn(sent.warnings))
    }
}
