//! The fold: a task is what its events made of it. Called by the store in the transaction that appends them, and by replay.
//!
//! `apply` never decides; it refuses events that have no edge from the current state, in release builds too.

use serde::{Deserialize, Serialize};

use super::session::{Ended, Failure, Outcome, StoppedBy};
use super::{BackTo, Event, Exit, Phase, Purpose, SessionRun, State, Submission, Usage};
use crate::ids::{SessionId, TaskId};
use crate::plan::Plan;
use crate::time::Time;

/// A goal and everything known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Also the idempotency key of its submission.
    pub id: TaskId,
    /// What was asked for.
    pub submission: Submission,
    /// Where it stands.
    pub state: State,
    /// The sequence number of its last event.
    pub version: u64,
    /// When it was submitted.
    pub created: Time,
    /// When its last event happened.
    pub updated: Time,
    /// The last accepted plan.
    pub plan: Option<Accepted>,
    /// A plan that is to be put back before the next session.
    pub restore: Option<Restore>,
    /// What the next prompt has to say about refused plan changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_notice: Option<String>,
    /// Counters that hold over restarts.
    pub tally: Tally,
    /// The agent's own conversation that the next session goes on with; none starts afresh.
    pub conversation: Option<String>,
}

/// The last accepted plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Counts from 1.
    pub revision: u32,
    /// Its steps.
    pub plan: Plan,
    /// The SHA-256 of the file it stands in.
    pub hash: String,
}

/// A plan that is to be put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restore {
    /// The hash of the file to replace; none when it is missing. Another file is left alone and looked at anew.
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
    /// Sessions in a row that came to nothing through no fault of the agent: never started, or interrupted from outside.
    #[serde(default)]
    pub interrupted: u32,
    /// Plans refused so far.
    pub rejected: u32,
    /// Tokens of all ended sessions.
    pub usage: Usage,
    /// Working time of all ended sessions.
    pub worked_ms: u64,
}

/// An event that has no edge from the state it met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event `{event}` has no edge from state `{state}`")]
pub struct IllegalEvent {
    /// The state's name.
    pub state: &'static str,
    /// The event's kind.
    pub event: &'static str,
}

impl Task {
    /// The task that its first event makes; any other first event is illegal.
    pub fn begin(id: TaskId, event: &Event, at: Time) -> Result<Task, IllegalEvent> {
        let Event::Submitted { submission } = event else {
            return Err(IllegalEvent { state: "nothing", event: event.kind() });
        };
        Ok(Task {
            id,
            submission: submission.clone(),
            state: State::Queued { back_to: BackTo::phase(Phase::Plan) },
            version: 1,
            created: at,
            updated: at,
            plan: None,
            restore: None,
            plan_notice: None,
            tally: Tally::default(),
            conversation: None,
        })
    }

    /// The task after one more event.
    pub fn apply(&self, event: &Event, at: Time) -> Result<Task, IllegalEvent> {
        let mut next = self.clone();
        next.version += 1;
        next.updated = at;
        next.count(event);
        next.state = self.state_after(event)?;
        Ok(next)
    }

    fn state_after(&self, event: &Event) -> Result<State, IllegalEvent> {
        use Event as E;
        use State as S;
        let illegal = || IllegalEvent { state: self.state.name(), event: event.kind() };
        let next = match (event, &self.state) {
            (E::Claimed { .. }, S::Queued { back_to }) => S::Preparing { back_to: *back_to },
            (E::Claimed { .. }, state) if state.wants_owner() => state.clone(),
            (E::Forced { .. }, state) if !state.is_final() => state.clone(),
            (E::Noted { .. }, state) => state.clone(),
            (E::SessionStarted { session }, S::Preparing { .. }) => started(session),
            (E::SessionRead { session, read, said }, state) if state.live(*session).is_some() => {
                self.read(read, said, state)
            }
            (E::SessionEnded { session, .. }, state) if state.live(*session).is_some() => {
                S::Preparing { back_to: BackTo::phase(self.phase()) }
            }
            (E::PlanRevised { .. }, S::Preparing { .. }) => S::Preparing { back_to: BackTo::phase(Phase::Work) },
            (E::PlanRefused { .. } | E::PlanRestored, state @ S::Preparing { .. }) => state.clone(),
            (
                E::StopAsked { haste, then },
                S::Planning { session } | S::Working { session } | S::Stopping { session, .. },
            ) => S::Stopping { session: session.clone(), haste: *haste, then: then.clone() },
            (E::WaitStarted { why, until, back_to }, S::Preparing { .. }) => {
                S::Waiting { why: *why, until: *until, back_to: *back_to }
            }
            (E::WaitEnded, S::Waiting { back_to, .. }) => S::Preparing { back_to: BackTo::phase(back_to.phase) },
            (E::Paused { back_to }, S::Queued { .. } | S::Preparing { .. } | S::Waiting { .. }) => {
                S::Paused { back_to: *back_to }
            }
            (E::Resumed { back_to, .. }, state) if state.waits_for_person() => S::Queued { back_to: *back_to },
            (E::HelpNeeded { reason, back_to }, S::Preparing { .. }) => {
                S::NeedsHelp { reason: reason.clone(), back_to: *back_to }
            }
            (E::Blocked { cause, back_to }, S::Preparing { .. }) => {
                S::Blocked { cause: cause.clone(), back_to: *back_to }
            }
            (E::Finished { verdict }, S::Preparing { .. }) => S::Done { verdict: *verdict },
            (E::Cancelled { by, reason }, state) if !state.is_final() && state.session().is_none() => {
                S::Cancelled { by: by.clone(), reason: reason.clone() }
            }
            _ => return Err(illegal()),
        };
        Ok(next)
    }

