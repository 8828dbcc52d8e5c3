//! Everything about one task: what lists show of it, and its owner, settings, workspace, plan, checks, limits and newest sessions.
//! Made from the task, the newest part of its history, and the operating system. Nothing is asked of an agent.

use longhaul_core::task::{Driver, Submission, Task};
use schemars::JsonSchema;
use serde::Serialize;

use super::{PlanView, RunView, TaskView};
use crate::describe::{self, ResultFacts, UnavailableAgent};
use crate::operation::View;
use crate::report::{Checks, LimitRow, NoticeRow, SessionRow};
use crate::session::live::Live;

/// One task in detail.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShowView {
    /// What lists show of it.
    pub task: TaskView,
    /// The whole goal.
    pub goal: String,
    /// The state in words, with all known details.
    pub status: String,
    /// Null until it is done.
    pub result: Option<ResultFacts>,
    /// What a person can do next.
    pub next_step: String,
    /// The worker that carries it out.
    pub owner: Option<OwnerView>,
    /// The same in words, with what to do if it does not work.
    pub owner_status: String,
    /// The session that has not been observed to end.
    pub live: Option<Live>,
    /// Process ids of a person's own work in the agent's conversation; null unless the task is held.
    pub held_by: Option<Vec<u32>>,
    /// Which agents work, and how.
    pub choices: Choices,
    /// The conversation of the live session, or the one that the next session continues.
    pub conversation: Option<ConversationView>,
    /// Agents that are not started now.
    pub agent_limits: Vec<UnavailableAgent>,
    /// Why the next session starts a new conversation in the middle of the work.
    pub handover: Option<String>,
    /// Warnings about its settings.
    pub warnings: Vec<String>,
    /// Where the agent works.
    pub workspace: WorkspaceView,
    /// The task that has to be done before this one starts.
    pub after: Option<String>,
    /// The task that this one tries again.
    pub retry_of: Option<String>,
    /// How long ago its last event happened.
    pub idle_ms: u64,
    /// What it has used, in words.
    pub used: String,
    /// Failed sessions in a row.
    pub attempts: Attempts,
    /// Every limit with what is used of it.
    pub limits: Vec<LimitRow>,
    /// Messages that wait for the next session.
    pub guidance: Vec<String>,
    /// What the checks showed.
    pub verification: Checks,
    /// Null until one is accepted.
    pub plan: Option<PlanView>,
    /// What was reported of it by its agents, or by the outside program that executes it; null if nothing.
    pub run: Option<RunView>,
    /// The newest sessions, in order. `task.sessions` counts all sessions of agents.
    pub sessions: Vec<SessionRow>,
    /// How many of these sessions lost the conversation they should have continued.
    pub degraded: usize,
    /// Notices to its targets, and whether they were delivered.
    pub notices: Vec<NoticeRow>,
    /// Messages, sessions, rounds and notices, in this order, are one list with a limit. Pass this as `after` for the rest; null at the end.
    pub next: Option<u64>,
}

/// The worker of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OwnerView {
    /// The id of the worker.
    pub worker: String,
    /// The machine that it runs on.
    pub host: String,
    /// When it took the task.
    pub since: String,
    /// False if its lock proves it dead.
    pub alive: bool,
    /// Whether it is alive, but stopped by a signal.
    pub stopped: bool,
}

/// Which agents work, and how.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Choices {
    /// Agents that replace it at a usage limit, in order.
    pub fallbacks: Vec<String>,
    /// The model; null for the agent's default.
    pub model: Option<String>,
    /// `read-only`, `workspace` or `full`.
    pub sandbox: String,
    /// What `--network` means for each agent; empty without it.
    pub network: Vec<String>,
    /// When a session continues the last conversation: `fresh`, `resume` or `auto`.
    pub context: String,
    /// At a usage limit: `wait`, `switch`, `ask` or `stop`.
    pub on_limit: String,
    /// The hours of the day at which sessions start.
    pub hours: Option<String>,
    /// Names of the prompt templates that are not the built-in ones.
    pub prompts: Vec<String>,
}

/// A conversation of an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationView {
    /// The agent's own id of it.
    pub id: String,
    /// Whose it is.
    pub agent: String,
}

/// Where the agent works.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkspaceView {
    /// The directory.
    pub directory: String,
    /// `worktree` or `in place`; null until it is made.
    pub kind: Option<&'static str>,
    /// The branch of its worktree.
    pub branch: Option<String>,
    /// The commit that it began with; null without one.
    pub base: Option<String>,
    /// The directory with the agent's plan and progress.
    pub task_directory: String,
}

/// Failed sessions in a row.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Attempts {
    /// How many failed.
    pub failed: u32,
    /// How many may fail.
    pub allowed: u32,
}

impl View for ShowView {
    const KIND: &'static str = "show";
}

impl ShowView {
    /// Whether an outside program executes it.
    pub fn is_tracked(&self) -> bool {
        self.task.driver == Driver::External.word()
    }
}

impl Choices {
    pub(crate) fn new(submission: &Submission) -> Choices {
        Choices {
            fallbacks: submission.fallbacks.clone(),
            model: submission.model.clone(),
            sandbox: submission.sandbox.to_string(),
            network: describe::network(submission),
            context: submission.context.to_string(),
            on_limit: submission.on_limit.to_string(),
            hours: submission.hours.map(|hours| hours.to_string()),
            prompts: submission.prompts.keys().cloned().collect(),
        }
    }
}

impl ConversationView {
    /// The conversation of the live session, else the one that the next session continues.
    pub(crate) fn of(task: &Task) -> Option<ConversationView> {
        let live = task.state.session().and_then(|run| Some((&run.agent, run.conversation.as_ref()?)));
        let next = || task.conversations.last().map(|talk| (&talk.agent, &talk.id));
        let (agent, id) = live.or_else(next)?;
        Some(ConversationView { id: id.clone(), agent: agent.clone() })
    }
}

impl WorkspaceView {
    pub(crate) fn of(task: &Task) -> WorkspaceView {
        let workspace = task.workspace.as_ref();
        WorkspaceView {
            directory: task.cwd().to_owned(),
            kind: workspace.map(|workspace| if workspace.is_worktree() { "worktree" } else { "in place" }),
            branch: workspace.and_then(|workspace| workspace.branch.clone()),
            base: workspace.and_then(|workspace| workspace.base.clone()),
            task_directory: describe::task_directory(task),
        }
    }
}
