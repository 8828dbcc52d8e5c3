//! Usage limits of accounts, shared by all tasks of a home: what a change of one task says about them, and what a task does not know yet.
//! Pure. The store keeps the shared limits and asks in every commit; the owner of a task asks before each session.

use serde::{Deserialize, Serialize};

use super::{AgentLimit, Task};
use crate::ids::TaskId;
use crate::time::Time;

/// A usage limit that a task reached on an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountLimit {
    /// Which account: the agent and what selects its login, never a key or anything made of one.
    pub account: String,
    /// The agent that reached it.
    pub agent: String,
    /// Until when sessions on the account do not start.
    pub until: Time,
    /// Whether the agent reported the time; else it is a guess.
    pub told: bool,
    /// The task that reached it.
    pub task: TaskId,
}

/// What a change of a task says about an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountChange {
    /// Its limit is reached.
    Reached(AccountLimit),
    /// A limit that ends no later than this is over: a session got an answer, or a person says it is over.
    Cleared {
        /// Which account.
        account: String,
        /// The end of the limit that the task knew.
        until: Time,
    },
}

/// What a change of a task says about accounts. A limit learned from another task is that one's to report.
pub fn account_changes(before: &Task, after: &Task) -> Vec<AccountChange> {
    let is_known = |agent: &str, limit: &AgentLimit| {
        before.limited.get(agent).is_some_and(|known| (known.until, &known.account) == (limit.until, &limit.account))
    };
    let reached = after.limited.iter().filter(|(agent, limit)| !is_known(agent, limit));
    let reached = reached.filter(|(_, limit)| limit.found_by.is_none()).filter_map(|(agent, limit)| {
        let account = limit.account.clone()?;
        let (agent, until, told, task) = (agent.clone(), limit.until, limit.told, after.id);
        Some(AccountChange::Reached(AccountLimit { account, agent, until, told, task }))
    });
    let gone = before.limited.iter().filter(|(agent, _)| !after.limited.contains_key(*agent));
    let cleared = gone
        .filter_map(|(_, limit)| Some(AccountChange::Cleared { account: limit.account.clone()?, until: limit.until }));
    reached.chain(cleared).collect()
}

impl Task {
    /// Those limits that hold for an agent of this task and that it does not know. Its own are not news: what it forgot, a person or a
    /// session that got an answer made it forget. The runner tries, as the shell script does.
    pub fn unknown_limits(&self, shared: &[AccountLimit], now: Time) -> Vec<AccountLimit> {
        if !self.submission.driver.conduct().heeds_shared_limits {
            return Vec::new();
        }
        let is_news = |limit: &&AccountLimit| {
            let known = self.limited.get(&limit.agent).is_some_and(|known| known.until >= limit.until);
            limit.until > now && limit.task != self.id && !known
        };
        let of_agents = shared.iter().filter(|limit| self.submission.agents().any(|agent| agent == limit.agent));
        of_agents.filter(is_news).cloned().collect()
    }
}
