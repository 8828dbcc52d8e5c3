//! What a person can change while a task lives: limits, checks, agent, patience. One list for `edit` and `resume`.
//! Stored in an event, and folded into the submission; a change counts from the next session on.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Amount, Context, Driver, Hours, Limit, OnLimit, Sandbox, Submission};

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
    /// The agents to continue with at a usage limit.
    Fallbacks(Vec<String>),
    /// Agents as the configuration declares them now, by name: all of them.
    Declared(BTreeMap<String, Value>),
    /// Names of variables the agents need: those that are set where the agents were chosen, all of them.
    NeedsEnv(Vec<String>),
    /// What the agents may write.
    Sandbox(Sandbox),
    /// Whether the network is opened to the agents' tools.
    Network(bool),
    /// When a session continues the conversation of the last one.
    Context(Context),
    /// What a usage limit means.
    OnLimit(OnLimit),
    /// The hours of the day in which sessions may start; none is always.
    Hours(Option<Hours>),
    /// The model; none leaves it to the agent.
    Model(Option<String>),
    /// Who is served first.
    Priority(i64),
    /// Who carries it out.
    Driver(Driver),
}

impl Submission {
    /// Changes one setting.
    pub fn set(&mut self, setting: &Setting) {
        let patience = &mut self.patience;
        match setting {
            Setting::Limit(Limit::Sessions, cap) => {
                patience.max_sessions = cap.map(|cap| u32::try_from(cap).unwrap_or(u32::MAX));
            }
            Setting::Limit(Limit::Time, cap) => patience.max_time_ms = *cap,
            Setting::Limit(Limit::Tokens, cap) => patience.max_tokens = *cap,
            Setting::Limit(Limit::Cost, cap) => patience.max_cost_micros = *cap,
            // Nobody can set what an account allows.
            Setting::Limit(Limit::Usage, _) => {}
            Setting::Attempts(number) => patience.attempts = *number,
            Setting::IdleSessions(number) => patience.idle_sessions = *number,
            Setting::FixAttempts(number) => patience.fix_attempts = *number,
            Setting::Silence(span) => {
                patience.silence_ms = *span;
                self.undeclare("silence");
            }
            Setting::Wall(span) => {
                patience.wall_ms = *span;
                self.undeclare("wall");
            }
            Setting::Delay(span) => patience.delay_ms = *span,
            Setting::Once(once) => patience.once = *once,
            Setting::Checks(commands) => self.checks.clone_from(commands),
            Setting::Agent(name) => self.agent.clone_from(name),
            Setting::Fallbacks(names) => self.fallbacks.clone_from(names),
            Setting::Declared(tables) => self.declared.clone_from(tables),
            Setting::NeedsEnv(names) => self.needs_env.clone_from(names),
            Setting::Sandbox(sandbox) => self.sandbox = *sandbox,
            Setting::Network(network) => self.network = *network,
            Setting::Context(context) => self.context = *context,
            Setting::OnLimit(on_limit) => self.on_limit = *on_limit,
            Setting::Hours(hours) => self.hours = *hours,
            Setting::Model(name) => self.model.clone_from(name),
            Setting::Priority(number) => self.priority = *number,
            Setting::Driver(driver) => self.driver = *driver,
        }
    }
}

impl Submission {
    /// What a person says of the task counts before what the configuration says of an agent.
    fn undeclare(&mut self, key: &str) {
        for table in self.declared.values_mut().filter_map(serde_json::Value::as_object_mut) {
            table.remove(key);
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
            Setting::Once(false) => f.write_str("run session after session"),
            Setting::Checks(commands) if commands.is_empty() => f.write_str("no checks"),
            Setting::Checks(commands) => write!(f, "checks: {}", commands.join("; ")),
            Setting::Agent(name) => write!(f, "agent {name}"),
            Setting::Fallbacks(names) if names.is_empty() => f.write_str("no fallback agents"),
            Setting::Fallbacks(names) => write!(f, "fallback agents {}", names.join(", ")),
            Setting::Declared(tables) if tables.is_empty() => f.write_str("no configured agents"),
            Setting::Declared(tables) => {
                let names: Vec<&str> = tables.keys().map(String::as_str).collect();
                write!(f, "configuration reloaded for {}", names.join(", "))
            }
            Setting::NeedsEnv(names) if names.is_empty() => f.write_str("requires no variables"),
            Setting::NeedsEnv(names) => write!(f, "requires {}", names.join(", ")),
            Setting::Sandbox(sandbox) => write!(f, "sandbox {sandbox}"),
            Setting::Network(true) => f.write_str("network open"),
            Setting::Network(false) => f.write_str("network restricted by the sandbox"),
            Setting::Context(context) => write!(f, "context {context}"),
            Setting::OnLimit(on_limit) => write!(f, "on a usage limit {on_limit}"),
            Setting::Hours(Some(hours)) => write!(f, "hours {hours}"),
            Setting::Hours(None) => f.write_str("at any hour"),
            Setting::Model(Some(name)) => write!(f, "model {name}"),
            Setting::Model(None) => f.write_str("the agent's default model"),
            Setting::Priority(number) => write!(f, "priority {number}"),
            Setting::Driver(Driver::Supervised) => f.write_str("run by a worker"),
            Setting::Driver(Driver::Runner) => f.write_str("run by run-session"),
            Setting::Driver(Driver::External) => f.write_str("executed by an outside program"),
        }
    }
}

fn optional(span: Option<u64>) -> String {
    span.map_or_else(|| "unlimited".to_owned(), |span| Amount::Millis(span).to_string())
}
