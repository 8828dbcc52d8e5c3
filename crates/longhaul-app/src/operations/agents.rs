//! `agents`: every agent, built in and declared: whether it is installed, its version, its login, its usage limits, and what to do.
//! Asks the programs offline, with a deadline; starts no session and reads no token.

use longhaul_core::task::{AccountLimit, Action};
use schemars::JsonSchema;
use serde::Serialize;

use crate::agent_status::{self, AgentStatus};
use crate::app::Call;
use crate::blocking;
use crate::config::Overrides;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, NoInput, Operation, Permit, VERB_AND_TOOL, View};

/// The operation `agents`.
pub struct Agents;

/// Every agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentListing {
    /// Built-in agents first, then those that the configuration declares.
    pub agents: Vec<AgentView>,
    /// The agent of new tasks that name none; null if one is chosen when a task is submitted.
    pub default: Option<String>,
}

/// An agent as it is on this machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentView {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub summary: String,
    /// Whether the configuration declares it.
    pub declared: bool,
    /// Its program, by name or path; null if it is part of Longhaul.
    pub program: Option<String>,
    /// Whether it can be started.
    pub found: bool,
    /// Where its program was found.
    pub path: Option<String>,
    /// What the program prints about its version; null if unknown.
    pub version: Option<String>,
    /// Whether the program did not answer in time when it was asked for its version.
    pub version_timed_out: bool,
    /// The versions it was tested with.
    pub known: Vec<String>,
    /// Whether its version is one of those; null if unknown.
    pub known_good: Option<bool>,
    /// `yes`, `no`, `not_needed` or `unknown`.
    pub logged_in: String,
    /// A variable with a key that is set; only a session shows whether the key is good.
    pub key_variable: Option<String>,
    /// What to do about it, if anything.
    pub advice: Option<String>,
    /// The usage limits in force.
    pub limits: Vec<AgentLimit>,
}

/// A usage limit in force.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentLimit {
    /// Whose it is: the agent, and what selects its login.
    pub account: String,
    /// When it ends.
    pub until: String,
    /// How long it lasts from now on.
    pub left_ms: u64,
    /// Whether the agent reported the time; otherwise it is an estimate.
    pub reported: bool,
    /// The task that reached it; null for an agent, which does not see other tasks.
    pub task_id: Option<String>,
}

impl View for AgentListing {
    const KIND: &'static str = "agents";
}

impl Operation for Agents {
    const ABOUT: About = About::new(
        "agents",
        "List all agents: installed, version, logged in, and what to do",
        Action::Read,
        VERB_AND_TOOL,
    )
    .route("/agents");
    type Input = NoInput;
    type Output = AgentListing;

    async fn run(call: &Call, _: Permit, _: NoInput) -> Result<Answer<AgentListing>, AppError> {
        let loaded = call.load_config(&Overrides::default())?;
        let (system, tables) = (call.app.system.clone(), loaded.settings.agents.clone());
        let found = blocking(move || agent_status::probe_agents(&system, &tables)).await;
        let limits = limits(call).await?;
        let agents = found.iter().map(|status| view(call, status, &limits)).collect();
        Ok(Answer::new(AgentListing { agents, default: loaded.settings.agent.clone() }).warn(loaded.warnings()))
    }
}

/// The usage limits in force; none if there is no home yet.
async fn limits(call: &Call) -> Result<Vec<AccountLimit>, AppError> {
    let limits = match call.store() {
        Ok(store) => store.account_limits().await?,
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(limits.into_iter().filter(|limit| limit.until > call.now()).collect())
}

fn view(call: &Call, status: &AgentStatus, limits: &[AccountLimit]) -> AgentView {
    let own = limits.iter().filter(|limit| limit.agent == status.name);
    let own = own.map(|limit| AgentLimit {
        account: limit.account.clone(),
        until: limit.until.rfc3339(),
        left_ms: u64::try_from(limit.until.since(call.now()).as_millis()).unwrap_or(u64::MAX),
        reported: limit.told,
        task_id: call.caller.actor.session.is_none().then(|| limit.task.to_string()),
    });
    AgentView { limits: own.collect(), ..status.view() }
}
