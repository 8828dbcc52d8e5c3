//! The fold: a task is what its events made of it. Called by the store in the transaction that appends them, and by replay.
//!
//! `apply` never decides; it refuses events that have no edge from the current state, in release builds too.

use std::sync::Arc;

use super::{
    Driver, Event, HelpReason, HelpRequest, Purpose, ReadTo, Said, SessionRun, Stage, State, StopMode, Tally, Task,
    Then, Tracked, Wait,
};
use crate::ids::TaskId;
use crate::time::Time;

/// An event that has no edge from the state it met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event `{event}` is not allowed in state `{state}`")]
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
        let is_tracked = submission.driver == Driver::External;
        let tracked = State::Tracked { reported: at, help: None };
        Ok(Task {
            id,
            submission: Arc::clone(submission),
            state: if is_tracked { tracked } else { State::Queued },
            version: 1,
            created: at,
            updated: at,
            since: at,
            plan: None,
            restore: None,
            plan_notice: None,
            tally: Tally::default(),
            conversations: submission.conversations.clone(),
            is_set_up: false,
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
            landing: None,
            merging: None,
            tracked: is_tracked.then(|| Tracked::new(&submission.links).into()),
        })
    }

    /// The task after these events, all at one time.
    pub fn after(&self, events: &[Event], at: Time) -> Result<Task, IllegalEvent> {
        events.iter().try_fold(self.clone(), |task, event| task.apply(event, at))
    }

    /// The task after one more event.
    pub fn apply(&self, event: &Event, at: Time) -> Result<Task, IllegalEvent> {
        let mut next = self.clone();
        next.version += 1;
        next.updated = at;
        next.fold_facts(event);
        let illegal = || IllegalEvent { state: self.state.name(), event: event.kind() };
        next.state = self.state_after(event, at).ok_or_else(illegal)?;
        next.since = if next.state.name() == self.state.name() { self.since } else { at };
        // What was checked before an interruption says nothing about the files after it.
        next.round = next.round.filter(|round| !round.is_open() || next.state.stage().continues_round());
        Ok(next)
    }

    /// Every event with the states it is allowed in and the state it leads to; none where it has no edge.
    fn state_after(&self, event: &Event, at: Time) -> Option<State> {
        use Event as E;
        use State as S;
        let state = &self.state;
        let stage = state.stage();
        if let S::Tracked { reported, help } = state {
            return tracked_after(event, *reported, help.as_ref(), at);
        }
        let is_unfinished = !state.is_final();
        let is_idle = is_unfinished && stage.session().is_none();
        let is_preparing = stage == Stage::Preparing;
        match event {
            // An outside program gives its own run up, and a follow-up may be impossible; an agent cannot give up.
            E::Failed { reason } => (*state == S::Landing).then(|| S::Failed { reason: reason.clone() }),
            E::Submitted { .. } => None,
            E::Merged { .. } | E::LandingStarted { .. } | E::TargetMoved => {
                (*state == S::Landing).then_some(S::Landing)
            }
            E::Reported { report } | E::Checkpointed { report } | E::SaidDone { report } => {
                stage.agent().map(|run| started(run.with_report(report)))
            }
            E::HelpAsked { reason, hint, report } => stage.agent().map(|run| {
                let reason = HelpReason::Asked { question: reason.clone(), hint: hint.clone() };
                let (session, then) = (run.with_report(report), Then::Ask { reason });
                S::Stopping { session, mode: StopMode::Graceful, then }
            }),
            E::HelpAnswered { .. } => state.question().map(|_| state.clone()),
            E::Claimed { .. } if stage == Stage::Queued => Some(self.ready()),
            E::Claimed { .. } => state.wants_owner().then(|| state.clone()),
            E::Forced { .. } | E::Edited { .. } | E::Told { .. } => is_unfinished.then(|| state.clone()),
            E::Driven { .. } => is_unfinished.then(|| driven(state)),
            E::Noted { .. } => is_unfinished.then(|| state.clone()),
            E::PlanAccepted { .. } => is_idle.then(|| state.clone()),
            E::SessionStarted { session } => (*state == S::Preparing).then(|| started(session.clone())),
            E::SessionRead { session, read, said } => state.live(*session).map(|run| heard(state, run, read, said)),
            E::SessionEnded { session, .. } => state.live(*session).map(|_| S::Preparing),
            E::PlanRevised { .. }
            | E::PlanRefused { .. }
            | E::PlanRestored
            | E::Placed { .. }
            | E::AgentLimited { .. }
            | E::RoundStarted { .. }
            | E::Checked { .. } => is_preparing.then_some(S::Preparing),
            // Merged work that passed its checks lands.
            E::RoundEnded { outcome } => {
                is_preparing.then(|| if self.is_landed_by(outcome) { S::Landing } else { S::Preparing })
            }
            E::AfterMet => {
                let waits_for_it = matches!(state, S::Waiting { why: Wait::After(_), .. });
                (is_preparing || waits_for_it).then_some(S::Preparing)
            }
            E::StopAsked { mode, then } => {
                let stopping = |run: &SessionRun| S::Stopping { session: run.clone(), mode: *mode, then: then.clone() };
                stage.session().map(stopping)
            }
            E::WaitStarted { why, until, span_ms } => {
                is_preparing.then_some(S::Waiting { why: *why, until: *until, span_ms: *span_ms })
            }
            E::WaitEnded => matches!(state, S::Waiting { .. }).then(|| self.ready()),
            E::Unblocked => matches!(state, S::Blocked { .. }).then(|| self.ready()),
            E::Paused { .. } => (is_idle && state.wants_owner()).then_some(S::Paused),
            E::Held { person } => is_idle.then(|| S::Held { person: person.clone() }),
            E::Released { .. } => (stage == Stage::Held).then_some(S::Paused),
            E::Resumed { .. } => (stage == Stage::ForPerson).then_some(S::Queued),
            E::HelpNeeded { reason } => {
                let may_ask = is_preparing || matches!(state, S::Waiting { .. });
                may_ask.then(|| S::NeedsHelp { reason: reason.clone() })
            }
            E::Stopped { reached } => is_preparing.then(|| S::Stopped { reached: reached.clone() }),
            E::Blocked { cause } => is_preparing.then(|| S::Blocked { cause: cause.clone() }),
            E::Finished { verdict } => is_preparing.then(|| S::Done { verdict: verdict.clone() }),
            E::Cancelled { by, reason } => is_idle.then(|| S::Cancelled { by: by.clone(), reason: reason.clone() }),
        }
    }
}

