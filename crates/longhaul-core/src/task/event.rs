//! What happened to a task: past tense, stored, never changed. The state is the fold of these.
//!
//! Written by `decide` and, for `Claimed`, by the store with a claim. Read by `apply`, `narrate` and the faces.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Basis, Cause, Ended, Evidence, FileHash, HelpReason, Landing, Merge, Observation, Reached, ReadTo, ReleasedBy,
    Report, Restore, RoundOutcome, RunnerOptions, Said, SessionRun, Setting, StopMode, Submission, Then, Until,
    Verdict, Wait, Workspace,
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
    /// The branch to land on had moved, and git merged it with the work. The files follow.
    Merged {
        /// The result.
        merge: Merge,
    },
    /// A follow-up is about to put this commit on its branch.
    LandingStarted {
        /// The commit, and where the branch was.
        landing: Landing,
    },
    /// The branch moved before the commit was on it.
    TargetMoved,
    /// Whoever executes it reported: the live session's agent, or an outside program.
    Reported {
        /// What it said.
        report: Report,
    },
    /// It left a summary from which another process could continue.
    Checkpointed {
        /// What it said, with that summary.
        report: Report,
    },
    /// The agent said that it is done. Proves nothing: the checks are run all the same.
    SaidDone {
        /// What it said.
        report: Report,
    },
    /// It needs a person. An agent's session is asked to stop.
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
        /// Who answered.
        by: String,
    },
    /// It gave up, or a follow-up could not do what it is for.
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

/// The one list of the events: the stored spelling of each, and what it is in the story of a task.
macro_rules! events {
    ($($event:ident = $kind:literal, $role:ident;)+) => {
        impl Event {
            /// Every kind but `session_read`: the story of a task. Of the kind left out a chatty session has thousands.
            pub const STORY: &'static [&'static str] = &[$($kind),+];

            fn about(&self) -> (&'static str, Role) {
                match self {
                    Event::SessionRead { .. } => ("session_read", Role::Beside),
                    $(Event::$event { .. } => ($kind, Role::$role),)+
                }
            }
        }
    };
}

events! {
    Submitted = "submitted", Moves;
    Claimed = "claimed", Beside;
    SessionStarted = "session_started", Moves;
    SessionEnded = "session_ended", Moves;
    PlanRevised = "plan_revised", Moves;
    PlanRefused = "plan_refused", Moves;
    PlanRestored = "plan_restored", Moves;
    StopAsked = "stop_asked", Moves;
    WaitStarted = "wait_started", Rests;
    WaitEnded = "wait_ended", Moves;
    Paused = "paused", Rests;
    Held = "held", Moves;
    Released = "released", Moves;
    Driven = "driven", Moves;
    Resumed = "resumed", Answers;
    HelpNeeded = "help_needed", Asks;
    Stopped = "stopped", Asks;
    Blocked = "blocked", Asks;
    Unblocked = "unblocked", Answers;
    Placed = "placed", Beside;
    Edited = "edited", Beside;
    Told = "told", Beside;
    PlanAccepted = "plan_accepted", Beside;
    RoundStarted = "round_started", Moves;
    Checked = "checked", Moves;
    RoundEnded = "round_ended", Moves;
    AgentLimited = "agent_limited", Moves;
    AfterMet = "after_met", Moves;
    Merged = "merged", Moves;
    LandingStarted = "landing_started", Moves;
    TargetMoved = "target_moved", Moves;
    // What a program reports beside explains no state: `why` names the newest report itself.
    Reported = "reported", Beside;
    Checkpointed = "checkpointed", Beside;
    SaidDone = "said_done", Beside;
    HelpAsked = "help_asked", Asks;
    HelpAnswered = "help_answered", Answers;
    Failed = "failed", Rests;
    Finished = "finished", Rests;
    Cancelled = "cancelled", Answers;
    Forced = "forced", Trouble;
    Noted = "noted", Beside;
}

impl Event {
    /// The stored spelling.
    pub fn kind(&self) -> &'static str {
        self.about().0
    }

    /// What it is in the story of a task.
    pub fn role(&self) -> Role {
        let is_obstacle = matches!(self, Event::Noted { observation } if observation.is_obstacle());
        if is_obstacle { Role::Moves } else { self.about().1 }
    }

    /// The session that this event starts.
    pub fn started_session(&self) -> Option<&SessionRun> {
        let Event::SessionStarted { session } = self else { return None };
        Some(session)
    }
}
