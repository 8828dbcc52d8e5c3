//! What a person can change while a task lives: limits, checks, agent, patience. One list for `edit` and `resume`.
//! Stored in an event, and folded into the submission; a change counts from the next session on.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Amount, Limit, Submission};

/// One changed setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "setting", content = "value", rename_all = "snake_case")]
pub enum Setting {
    /// A limit of the task; none takes it away.
    Limit(Limit, Option<u64>),
    /// Failed sessions in a row after which a person is asked.
    Attempts(u32),
    /// Sessions in a row without progress after which a person is asked.
    IdleSessions(u32),
    /// Fixing sessions after failed checks.
    FixAttempts(u32),
    /// Longest silence of one session, in milliseconds; none takes it away.
    Silence(Option<u64>),
    /// Longest time of one session, in milliseconds; none takes it away.
    Wall(Option<u64>),
    /// The pause between two sessions, in milliseconds.
    Delay(u64),
    /// Whether the task pauses after each session.
    Once(bool),
    /// The check commands, all of them.
    Checks(Vec<String>),
    /// The agent, by its name.
    Agent(String),
    /// The model; none leaves it to the agent.
    Model(Option<String>),
    /// Who is served first.
    Priority(i64),
}

impl Submission {
    /// Changes one setting.
    pub fn set(&mut self, setting: &Setting) {
        let policy = &mut self.policy;
        match setting {
            Setting::Limit(Limit::Sessions, cap) => {
                policy.max_sessions = cap.map(|cap| u32::try_from(cap).unwrap_or(u32::MAX));
            }
            Setting::Limit(Limit::Time, cap) => policy.max_time_ms = *cap,
            Setting::Limit(Limit::Tokens, cap) => policy.max_tokens = *cap,
            Setting::Limit(Limit::Cost, cap) => policy.max_cost_micros = *cap,
            Setting::Attempts(number) => policy.attempts = *number,
            Setting::IdleSessions(number) => policy.idle_sessions = *number,
            Setting::FixAttempts(number) => policy.fix_attempts = *number,
            Setting::Silence(span) => policy.silence_ms = *span,
            Setting::Wall(span) => policy.wall_ms = *span,
            Setting::Delay(span) => policy.delay_ms = *span,
            Setting::Once(once) => policy.once = *once,
            Setting::Checks(commands) => self.checks.clone_from(commands),
            Setting::Agent(name) => self.agent.clone_from(name),
            Setting::Model(name) => self.model.clone_from(name),
            Setting::Priority(number) => self.priority = *number,
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Limit(limit, Some(cap)) => write!(f, "{} {}", limit.flag(), limit.amount(*cap)),
            Setting::Limit(limit, None) => write!(f, "no {}", limit.flag()),
            Setting::Attempts(number) => write!(f, "attempts {number}"),
            Setting::IdleSessions(number) => write!(f, "idle sessions {number}"),
            Setting::FixAttempts(number) => write!(f, "fix attempts {number}"),
            Setting::Silence(span) => write!(f, "silence {}", optional(*span)),
            Setting::Wall(span) => write!(f, "wall {}", optional(*span)),
            Setting::Delay(span) => write!(f, "delay {}", Amount::Millis(*span)),
            Setting::Once(true) => f.write_str("pause after the next session"),
            Setting::Once(false) => f.write_str("go on session after session"),
            Setting::Checks(commands) if commands.is_empty() => f.write_str("no checks"),
            Setting::Checks(commands) => write!(f, "checks: {}", commands.join("; ")),
            Setting::Agent(name) => write!(f, "agent {name}"),
            Setting::Model(Some(name)) => write!(f, "model {name}"),
            Setting::Model(None) => f.write_str("model left to the agent"),
            Setting::Priority(number) => write!(f, "priority {number}"),
        }
    }
}

fn optional(span: Option<u64>) -> String {
    span.map_or_else(|| "unlimited".to_owned(), |span| Amount::Millis(span).to_string())
}