    fn read(&self, read: &super::ReadTo, said: &super::Said, state: &State) -> State {
        let mut state = state.clone();
        if let State::Planning { session } | State::Working { session } | State::Stopping { session, .. } = &mut state {
            session.read = read.clone();
            session.usage = session.usage.plus(said.usage);
            // The first id is the one: a later line with another id is a tag of the invocation, not a new conversation.
            session.conversation = session.conversation.take().or_else(|| said.conversation.clone());
        }
        state
    }

    fn count(&mut self, event: &Event) {
        match event {
            Event::SessionStarted { session } => self.tally.sessions = session.number,
            Event::SessionEnded { session, ended, progress } => {
                self.count_end(*session, ended, *progress);
                self.plan_notice = None;
            }
            Event::PlanRevised { revision, plan, hash, .. } => {
                self.plan = Some(Accepted { revision: *revision, plan: plan.clone(), hash: hash.clone() });
            }
            Event::PlanRefused { restore, .. } => {
                self.tally.rejected = restore.keep_as;
                self.plan_notice = Some(super::narrate(event));
                self.restore = Some(restore.clone());
            }
            Event::PlanRestored => self.restore = None,
            // A person says that something changed, so the breakers start anew.
            Event::Resumed { .. } => {
                self.tally.failures = 0;
                self.tally.idle = 0;
                self.tally.interrupted = 0;
            }
            Event::Submitted { .. }
            | Event::Claimed { .. }
            | Event::SessionRead { .. }
            | Event::StopAsked { .. }
            | Event::WaitStarted { .. }
            | Event::WaitEnded
            | Event::Paused { .. }
            | Event::HelpNeeded { .. }
            | Event::Blocked { .. }
            | Event::Finished { .. }
            | Event::Cancelled { .. }
            | Event::Forced { .. }
            | Event::Noted { .. } => {}
        }
    }

    fn count_end(&mut self, session: SessionId, ended: &Ended, progress: bool) {
        if let Some(run) = self.state.live(session) {
            let conversation = ended.conversation_after(run);
            self.tally.usage = self.tally.usage.plus(run.usage);
            self.conversation = conversation;
        }
        self.tally.interrupted = if ended.came_to_nothing() { self.tally.interrupted + 1 } else { 0 };
        self.tally.worked_ms = self.tally.worked_ms.saturating_add(ended.lasted_ms);
        if progress {
            self.tally.failures = 0;
            self.tally.idle = 0;
        } else if ended.outcome == Outcome::Completed {
            self.tally.idle += 1;
        } else if ended.burns_attempt() {
            self.tally.failures += 1;
        }
    }

    /// The phase the next session belongs to.
    pub fn phase(&self) -> Phase {
        if self.plan.is_some() { Phase::Work } else { Phase::Plan }
    }
}

fn started(session: &SessionRun) -> State {
    match session.purpose {
        Purpose::Plan => State::Planning { session: session.clone() },
        Purpose::Work => State::Working { session: session.clone() },
    }
}

impl Ended {
    /// Whether this end counts against the task's attempts. Limits, shutdowns and our own stops do not.
    pub fn burns_attempt(&self) -> bool {
        if self.came_to_nothing() || self.stopped_by == StoppedBy::Task {
            return false;
        }
        !matches!(self.outcome, Outcome::Completed | Outcome::Failed(Failure::Limited(_)))
    }

    /// Never started, or interrupted from outside.
    pub fn came_to_nothing(&self) -> bool {
        self.exit == Exit::NeverStarted || self.stopped_by == StoppedBy::Shutdown
    }

    /// The conversation the next session goes on with, given what this one had.
    pub fn conversation_after(&self, session: &SessionRun) -> Option<String> {
        let lost = matches!(
            self.outcome,
            Outcome::Completed | Outcome::Failed(Failure::BadConversation | Failure::ContextFull)
        );
        if lost { None } else { session.conversation.clone().or_else(|| session.resumes.clone()) }
    }
}
