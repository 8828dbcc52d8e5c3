//! What is read from an agent: the reader's small memory, the content of one line, the result of the session. Data and its few rules.
//! Filled by the agents' files; committed, shown and judged by the worker and the front ends.

use jiff::tz::TimeZone;
use longhaul_core::task::{Outcome, Usage};
use longhaul_core::time::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::one_line;

/// When and where a line was written; times of day that an agent prints are meaningless without it.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// When the line was written, as nearly as is known.
    pub now: Time,
    /// The zone the agent prints its times in.
    pub zone: &'a TimeZone,
}

/// A reader's small memory. It is committed with the offset, so a worker that adopts the session continues at the same place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader {
    /// The last verdict the agent gave of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Outcome>,
    /// Why the program can be stopped, if it can. A new turn clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<TurnEnd>,
    /// What the agent wanted and was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Counters that continue in the next session of the same conversation.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub carry: Value,
    /// Lines that were not understood.
    #[serde(default)]
    pub unknown_lines: u64,
    /// Whatever else the agent's file needs to remember.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub memory: Value,
}

impl Reader {
    /// The reader of a session that resumes a conversation.
    pub fn carrying(carry: Value) -> Reader {
        Reader { carry, ..Reader::default() }
    }

    /// Counts a line that was not understood.
    pub(crate) fn unknown_line(&mut self) -> Reading {
        self.unknown_lines += 1;
        Reading::default()
    }

    /// The memory as the type that the agent's file declares. One that cannot be read comes from another version: a reader that
    /// starts again is better than one that stops.
    pub(crate) fn recall<T: DeserializeOwned + Default>(&self) -> T {
        T::deserialize(&self.memory).unwrap_or_default()
    }

    /// Keeps this as the memory.
    pub(crate) fn remember<T: Serialize>(&mut self, memory: &T) {
        self.memory = serde_json::to_value(memory).unwrap_or_default();
    }

    /// Changes the memory.
    pub(crate) fn change<T: Serialize + DeserializeOwned + Default>(&mut self, change: impl FnOnce(&mut T)) {
        let mut memory = self.recall();
        change(&mut memory);
        self.remember(&memory);
    }

    /// The counters of the conversation so far, as the type that the agent's file declares.
    pub(crate) fn carried<T: DeserializeOwned + Default>(&self) -> T {
        T::deserialize(&self.carry).unwrap_or_default()
    }

    /// Keeps these counters for the next line and the next session of the conversation.
    pub(crate) fn carry_on<T: Serialize>(&mut self, counters: &T) {
        self.carry = serde_json::to_value(counters).unwrap_or_default();
    }

    /// Notes once what the agent wanted and was refused; a reader stays small however often an agent tries.
    pub(crate) fn note_refusal(&mut self, what: &str) {
        const MOST: usize = 20;
        let what = one_line(what, 200);
        if self.denied.len() < MOST && !self.denied.contains(&what) {
            self.denied.push(what);
        }
    }
}

/// What a running total has grown by. A total that fell has started again from zero.
pub(crate) fn grown(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now.map(|now| now.checked_sub(before.unwrap_or(0)).unwrap_or(now))
}

/// Why a program can be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// Its turn is over; what is still running is left over, and gets a short grace.
    Done,
    /// It keeps trying something that cannot succeed; it is stopped at once.
    #[serde(rename = "hopeless")]
    Unrecoverable,
}

/// What one line says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The agent's own conversation id.
    pub conversation: Option<String>,
    /// Tokens used since the last report.
    pub usage: Usage,
    /// What a person would want to see, unfiltered: escapes are taken out where it is printed.
    pub shown: Vec<Shown>,
}

impl Reading {
    /// Nothing but something to see.
    pub fn showing(what: Shown) -> Reading {
        Reading { shown: vec![what], ..Reading::default() }
    }
}

/// The result of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The class that recovery decides on.
    pub outcome: Outcome,
    /// What the agent wanted and was refused, although its turn ended well.
    pub denied: Vec<String>,
}

impl From<Outcome> for End {
    fn from(outcome: Outcome) -> End {
        End { outcome, denied: Vec::new() }
    }
}

/// Something for people to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// What the agent said.
    Text(String),
    /// What it did.
    Tool {
        /// With which tool.
        name: String,
        /// On what.
        detail: String,
    },
    /// What came of the last tool, in a few words.
    Result(String),
    /// Something about the session itself.
    Notice(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_refusals_stays_short_and_without_repeats() {
        let mut reader = Reader::default();
        for round in 0..100 {
            reader.note_refusal(&format!("Bash {}", round % 50));
        }
        assert_eq!(reader.denied.len(), 20);
        assert_eq!(reader.denied[0], "Bash 0");
    }
}
