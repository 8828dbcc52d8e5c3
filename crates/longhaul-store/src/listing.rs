//! Lists of tasks: which ones are wanted, whole tasks, and the summaries that lists are shown from.
//!
//! Asked of the store by front ends and workers. Plain data; the databases fill it.

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_core::task::{Driver, FollowUpResult, ResultKind, RunStatus, State};
use longhaul_core::time::Time;

use crate::{Cursor, Damaged, Stored};

/// Which tasks to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this project's.
    pub project: Option<String>,
    /// Only this task and its children.
    pub family_of: Option<TaskId>,
    /// Only with this name.
    pub name: Option<String>,
    /// Only names that begin so.
    pub name_prefix: Option<String>,
    /// Only ids that begin so (hyphenated lower-case hex).
    pub id_prefix: Option<String>,
    /// Unfinished ones, finished ones, or both.
    pub which: Which,
    /// Only in the state of this name.
    pub state: Option<String>,
    /// Only with this status (`RunStatus::of`).
    pub status: Option<RunStatus>,
    /// Only what is executed so.
    pub driver: Option<Driver>,
    /// Only with this agent.
    pub agent: Option<String>,
    /// Only what follows up this finished task.
    pub follows: Option<TaskId>,
    /// Only follow-ups.
    pub follow_ups: bool,
    /// No follow-ups that are finished: what came of them is shown with the task they follow.
    pub without_past_follow_ups: bool,
    /// Only those submitted then or later.
    pub created_since: Option<Time>,
    /// Only those whose last event happened before.
    pub updated_before: Option<Time>,
    /// Only those whose last event happened then or later.
    pub updated_since: Option<Time>,
    /// Only those that come after this place in the list.
    pub after: Option<Cursor>,
    /// At most so many; none lists all.
    pub limit: Option<u32>,
}

/// Whether unfinished and finished tasks are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Which {
    /// All.
    #[default]
    All,
    /// Only unfinished ones.
    Unfinished,
    /// Only unfinished ones that Longhaul executes.
    Executed,
    /// Only finished ones.
    Finished,
}

/// A listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// Newest first; ties broken by id.
    pub tasks: Vec<Stored>,
    /// Rows that could not be read.
    pub damaged: Vec<Damaged>,
}

/// A page of summaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summaries {
    /// Newest first; ties broken by id.
    pub tasks: Vec<TaskSummary>,
    /// Where the next page begins, if there is more than the limit.
    pub next: Option<Cursor>,
    /// Rows that could not be read.
    pub damaged: Vec<Damaged>,
}

/// What lists show of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSummary {
    /// Which.
    pub task: TaskId,
    /// Where it was submitted.
    pub project: String,
    /// What it is called.
    pub name: String,
    /// The task it is a part of.
    pub parent: Option<TaskId>,
    /// The name of its state.
    pub state: String,
    /// Its result; none while it is not done.
    pub result: Option<ResultKind>,
    /// How many remarks its result has.
    pub remarks: u32,
    /// It has ended.
    pub is_final: bool,
    /// It wants a worker.
    pub wants_owner: bool,
    /// It continues only when a person acts.
    pub waits_for_person: bool,
    /// It has a session whose process may be alive.
    pub live: bool,
    /// Who carries it out.
    pub driver: Driver,
    /// Higher is claimed first.
    pub priority: i64,
    /// Its plan's steps, once it has a plan.
    pub steps: Option<Steps>,
    /// Sessions so far.
    pub sessions: u32,
    /// Tokens of all ended sessions, if any are known.
    pub tokens: Option<u64>,
    /// What all ended sessions cost, in millionths of a dollar, if any reported it.
    pub cost_micros: Option<u64>,
    /// Working time of all ended sessions of the agent. A live one has worked since `since`.
    pub worked_ms: u64,
    /// The first line of its goal, at most 200 characters.
    pub goal: String,
    /// Its agent.
    pub agent: String,
    /// The branch of its worktree, once that was made.
    pub branch: Option<String>,
    /// The first line of the step that is next in its plan, or of what a tracked run reported last; at most 200 characters.
    pub step: Option<String>,
    /// The state itself, if the task waits for a time, a person or something outside.
    pub wait: Option<State>,
    /// The agent whose usage limit it waits for.
    pub wait_agent: Option<String>,
    /// The finished task that it does something with, if it is a follow-up.
    pub follows: Option<TaskId>,
    /// What a follow-up does: `land`, `discard` or `restore`.
    pub kind: Option<String>,
    /// What came of the newest follow-up of this task that is done.
    pub came_to: Option<FollowUpResult>,
    /// Since when it is in this state.
    pub since: Time,
    /// The sequence number of its last event.
    pub version: u64,
    /// Grows with every claim.
    pub epoch: u64,
    /// Its owner now.
    pub owner: Option<WorkerId>,
    /// When it was submitted.
    pub created: Time,
    /// When its last event happened.
    pub updated: Time,
    /// The bytes of its events.
    pub history_bytes: u64,
}

/// How far a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// Ticked.
    pub done: u32,
    /// In all.
    pub total: u32,
}
