//! A task as its events made it: what was asked for, its state, what was counted. Stored beside the events, rebuilt from them.
//! Changed by `apply` alone; read by everyone.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    AgentLimit, CheckEdit, Checkout, Conversation, FollowUpAction, LandOrder, Landing, Limit, Merging, Phase, Round,
    RoundOutcome, RunnerOptions, State, Submission, Tracked, Usage, Workspace,
};
use crate::ids::TaskId;
use crate::names::TaskName;
use crate::plan::Plan;
use crate::time::Time;

/// A goal and everything known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Also the idempotency key of its submission.
    pub id: TaskId,
    /// What was asked for; shared by all the copies that commits make of a task.
    pub submission: Arc<Submission>,
    /// Its state.
    pub state: State,
    /// The sequence number of its last event.
    pub version: u64,
    /// When it was submitted.
    pub created: Time,
    /// When its last event happened.
    pub updated: Time,
    /// Since when it is in a state of this name.
    pub since: Time,
    /// The last accepted plan.
    pub plan: Option<Arc<Accepted>>,
    /// A plan that is to be put back before the next session.
    pub restore: Option<Restore>,
    /// What the next prompt has to say about refused plan changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_notice: Option<String>,
    /// Counters that hold over restarts.
    pub tally: Tally,
    /// Conversations that were interrupted or are to be kept, at most one for each agent, the last used at the end.
    pub conversations: Vec<Conversation>,
    /// Why the work under way cannot continue in its conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// The agents that have reached their usage limit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limited: BTreeMap<String, AgentLimit>,
    /// The agents that only a person can make usable again, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unusable: BTreeMap<String, String>,
    /// Where the agent works, once that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Whether the setup command has succeeded in the task's worktree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_set_up: bool,
    /// The current round of checks, or the failed one that a fixing session is to fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Round>,
    /// Checks that were changed after the first session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_edits: Vec<CheckEdit>,
    /// Limits that a person set after the submission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited_limits: Vec<Limit>,
    /// What a person has to say to the next session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidance: Vec<String>,
    /// The task waited for is out of the way.
    pub after_met: bool,
    /// The invocation of the runner that carries it out, or was the last to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunnerOptions>,
    /// The commit that this follow-up is about to put on a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Landing>,
    /// The work merged with the branch that this follow-up lands on, if that had moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merging: Option<Merging>,
    /// What the task's agents or the outside program that executes it reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracked: Option<Arc<Tracked>>,
}

/// The last accepted plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Counts from 1.
    pub revision: u32,
    /// Its steps.
    pub plan: Plan,
    /// The SHA-256 of the file it was read from.
    pub hash: String,
}

/// A plan that is to be put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restore {
    /// The hash of the file to replace; none when it is missing. A different file is left alone and read again.
    pub expect: Option<String>,
    /// What to write.
    pub text: String,
    /// The replaced file is kept as `task_list.rejected-<n>.md`.
    pub keep_as: u32,
}

