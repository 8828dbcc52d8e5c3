//! The fold: a task is what its events made of it. Called by the store in the transaction that appends them, and by replay.
//!
//! `apply` never decides; it refuses events that have no edge from the current state, in release builds too.

use std::sync::Arc;

use super::{Event, Purpose, SessionRun, State, Tally, Task};
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
            state: State::Queued,
            version: 1,
            created: at,
            updated: at,
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
        next.state = self.state_after(event)?;
        // What was checked before an interruption says nothing about the files after it.
        next.round = next.round.filter(|round| !round.is_open() || next.state.continues_round());
        Ok(next)
    }

    fn state_after(&self, event: &Event) -> Result<State, IllegalEvent> {
        use Event as E;
        use State as S;
        let illegal = || IllegalEvent { state: self.state.name(), event: event.kind() };
        let next = match (event, &self.state) {
            (E::Claimed { .. }, S::Queued) => S::Preparing,
            (E::Claimed { .. }, state) if state.wants_owner() => state.clone(),
            (E::Forced { .. } | E::Edited { .. } | E::Told { .. }, state) if !state.is_final() => state.clone(),
            (E::Driven { .. }, state) if !state.is_final() => driven(state),
            (E::PlanAccepted { .. }, state) if !state.is_final() && state.session().is_none() => state.clone(),
            (E::Noted { .. }, state) => state.clone(),
            (E::SessionStarted { session }, S::Preparing) => started(session),
            (E::SessionRead { session, read, said }, state) if state.live(*session).is_some() => {
                self.read(read, said, state)
            }
            (E::SessionEnded { session, .. }, state) if state.live(*session).is_some() => S::Preparing,
            (E::PlanRevised { .. }, S::Preparing) => S::Preparing,
            (
                E::PlanRefused { .. }
                | E::PlanRestored
                | E::Placed { .. }
                | E::AfterMet
                | E::AgentLimited { .. }
                | E::RoundStarted { .. }
                | E::Checked { .. }
                | E::RoundEnded { .. },
                state @ S::Preparing,
            ) => state.clone(),
            (E::AfterMet, S::Waiting { why: super::Wait::After(_), .. }) => S::Preparing,
            (
                E::StopAsked { haste, then },
                S::Planning { session }
                | S::Working { session }
                | S::Verifying { session }
                | S::Stopping { session, .. },
            ) => S::Stopping { session: session.clone(), haste: *haste, then: then.clone() },
            (E::WaitStarted { why, until, span_ms }, S::Preparing) => {
                S::Waiting { why: *why, until: *until, span_ms: *span_ms }
            }
            (E::WaitEnded, S::Waiting { .. }) | (E::Unblocked, S::Blocked { .. }) => S::Preparing,
            (E::Paused { .. }, state) if state.wants_owner() && state.session().is_none() => S::Paused,
            (E::Held { person }, state) if !state.is_final() && state.session().is_none() => {
                S::Held { person: person.clone() }
            }
            (E::Released { .. }, S::Held { .. }) => S::Paused,
            (E::Resumed { .. }, state) if state.waits_for_person() && !state.is_held() => S::Queued,
            (E::HelpNeeded { reason }, S::Preparing | S::Waiting { .. }) => S::NeedsHelp { reason: reason.clone() },
            (E::Stopped { reached }, S::Preparing) => S::Stopped { reached: reached.clone() },
            (E::Blocked { cause }, S::Preparing) => S::Blocked { cause: cause.clone() },
            (E::Finished { verdict }, S::Preparing) => S::Done { verdict: verdict.clone() },
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
        State::Waiting { .. } => State::Preparing,
        State::NeedsHelp { .. } | State::Paused | State::Stopped { .. } | State::Blocked { .. } => State::Queued,
        State::Queued
        | State::Preparing
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