/// The edges of a tracked run: its program's reports, a request for help and its answer, and three ends.
fn tracked_after(event: &Event, reported: Time, help: Option<&HelpRequest>, at: Time) -> Option<State> {
    use Event as E;
    match event {
        E::Reported { .. } | E::Checkpointed { .. } => Some(State::Tracked { reported: at, help: help.cloned() }),
        E::HelpAsked { reason, hint, .. } => {
            let help = HelpRequest { reason: reason.clone(), hint: hint.clone(), asked: at };
            Some(State::Tracked { reported: at, help: Some(help) })
        }
        E::HelpAnswered { .. } => help.map(|_| State::Tracked { reported, help: None }),
        E::Noted { .. } => Some(State::Tracked { reported, help: help.cloned() }),
        E::Finished { verdict } => Some(State::Done { verdict: verdict.clone() }),
        E::Failed { reason } => Some(State::Failed { reason: reason.clone() }),
        E::Cancelled { by, reason } => Some(State::Cancelled { by: by.clone(), reason: reason.clone() }),
        E::SaidDone { .. }
        | E::Submitted { .. }
        | E::Claimed { .. }
        | E::SessionStarted { .. }
        | E::SessionRead { .. }
        | E::SessionEnded { .. }
        | E::PlanRevised { .. }
        | E::PlanRefused { .. }
        | E::PlanRestored
        | E::StopAsked { .. }
        | E::WaitStarted { .. }
        | E::WaitEnded
        | E::Paused { .. }
        | E::Held { .. }
        | E::Released { .. }
        | E::Driven { .. }
        | E::Resumed { .. }
        | E::HelpNeeded { .. }
        | E::Stopped { .. }
        | E::Blocked { .. }
        | E::Unblocked
        | E::Placed { .. }
        | E::Edited { .. }
        | E::Told { .. }
        | E::PlanAccepted { .. }
        | E::RoundStarted { .. }
        | E::Checked { .. }
        | E::RoundEnded { .. }
        | E::AgentLimited { .. }
        | E::AfterMet
        | E::Merged { .. }
        | E::LandingStarted { .. }
        | E::TargetMoved
        | E::Forced { .. } => None,
    }
}

/// The same state with what its session said.
fn heard(state: &State, run: &SessionRun, read: &ReadTo, said: &Said) -> State {
    let session = SessionRun {
        read: read.clone(),
        usage: run.usage.plus(said.usage),
        // The first id is the one: a later line with another id is a tag of the invocation, not a new conversation.
        conversation: run.conversation.clone().or_else(|| said.conversation.clone()),
        ..run.clone()
    };
    match state.stage() {
        Stage::Live(_) => started(session),
        Stage::Stopping { mode, then, .. } => State::Stopping { session, mode, then: then.clone() },
        Stage::Queued
        | Stage::Preparing
        | Stage::Waiting
        | Stage::ForPerson
        | Stage::Held
        | Stage::Tracked { .. }
        | Stage::Final { .. } => state.clone(),
    }
}

/// What waited for a clock or a person continues at once.
fn driven(state: &State) -> State {
    match state.stage() {
        // Whoever drives it has it already, from one that died while it waited; the others belong to nobody.
        Stage::Waiting => State::Preparing,
        Stage::ForPerson => State::Queued,
        Stage::Queued
        | Stage::Preparing
        | Stage::Live(_)
        | Stage::Stopping { .. }
        | Stage::Held
        | Stage::Tracked { .. }
        | Stage::Final { .. } => state.clone(),
    }
}

fn started(session: SessionRun) -> State {
    match session.purpose {
        Purpose::Setup => State::SettingUp { session },
        Purpose::Plan => State::Planning { session },
        Purpose::Work | Purpose::Fix => State::Working { session },
        Purpose::Check => State::Verifying { session },
    }
}
