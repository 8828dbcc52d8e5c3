//! Usage limits over several agents: which one is next, and until when all have to wait. Folded by `apply`, asked by `decide`.
//! A limit is no failure, and it is the agent's, not the task's: another agent can go on meanwhile.

use std::time::Duration;

use super::{OnLimit, State, Submission, Task};
use crate::time::Time;

/// A limit of unknown length is probed after this long, and then after twice as long, up to the cap.
const FIRST_PROBE: Duration = Duration::from_secs(300);
const LONGEST_PROBE: Duration = Duration::from_secs(3600);
/// An agent that is still limited when it said it would not be is believed less and less.
const FIRST_DOUBT: Duration = Duration::from_secs(15);

/// How long an agent is left alone that only a person can make usable again.
pub(super) const FOR_GOOD: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Whether no clock will make the agent usable again.
pub(super) fn is_for_good(until: Time, now: Time) -> bool {
    until.since(now) > FOR_GOOD / 2
}

impl Submission {
    /// The agents in the order of preference.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.agent.as_str()).chain(self.fallbacks.iter().map(String::as_str))
    }
}

impl Task {
    /// The agent of the next session.
    pub fn next_agent(&self, now: Time) -> &str {
        let first = self.submission.agent.as_str();
        match self.submission.on_limit {
            OnLimit::Switch => self.submission.agents().find(|agent| !self.is_limited(agent, now)).unwrap_or(first),
            OnLimit::Wait | OnLimit::Ask | OnLimit::Stop => first,
        }
    }

    /// Until when no agent of this task may be started; none when one may.
    pub fn limited_until(&self, now: Time) -> Option<Time> {
        let candidates = match self.submission.on_limit {
            OnLimit::Switch => usize::MAX,
            OnLimit::Wait | OnLimit::Ask | OnLimit::Stop => 1,
        };
        let until = |agent: &str| self.limited.get(agent).copied().filter(|until| *until > now);
        let waits: Option<Vec<Time>> = self.submission.agents().take(candidates).map(until).collect();
        waits.and_then(|waits| waits.into_iter().min())
    }

    /// How long to wait before a limit of unknown length is tried.
    pub(crate) fn probe_after(&self) -> Duration {
        let doublings = self.tally.probes.min(8);
        (FIRST_PROBE * (1 << doublings)).min(LONGEST_PROBE)
    }

    /// The least to wait for an agent that has just been limited, whatever it told.
    pub(crate) fn wait_at_least(&self, agent: &str) -> Duration {
        match self.limited.contains_key(agent) {
            true => (FIRST_DOUBT * (1 << self.tally.limits.saturating_sub(1).min(8))).min(LONGEST_PROBE),
            false => Duration::ZERO,
        }
    }

    /// A person who resumes has seen to accounts, logins and programs; a time that was told still counts after a mere pause.
    pub(super) fn forget_limits(&mut self) {
        if matches!(self.state, State::Paused { .. }) {
            let now = self.updated;
            self.limited.retain(|_, until| !is_for_good(*until, now));
        } else {
            self.limited.clear();
        }
    }

    fn is_limited(&self, agent: &str, now: Time) -> bool {
        self.limited.get(agent).is_some_and(|until| *until > now)
    }
}
