//! Usage limits in words and data: which agent has to wait until when, and for what a waiting task waits.
//! Pure; the clock is handed in.

use std::time::Duration;

use longhaul_core::task::{OnLimit, State, Task, Wait};
use longhaul_core::time::Time;
use serde::Serialize;

use crate::out;

/// A limit that no clock ends is stored as one that ends in many years.
const FOR_GOOD: Duration = Duration::from_secs(365 * 24 * 3600);

/// One agent's usage limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AgentLimit {
    pub(crate) agent: String,
    /// Null when somebody has to fill the account first.
    pub(crate) until: Option<String>,
    #[serde(skip)]
    left: Duration,
}

impl AgentLimit {
    /// The limit in words, after the agent's name.
    pub(crate) fn words(&self) -> String {
        match &self.until {
            Some(until) => format!("{} until {until}, in {}", self.agent, out::span(self.left)),
            None => format!("{} has nothing left to use until somebody sees to its account", self.agent),
        }
    }
}

/// What a waiting task waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Waiting {
    pub(crate) why: String,
    pub(crate) until: Option<String>,
    /// Whose usage limit it is.
    pub(crate) agent: Option<String>,
}

/// The limits that hold now, in the order of the task's agents.
pub(crate) fn limits(task: &Task, now: Time) -> Vec<AgentLimit> {
    let held = task.submission.agents().filter_map(|agent| Some((agent, *task.limited.get(agent)?)));
    held.filter(|(_, until)| *until > now).map(|(agent, until)| limit(agent, until, now)).collect()
}

/// What the task waits for, when it does.
pub(crate) fn waiting(task: &Task) -> Option<Waiting> {
    let State::Waiting { why, until, .. } = &task.state else { return None };
    let agent = matches!(why, Wait::Limit).then(|| first_back(task)).flatten();
    Some(Waiting { why: why.to_string(), until: until.map(Time::rfc3339), agent: agent.map(str::to_owned) })
}

/// The agent whose limit ends first, of those that would do.
fn first_back(task: &Task) -> Option<&str> {
    let candidates = match task.submission.on_limit {
        OnLimit::Switch => usize::MAX,
        OnLimit::Wait | OnLimit::Ask | OnLimit::Stop => 1,
    };
    let held = task.submission.agents().take(candidates).filter_map(|agent| Some((*task.limited.get(agent)?, agent)));
    held.min_by_key(|(until, _)| *until).map(|(_, agent)| agent)
}

fn limit(agent: &str, until: Time, now: Time) -> AgentLimit {
    let left = until.since(now);
    AgentLimit { agent: agent.to_owned(), until: (left < FOR_GOOD).then(|| until.rfc3339()), left }
}
