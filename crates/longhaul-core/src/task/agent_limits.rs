//! Agents that cannot be used now: which one is next, and until when all have to wait. Folded by `apply`, asked by `decide`.
//! A usage limit is no failure, and it is the agent's, not the task's: another agent can continue meanwhile.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{OnLimit, State, Submission, Task, Wait};
use crate::ids::TaskId;
use crate::time::Time;

/// A limit of unknown length is probed after this long, and then after twice as long, up to the cap.
const FIRST_PROBE: Duration = Duration::from_secs(300);
const LONGEST_PROBE: Duration = Duration::from_secs(3600);
/// An agent that is still limited when it said it would not be is believed less and less.
const FIRST_DOUBT: Duration = Duration::from_secs(15);

/// Until when an agent is not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Until {
    /// Until a person makes it usable again.
    Person {
        /// Why no time would help.
        #[serde(rename = "gone")]
        why: String,
    },
    /// Until this time.
    Time {
        /// When.
        #[serde(rename = "until")]
        at: Time,
        /// Whether the agent reported it; else it is a guess.
        told: bool,
    },
}

/// A usage limit of an agent, as a task knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentLimit {
    /// Until when the agent is not started.
    pub until: Time,
    /// Whether the agent reported the time; else it is a guess.
    pub told: bool,
    /// The account it belongs to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The task that reached it; none when it was this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<TaskId>,
    /// It was waited out, so it no longer counts: the wall clock may have been set back meanwhile and say otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over: bool,
}

impl AgentLimit {
    fn holds(&self, now: Time) -> bool {
        !self.over && self.until > now
    }
}

/// Why an agent is not started now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable<'a> {
    /// Its usage limit is reached.
    Limited(&'a AgentLimit),
    /// Only a person can make it usable again, and why.
    Unusable(&'a str),
}

impl Submission {
    /// The agents in the order of preference.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.agent.as_str()).chain(self.fallbacks.iter().map(String::as_str))
    }
}

impl Task {
    /// Why this agent is not started now; none when it may be.
    pub fn unavailable(&self, agent: &str, now: Time) -> Option<Unavailable<'_>> {
        let limited = || self.limited.get(agent).filter(|limit| limit.holds(now)).map(Unavailable::Limited);
        self.unusable.get(agent).map(|why| Unavailable::Unusable(why)).or_else(limited)
    }

    /// The agent of the next session.
    pub fn next_agent(&self, now: Time) -> &str {
        let free = self.candidates().find(|agent| self.unavailable(agent, now).is_none());
        free.unwrap_or(&self.submission.agent)
    }

    /// The agents that may work on the task as it is set up now.
    pub fn candidates(&self) -> impl Iterator<Item = &str> {
        let most = match self.submission.on_limit {
            OnLimit::Switch => usize::MAX,
            OnLimit::Wait | OnLimit::Ask | OnLimit::Stop => 1,
        };
        self.submission.agents().take(most)
    }

    /// Until when no agent of this task may be started; none when one may, or when no clock would help.
    pub fn limited_until(&self, now: Time) -> Option<Time> {
        let mut first = None;
        for agent in self.candidates() {
            match self.unavailable(agent, now) {
                None => return None,
                Some(Unavailable::Limited(limit)) => first = first.into_iter().chain([limit.until]).min(),
                Some(Unavailable::Unusable(_)) => {}
            }
        }
        first
    }

    /// How long to wait before a limit of unknown length is tried.
    pub(crate) fn probe_after(&self) -> Duration {
        let doublings = self.tally.probes.min(8);
        (FIRST_PROBE * (1 << doublings)).min(LONGEST_PROBE)
    }

    /// The least to wait for an agent that has just been limited, whatever it reported.
    pub(crate) fn wait_at_least(&self, agent: &str) -> Duration {
        match self.limited.get(agent) {
            // Another task's limit was never tried here.
            Some(AgentLimit { found_by: None, .. }) => {
                (FIRST_DOUBT * (1 << self.tally.limits.saturating_sub(1).min(8))).min(LONGEST_PROBE)
            }
            Some(AgentLimit { found_by: Some(_), .. }) | None => Duration::ZERO,
        }
    }

    /// Only a limit that this task ran into itself counts for how long the next one is waited for.
    pub(super) fn reach_limit(&mut self, agent: &str, limit: AgentLimit) {
        if limit.found_by.is_none() {
            self.tally.probes = if limit.told { 0 } else { self.tally.probes + 1 };
            self.tally.limits += 1;
        }
        self.limited.insert(agent.to_owned(), limit);
    }

    /// A usage limit that was waited out is over, even if the wall clock was set back meanwhile and says otherwise. A wait that a person
    /// ended by letting another agent work says nothing about the limit.
    pub(super) fn end_waited_limits(&mut self) {
        let State::Waiting { why: Wait::Limit, until: Some(waited), .. } = self.state else { return };
        if self.limited_until(self.updated).is_none() {
            return;
        }
        self.limited.values_mut().filter(|limit| limit.until <= waited).for_each(|limit| limit.over = true);
    }

    /// A person who resumes has seen to accounts, logins and programs; a time that was reported still counts after a mere pause.
    pub(super) fn forget_limits(&mut self) {
        self.unusable.clear();
        if !matches!(self.state, State::Paused) {
            self.limited.clear();
        }
    }

    /// Nothing known keeps this agent from being started any more.
    pub(super) fn forget_limit(&mut self, agent: &str) {
        self.limited.remove(agent);
        self.unusable.remove(agent);
    }
}
