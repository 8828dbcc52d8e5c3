//! Agents that cannot be started now, in words and data: which one has to wait until when, which one needs a person and why, and for what
//! a waiting task waits. Pure; the clock is handed in.

use std::time::Duration;

use longhaul_core::task::{State, Task, Unavailable, Wait};
use longhaul_core::time::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// An agent that is not started now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnavailableAgent {
    /// The name of the agent.
    pub agent: String,
    /// When its usage limit ends; null when only a person can make it usable again.
    pub until: Option<String>,
    /// Why only a person can; null at a usage limit.
    pub unusable: Option<String>,
    #[serde(skip)]
    left: Duration,
}

impl UnavailableAgent {
    fn new(agent: &str, why: Unavailable<'_>, now: Time) -> UnavailableAgent {
        let (until, unusable) = match why {
            Unavailable::Limited(limit) => (Some(limit.until), None),
            Unavailable::Unusable(why) => (None, Some(why.to_owned())),
        };
        let left = until.map_or(Duration::ZERO, |until| until.since(now));
        UnavailableAgent { agent: agent.to_owned(), until: until.map(Time::rfc3339), unusable, left }
    }

    /// The cause, for a label.
    pub fn label(&self) -> &'static str {
        if self.unusable.is_some() { "unusable" } else { "limited" }
    }

    /// The agent and its reason, after the label.
    pub fn words(&self) -> String {
        match (&self.until, &self.unusable) {
            (Some(until), _) => format!("{} until {until}, in {}", self.agent, longhaul_core::units::span(self.left)),
            (None, why) => format!("{}: {}", self.agent, why.as_deref().unwrap_or("unknown")),
        }
    }

    /// On a line of its own.
    pub fn sentence(&self) -> String {
        match &self.unusable {
            Some(why) => format!("{} is unusable until a person fixes it: {why}", self.agent),
            None => format!("usage limit: {}", self.words()),
        }
    }
}

/// What a waiting task waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// What it waits for, in words.
    pub why: String,
    /// When it continues, if that is known.
    pub until: Option<String>,
    /// Whose usage limit it is.
    pub agent: Option<String>,
}

impl Waiting {
    /// A task in line for a slot or a directory, in words.
    pub fn in_line(&self) -> String {
        format!("waiting for a {}", self.why)
    }
}

/// The agents that are not started now, in the task's order.
pub fn unavailable(task: &Task, now: Time) -> Vec<UnavailableAgent> {
    let agents = task.submission.agents();
    agents.filter_map(|agent| Some(UnavailableAgent::new(agent, task.unavailable(agent, now)?, now))).collect()
}

/// What the task waits for, when it does.
pub fn waiting(task: &Task) -> Option<Waiting> {
    let State::Waiting { why, until, .. } = &task.state else { return None };
    let agent = matches!(why, Wait::Limit).then(|| first_back(task)).flatten();
    Some(Waiting { why: why.to_string(), until: until.map(Time::rfc3339), agent: agent.map(str::to_owned) })
}

/// The agent whose limit ends first, of those that would do.
fn first_back(task: &Task) -> Option<&str> {
    let usable = task.candidates().filter(|agent| !task.unusable.contains_key(*agent));
    let held = usable.filter_map(|agent| Some((task.limited.get(agent)?.until, agent)));
    held.min_by_key(|(until, _)| *until).map(|(_, agent)| agent)
}
