//! What happened to a task: past tense, stored, never changed. The state is the fold of these.
//!
//! Written by `decide` and, for `Claimed`, by the store with a claim. Read by `apply`, `narrate` and the faces.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Basis, Cause, Ended, Evidence, FileHash, HelpReason, Observation, Reached, ReadTo, ReleasedBy, Report, Restore,
    RoundOutcome, RunnerOptions, Said, SessionRun, Setting, StopMode, Submission, Then, Until, Verdict, Wait,
    Workspace,
};
use crate::ids::{SessionId, TaskId, WorkerId};
use crate::plan::{Plan, PlanChange, Refused};
use crate::time::Time;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// The task was made.
    Submitted {
        /// What was asked for.
        submission: Arc<Submission>,
    },
    /// A worker took the lease.
    Claimed {
        /// Which.
        worker: WorkerId,
        /// On which machine.
        host: String,
        /// The owner whose death was proved, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<WorkerId>,
    },
    /// A session's start was committed; its keeper comes after.
    SessionStarted {
        /// The session.
        session: SessionRun,
    },
    /// Output was read up to here.
    SessionRead {
        /// Which session.
        session: SessionId,
        /// How far.
        read: ReadTo,
        /// What it said.
        said: Said,
    },
    /// A session's end was observed.
    SessionEnded {
        /// Which session.
        session: SessionId,
        /// How.
        ended: Ended,
        /// Whether there were new ticks.
        progress: bool,
    },
    /// A plan revision was accepted.
    PlanRevised {
        /// Counts from 1.
        revision: u32,
        /// What is different from the revision before, or the whole plan.
        #[serde(flatten)]
        change: PlanChange,
        /// The SHA-256 of the file it came from.
        hash: String,
        /// Steps newly ticked.
        ticked: Vec<u32>,
    },
    /// Changes to the plan were refused; the last good one is to be put back.
    PlanRefused {
        /// What was refused.
        refused: Vec<Refused>,
        /// Why the file could not be read at all, if so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unreadable: Option<String>,
        /// What is to be written.
        restore: Restore,
    },
    /// The last good plan was restored, or the file changed in the meantime and is read again.
    PlanRestored,
    /// The session was asked to stop.
    StopAsked {
        /// How quickly.
        mode: StopMode,
        /// What follows.
        then: Then,
    },
    /// The task waits.
    WaitStarted {
        /// Why.
        why: Wait,
        /// Until when; none where no clock ends it.
        until: Option<Time>,
        /// How long at most, whatever happens to the wall clock; none where only the wall clock counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        span_ms: Option<u64>,
    },
    /// The wait is over.
    WaitEnded,
    /// A person paused the task, the session it was pausing has ended, or an invocation of the runner has.
    Paused {
        /// What went wrong, where the runner gave up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A person works in the agent's conversation.
    Held {
        /// Who.
        person: String,
    },
    /// That has ended.
    Released {
        /// How it was seen.
        how: ReleasedBy,
    },
    /// An invocation of the runner took the task up.
    Driven {
        /// What it was asked for.
        run: RunnerOptions,
    },
    /// A person resumed it.
    Resumed {
        /// What changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Only a person can help.
    HelpNeeded {
        /// Why.
        reason: HelpReason,
    },
    /// A limit of the task is used up.
    Stopped {
        /// Which.
        reached: Reached,
    },
    /// Something outside is missing.
    Blocked {
        /// What.
        cause: Cause,
    },
    /// What was missing is available again.
    Unblocked,
    /// The agent's workspace was made or chosen.
    Placed {
        /// Where.
        workspace: Workspace,
    },
    /// A person changed settings.
    Edited {
        /// Which.
        settings: Vec<Setting>,
        /// Who; none in what was stored before that was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A person has something to say to the next session.
    Told {
        /// In words.
        text: String,
    },
    /// A person's plan was taken as it is.
    PlanAccepted {
        /// Counts from 1.
        revision: u32,
        /// The plan.
        plan: Plan,
        /// The SHA-256 of the list.
        hash: String,
        /// What is to be written, when the file in the task directory is another one.
        restore: Option<Restore>,
    },
    /// The checks begin, from the first.
    RoundStarted {
        /// Counts from 1 within the task.
        number: u32,
        /// The round before changed the tree it was run on.
        again: bool,
        /// The expected files.
        files: Vec<FileHash>,
        /// The tree it begins on; none without git.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
        /// What else is known of the files it begins on.
        basis: Basis,
    },
    /// A check was run.
    Checked {
        /// What it showed.
        evidence: Evidence,
    },
    /// All checks were run.
    RoundEnded {
        /// Their result.
        outcome: RoundOutcome,
    },
    /// An agent has reached its usage limit, or cannot be used at all.
    AgentLimited {
        /// Which.
        agent: String,
        /// Until when it is not started.
        #[serde(flatten)]
        until: Until,
        /// The account it belongs to, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<String>,
        /// The task that reached it; none when it was this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found_by: Option<TaskId>,
    },
    /// The task waited for is out of the way.
    AfterMet,
    /// The outside program that executes it reported.
    Reported {
        /// What it said.
        report: Report,
    },
    /// It left a summary from which another process could continue.
    Checkpointed {
        /// What it said, with that summary.
        report: Report,
    },
    /// It needs a person.
    HelpAsked {
        /// Why.
        reason: String,
        /// What would let it continue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// What else it said.
        report: Report,
    },
    /// That request was answered.
    HelpAnswered {
        /// What changed.
        reason: String,
        /// Who says so.
        by: String,
    },
    /// It gave up.
    Failed {
        /// Why, if it said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The task is done.
    Finished {
        /// What is known of the result.
        verdict: Verdict,
    },
    /// A person gave it up.
    Cancelled {
        /// Who.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person killed a worker or keeper that did not answer.
    Forced {
        /// What was killed.
        target: String,
    },
    /// An observation that moves nothing, kept because observations are never dropped.
    Noted {
        /// What was seen.
        observation: Box<Observation>,
    },
}

/// What an event is in the story of a task, for those who tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The task cannot continue until something outside changes, mostly by a person.
    Asks,
    /// That question is answered.
    Answers,
    /// The task is done, or waits for something else.
    Rests,
    /// Something failed that a reader should know before trusting the rest.
    Trouble,
    /// Any other step on the way.
    Moves,
    /// It changes something beside and explains nothing.
    Beside,
}

impl Event {
    /// The one list of the events: the stored spelling of each, and what it is in the story of a task.
    fn about(&self) -> (&'static str, Role) {
        match self {
            Event::Submitted { .. } => ("submitted", Role::Moves),
            Event::Claimed { .. } => ("claimed", Role::Beside),
            Event::SessionStarted { .. } => ("session_started", Role::Moves),
            Event::SessionRead { .. } => ("session_read", Role::Beside),
            Event::SessionEnded { .. } => ("session_ended", Role::Moves),
            Event::PlanRevised { .. } => ("plan_revised", Role::Moves),
            Event::PlanRefused { .. } => ("plan_refused", Role::Moves),
            Event::PlanRestored => ("plan_restored", Role::Moves),
            Event::StopAsked { .. } => ("stop_asked", Role::Moves),
            Event::WaitStarted { .. } => ("wait_started", Role::Rests),
            Event::WaitEnded => ("wait_ended", Role::Moves),
            Event::Paused { .. } => ("paused", Role::Rests),
            Event::Held { .. } => ("held", Role::Moves),
            Event::Released { .. } => ("released", Role::Moves),
            Event::Driven { .. } => ("driven", Role::Moves),
            Event::Resumed { .. } => ("resumed", Role::Answers),
            Event::HelpNeeded { .. } => ("help_needed", Role::Asks),
            Event::Stopped { .. } => ("stopped", Role::Asks),
            Event::Blocked { .. } => ("blocked", Role::Asks),
            Event::Unblocked => ("unblocked", Role::Answers),
            Event::Placed { .. } => ("placed", Role::Beside),
            Event::Edited { .. } => ("edited", Role::Beside),
            Event::Told { .. } => ("told", Role::Beside),
            Event::PlanAccepted { .. } => ("plan_accepted", Role::Beside),
            Event::RoundStarted { .. } => ("round_started", Role::Moves),
            Event::Checked { .. } => ("checked", Role::Moves),
            Event::RoundEnded { .. } => ("round_ended", Role::Moves),
            Event::AgentLimited { .. } => ("agent_limited", Role::Moves),
            Event::AfterMet => ("after_met", Role::Moves),
            // What a program reports beside explains no state: `why` names the newest report itself.
            Event::Reported { .. } => ("reported", Role::Beside),
            Event::Checkpointed { .. } => ("checkpointed", Role::Beside),
            Event::HelpAsked { .. } => ("help_asked", Role::Asks),
            Event::HelpAnswered { .. } => ("help_answered", Role::Answers),
            Event::Failed { .. } => ("failed", Role::Rests),
            Event::Finished { .. } => ("finished", Role::Rests),
            Event::Cancelled { .. } => ("cancelled", Role::Answers),
            Event::Forced { .. } => ("forced", Role::Trouble),
            Event::Noted { observation } if observation.is_obstacle() => ("noted", Role::Moves),
            Event::Noted { .. } => ("noted", Role::Beside),
        }
    }

    /// Every kind but `session_read`: the story of a task. Of the kind left out a chatty session has thousands.
    pub const STORY: &'static [&'static str] = &[
        "submitted",
        "claimed",
        "session_started",
        "session_ended",
        "plan_revised",
        "plan_refused",
        "plan_restored",
        "stop_asked",
        "wait_started",
        "wait_ended",
        "paused",
        "held",
        "released",
        "driven",
        "resumed",
        "help_needed",
        "stopped",
        "blocked",
        "unblocked",
        "placed",
        "edited",
        "told",
        "plan_accepted",
        "round_started",
        "checked",
        "round_ended",
        "agent_limited",
        "after_met",
        "reported",
        "checkpointed",
        "help_asked",
        "help_answered",
        "failed",
        "finished",
        "cancelled",
        "forced",
        "noted",
    ];

    /// The stored spelling.
    pub fn kind(&self) -> &'static str {
        self.about().0
    }

    /// What it is in the story of a task.
    pub fn role(&self) -> Role {
        self.about().1
    }

    /// The session that this event starts.
    pub fn started_session(&self) -> Option<&SessionRun> {
        let Event::SessionStarted { session } = self else { return None };
        Some(session)
    }
}
