//! The limits of a task: sessions, working time, tokens and money. They hold over restarts, because what they count is in the task.
//! Asked by `decide` before each session, while one reports usage, and when a person changes them. Checks of the result never count.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Patience, Reached, SessionRun, Task};
use crate::units;

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Sessions of the agent.
    Sessions,
    /// Working time in milliseconds: the sum of the sessions, without waits, pauses and people.
    Time,
    /// Tokens, sent and written.
    Tokens,
    /// Money, in millionths of a dollar.
    Cost,
    /// What the agent's account allows; nothing that we count.
    Usage,
}

impl Limit {
    /// Every limit that we count, in the order they are looked at.
    pub const ALL: [Limit; 4] = [Limit::Sessions, Limit::Time, Limit::Tokens, Limit::Cost];

    /// The flag that sets it.
    pub fn flag(self) -> &'static str {
        match self {
            Limit::Sessions => "max-sessions",
            Limit::Time => "max-time",
            Limit::Tokens => "max-tokens",
            Limit::Cost => "max-cost",
            Limit::Usage => "on-limit",
        }
    }

    /// A number of this limit, for people.
    pub fn amount(self, number: u64) -> Amount {
        match self {
            Limit::Sessions | Limit::Tokens | Limit::Usage => Amount::Count(number),
            Limit::Time => Amount::Millis(number),
            Limit::Cost => Amount::MicroDollars(number),
        }
    }
}

/// A number with its unit, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// So many.
    Count(u64),
    /// A span.
    Millis(u64),
    /// Money.
    MicroDollars(u64),
    /// A size.
    Bytes(u64),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Amount::Count(number) => write!(f, "{number}"),
            Amount::Millis(number) => f.write_str(&units::span(Duration::from_millis(number))),
            Amount::MicroDollars(number) => write!(f, "${}.{:02}", number / 1_000_000, number % 1_000_000 / 10_000),
            Amount::Bytes(number) => f.write_str(&units::bytes(number)),
        }
    }
}

impl Task {
    /// The first limit that is used up, with what a live session used so far; none while the task may continue.
    pub fn limit_reached(&self) -> Option<Reached> {
        Limit::ALL.into_iter().find_map(|limit| {
            let cap = self.cap(limit)?;
            let used = self.used(limit)?;
            (used >= cap).then_some(Reached { limit, used, cap, family: None, family_name: None })
        })
    }

    /// What may still be worked, for the wall of the next session.
    pub fn time_left(&self) -> Option<Duration> {
        let cap = self.cap(Limit::Time)?;
        Some(Duration::from_millis(cap.saturating_sub(self.tally.worked_ms)))
    }

    /// The longest the next session may run: its own wall, or what is left of the task's working time.
    pub fn session_wall_ms(&self) -> Option<u64> {
        let left = self.time_left().map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1));
        match (self.submission.patience.wall_ms, left) {
            (Some(wall), Some(left)) => Some(wall.min(left)),
            (wall, left) => wall.or(left),
        }
    }

    /// What a limit allows; none when it is unlimited.
    pub fn cap(&self, limit: Limit) -> Option<u64> {
        self.submission.patience.cap(limit)
    }

    /// How much of a limit is used; none if unknown.
    pub fn used(&self, limit: Limit) -> Option<u64> {
        let usage =
            self.tally.usage.plus(self.state.session().map(|session: &SessionRun| session.usage).unwrap_or_default());
        match limit {
            Limit::Sessions => Some(u64::from(self.tally.agent_sessions)),
            Limit::Time => Some(self.tally.worked_ms),
            Limit::Tokens => usage.total(),
            Limit::Cost => usage.cost_micros,
            Limit::Usage => None,
        }
    }
}

impl Patience {
    /// Changes what a limit allows. Nobody can set what an account allows.
    pub(super) fn set_cap(&mut self, limit: Limit, cap: Option<u64>) {
        match limit {
            Limit::Sessions => self.max_sessions = cap.map(|cap| u32::try_from(cap).unwrap_or(u32::MAX)),
            Limit::Time => self.max_time_ms = cap,
            Limit::Tokens => self.max_tokens = cap,
            Limit::Cost => self.max_cost_micros = cap,
            Limit::Usage => {}
        }
    }

    /// What a limit allows; none when it is unlimited.
    pub fn cap(&self, limit: Limit) -> Option<u64> {
        match limit {
            Limit::Sessions => self.max_sessions.map(u64::from),
            Limit::Time => self.max_time_ms,
            Limit::Tokens => self.max_tokens,
            Limit::Cost => self.max_cost_micros,
            Limit::Usage => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Amount;

    #[test]
    fn amounts_read_well() {
        let text = |amount: Amount| amount.to_string();
        assert_eq!(text(Amount::Millis(5 * 3_600_000)), "5h 00m");
        assert_eq!(text(Amount::Millis(61_000)), "1m 01s");
        assert_eq!(text(Amount::MicroDollars(20_000_000)), "$20.00");
        assert_eq!(text(Amount::MicroDollars(1_230_000)), "$1.23");
        assert_eq!(text(Amount::Bytes(1 << 30)), "1.0 GiB");
        assert_eq!(text(Amount::Bytes(1536)), "1.5 KiB");
        assert_eq!(text(Amount::Bytes(12)), "12 B");
    }
}
