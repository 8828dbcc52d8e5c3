//! The fold: a task is what its events made of it. Called by the store in the transaction that appends them, and by replay.
//!
//! `apply` never decides; it refuses events that have no edge from the current state, in release builds too.

use std::sync::Arc;

use super::{BackTo, Event, Phase, Purpose, SessionRun, State, Tally, Task};
use crate::ids::TaskId;
use crate::time::Time;

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
            submission: Arc::clone(submission),
            state: State::Queued { back_to: BackTo::phase(Phase::Plan) },
            version: 1,
            created: at,
            updated: at,
            since: at,
            plan: None,
            restore: None,
            plan_notice: None,
            tally: Tally::default(),
            conversations: Vec::new(),
            lost: None,
            limited: std::collections::BTreeMap::new(),
            unusable: std::collections::BTreeMap::new(),
            workspace: None,
            round: None,
            check_edits: Vec::new(),
            edited_limits: Vec::new(),
            guidance: Vec::new(),
            after_met: false,
            run: None,
        })
    }

    /// The task after one more event.
    pub fn apply(&self, event: &Event, at: Time) -> Result<Task, IllegalEvent> {
        let mut next = self.clone();
        next.version += 1;
        next.updated = at;
        next.fold_facts(event);
        next.state = self.state_after(event, next.phase())?;
        next.since = if next.state.name() == self.state.name() { self.since } else { at };
        // What was checked before an interruption says nothing about the files after it.
        next.round = next.round.filter(|round| !round.is_open() || next.state.continues_round());
        Ok(next)
    }

    fn state_after(&self, event: &Event, phase: Phase) -> Result<State, IllegalEvent> {
        use Event as E;
        use State as S;
        let illegal = || IllegalEvent { state: self.state.name(), event: event.kind() };
        let next = match (event, &self.state) {
            (E::Claimed { .. }, S::Queued { back_to }) => S::Preparing { back_to: *back_to },
            (E::Claimed { .. }, state) if state.wants_owner() => state.clone(),
            (E::Forced { .. } | E::Edited { .. } | E::Told { .. }, state) if !state.is_final() => state.clone(),
            (E::Driven { .. }, state) if !state.is_final() => driven(state),
            (E::PlanAccepted { .. }, state) if !state.is_final() && state.session().is_none() => state.clone(),
            (E::Noted { .. }, state) => state.clone(),
            (E::SessionStarted { session }, S::Preparing { .. }) => started(session),
            (E::SessionRead { session, read, said }, state) if state.live(*session).is_some() => {
                self.read(read, said, state)
            }
            (E::SessionEnded { session, .. }, state) if state.live(*session).is_some() => {
                S::Preparing { back_to: BackTo::phase(phase) }
            }
            (E::PlanRevised { .. }, S::Preparing { .. }) => S::Preparing { back_to: BackTo::phase(phase) },
            (
                E::PlanRefused { .. }
                | E::PlanRestored
                | E::Placed { .. }
                | E::AfterMet
                | E::AgentLimited { .. }
                | E::RoundStarted { .. }
                | E::Checked { .. }
                | E::RoundEnded { .. },
                state @ S::Preparing { .. },
            ) => state.clone(),
            (E::AfterMet, S::Waiting { why: super::Wait::After(_), back_to, .. }) => S::Preparing { back_to: *back_to },
            (
                E::StopAsked { haste, then },
                S::Planning { session }
                | S::Working { session }
                | S::Verifying { session }
                | S::Stopping { session, .. },
            ) => S::Stopping { session: session.clone(), haste: *haste, then: then.clone() },
            (E::WaitStarted { why, until, span_ms, back_to }, S::Preparing { .. }) => {
                S::Waiting { why: *why, until: *until, span_ms: *span_ms, back_to: *back_to }
            }
            (E::WaitEnded, S::Waiting { back_to, .. }) | (E::Unblocked, S::Blocked { back_to, .. }) => {
                S::Preparing { back_to: BackTo::phase(back_to.phase) }
            }
            (E::Paused { back_to, .. }, state) if state.wants_owner() && state.session().is_none() => {
                S::Paused { back_to: *back_to }
            }
            (E::Held { person, back_to }, state) if !state.is_final() && state.session().is_none() => {
                S::Held { person: person.clone(), back_to: *back_to }
            }
            (E::Released { .. }, S::Held { back_to, .. }) => S::Paused { back_to: *back_to },
            (E::Resumed { back_to, .. }, state) if state.waits_for_person() && !state.is_held() => {
                S::Queued { back_to: *back_to }
            }
            (E::HelpNeeded { reason, back_to }, S::Preparing { .. } | S::Waiting { .. }) => {
                S::NeedsHelp { reason: reason.clone(), back_to: *back_to }
            }
            (E::Stopped { reached, back_to }, S::Preparing { .. }) => {
                S::Stopped { reached: reached.clone(), back_to: *back_to }
            }
            (E::Blocked { cause, back_to }, S::Preparing { .. }) => {
                S::Blocked { cause: cause.clone(), back_to: *back_to }
            }
            (E::Finished { verdict }, S::Preparing { .. }) => S::Done { verdict: verdict.clone() },
            (E::Cancelled { by, reason }, state) if !state.is_final() && state.session().is_none() => {
                S::Cancelled { by: by.clone(), reason: reason.clone() }
            }
            _ => return Err(illegal()),
        };
        Ok(next)
    }

    fn read(&self, read: &super::ReadTo, said: &super::Said, state: &State) -> State {
        let mut state = state.clone();
        if let State::Planning { session }
        | State::Working { session }
        | State::Verifying { session }
        | State::Stopping { session, .. } = &mut state
        {
            session.read = read.clone();
            session.usage = session.usage.plus(said.usage);
            // The first id is the one: a later line with another id is a tag of the invocation, not a new conversation.
            session.conversation = session.conversation.take().or_else(|| said.conversation.clone());
        }
        state
    }
}

/// What waited for a clock or a person goes on at once.
fn driven(state: &State) -> State {
    match state {
        // Whoever drives it has it already, from one that died while it waited; the others belong to nobody.
        State::Waiting { back_to, .. } => State::Preparing { back_to: BackTo::phase(back_to.phase) },
        State::NeedsHelp { back_to, .. }
        | State::Paused { back_to }
        | State::Stopped { back_to, .. }
        | State::Blocked { back_to, .. } => State::Queued { back_to: BackTo::phase(back_to.phase) },
        State::Queued { .. }
        | State::Preparing { .. }
        | State::Planning { .. }
        | State::Working { .. }
        | State::Verifying { .. }
        | State::Stopping { .. }
        | State::Held { .. }
        | State::Done { .. }
        | State::Cancelled { .. } => state.clone(),
    }
}

fn started(session: &SessionRun) -> State {
    match session.purpose {
        Purpose::Plan => State::Planning { session: session.clone() },
        Purpose::Work | Purpose::Fix => State::Working { session: session.clone() },
        Purpose::Check => State::Verifying { session: session.clone() },
    }
}