/// Counters that hold over restarts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Sessions committed so far.
    pub sessions: u32,
    /// Failed sessions since the last progress.
    pub failures: u32,
    /// Completed sessions without progress since the last progress.
    pub idle: u32,
    /// Sessions in a row that did nothing through no fault of the agent: never started, or interrupted from outside.
    pub interrupted: u32,
    /// Looks at the workspace in a row that failed because git could not run.
    pub git_failures: u32,
    /// Sessions of the agent that were executed and have ended.
    pub agent_sessions: u32,
    /// Sessions in a row that did not complete their piece of work.
    pub tries: u32,
    /// Sessions in a row whose login was refused.
    pub refusals: u32,
    /// Usage limits of unknown length in a row.
    pub probes: u32,
    /// Usage limits in a row, whether or not their length was reported.
    pub limits: u32,
    /// Rounds of checks so far.
    pub rounds: u32,
    /// Fixing sessions that completed since a person last helped.
    pub fixes: u32,
    /// Guidance that the live session was given.
    pub guided: u32,
    /// Plans refused so far.
    pub rejected: u32,
    /// Tokens of all ended sessions.
    pub usage: Usage,
    /// Ended sessions of agents whose tokens are unknown, in part or whole.
    pub unmetered: u32,
    /// Working time of all ended sessions of the agent.
    pub worked_ms: u64,
    /// How often the branch moved while a follow-up was about to land on it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub target_moves: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Task {
    /// Where an owner continues: with its next session, or with what a follow-up does.
    pub(super) fn ready(&self) -> State {
        let is_checking = self.merging.as_ref().is_some_and(|merging| merging.is_placed) && !self.has_passed();
        if self.submission.follow_up.is_none() || is_checking { State::Preparing } else { State::Landing }
    }

    /// Whether the last round of checks passed.
    fn has_passed(&self) -> bool {
        matches!(&self.round, Some(Round { outcome: Some(RoundOutcome::Passed { .. }), .. }))
    }

    /// Whether merged work lands after a round with this result.
    pub(super) fn is_landed_by(&self, outcome: &RoundOutcome) -> bool {
        let on_target = self.round.as_ref().is_some_and(|round| round.basis.on_target);
        self.merging.is_some() && !on_target && matches!(outcome, RoundOutcome::Passed { .. })
    }

    /// What is to land, if this is a landing.
    pub fn order(&self) -> Option<&LandOrder> {
        match &self.submission.follow_up.as_ref()?.action {
            FollowUpAction::Land(order) => Some(order),
            FollowUpAction::Discard | FollowUpAction::Restore => None,
        }
    }

    /// The task whose work is in the workspace: this one, or the finished one that it follows.
    pub fn author_of_work(&self) -> TaskId {
        self.submission.follow_up.as_ref().map_or(self.id, |follow_up| follow_up.task)
    }

    /// The name of the task directory, which a follow-up shares with the task that it follows.
    pub fn directory_name(&self) -> &TaskName {
        let submission = &self.submission;
        let followed = || submission.follow_up.as_ref().map(|follow_up| &follow_up.name);
        submission.files_name.as_ref().or_else(followed).unwrap_or(&submission.name)
    }

    /// The phase the next session belongs to.
    pub fn phase(&self) -> Phase {
        match &self.plan {
            None if self.merging.is_some() && self.needs_fix() => Phase::Work,
            None if self.merging.is_some() => Phase::Verify,
            None => Phase::Plan,
            Some(accepted) if accepted.plan.is_complete() && !self.needs_fix() => Phase::Verify,
            Some(_) => Phase::Work,
        }
    }

    /// How many of the plan's steps are done; without a plan there are none.
    pub fn progress(&self) -> String {
        self.plan.as_ref().map_or_else(|| Plan::default().progress(), |accepted| accepted.plan.progress())
    }

    /// The root of the agent's workspace, which contains the task directory.
    pub fn root(&self) -> &str {
        self.workspace.as_ref().map_or(&self.submission.project, |workspace| &workspace.root)
    }

    /// Where the agent and the checks start.
    pub fn cwd(&self) -> &str {
        if let Some(run) = &self.run {
            return &run.cwd;
        }
        self.workspace.as_ref().map_or(&self.submission.workspace, |workspace| &workspace.cwd)
    }

    /// The clean checkout of the open round, if its checks run in one.
    pub fn checkout(&self) -> Option<&Checkout> {
        self.round.as_ref().filter(|round| round.is_open()).and_then(|round| round.basis.checkout.as_ref())
    }

    /// Where the checks of the open round start.
    pub fn check_cwd(&self) -> &str {
        self.checkout().map_or(self.cwd(), |checkout| &checkout.cwd)
    }

    /// The setup command, while it has not succeeded in the task's own worktree. A follow-up works in one that is set up.
    pub fn setup_due(&self) -> Option<&str> {
        let in_worktree = self.workspace.as_ref().is_some_and(Workspace::is_worktree);
        let is_due = in_worktree && !self.is_set_up && self.submission.follow_up.is_none();
        self.submission.setup.as_deref().filter(|_| is_due && !self.round.as_ref().is_some_and(Round::is_open))
    }

    /// The agent's own id of the conversation that was used last and can be resumed.
    pub fn conversation_id(&self) -> Option<&str> {
        self.conversations.last().map(|talk| talk.id.as_str())
    }

    /// Whether the checks found something that no session has fixed yet.
    pub fn needs_fix(&self) -> bool {
        self.has_failed() && !self.needs_comparison()
    }

    fn has_failed(&self) -> bool {
        matches!(&self.round, Some(Round { outcome: Some(RoundOutcome::Failed { .. }), .. }))
    }

    /// Whether checks failed on merged work, and it is unknown yet whether they pass without it.
    pub fn needs_comparison(&self) -> bool {
        let failed = || self.has_failed() && self.round.as_ref().is_some_and(|round| round.failures().next().is_some());
        self.merging.as_ref().is_some_and(|merging| !merging.is_compared && (merging.failed.is_some() || failed()))
    }
}
