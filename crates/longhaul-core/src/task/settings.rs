//! What a person can change while a task lives: limits, checks, agent, patience. One table for `edit` and `resume`.
//! Stored in an event, and folded into the submission; a change counts from the next session on.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::names::TaskName;

use super::{Amount, Context, Driver, Hours, Limit, OnLimit, Sandbox, Submission};

/// A row is a setting and its type, the field of the submission that it changes, and the change in words.
macro_rules! settings {
    ($($(#[$doc:meta])+ $name:ident($type:ty): $($field:ident).+ => $words:expr;)+) => {
        /// One changed setting.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "setting", content = "value", rename_all = "snake_case")]
        pub enum Setting {
            /// A limit of the task; none takes it away.
            Limit(Limit, Option<u64>),
            $($(#[$doc])+ $name($type),)+
        }

        impl Submission {
            /// Changes one setting.
            pub fn set(&mut self, setting: &Setting) {
                match setting {
                    Setting::Limit(limit, cap) => self.patience.set_cap(*limit, *cap),
                    $(Setting::$name(value) => self.$($field).+.clone_from(value),)+
                }
                self.undeclare(setting);
            }
        }

        impl fmt::Display for Setting {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Setting::Limit(limit, Some(cap)) => write!(f, "{} {}", limit.flag(), limit.amount(*cap)),
                    Setting::Limit(limit, None) => write!(f, "no {}", limit.flag()),
                    $(Setting::$name(value) => {
                        let words: fn(&$type) -> String = $words;
                        f.write_str(&words(value))
                    })+
                }
            }
        }
    };
}

settings! {
    /// Its name.
    Name(TaskName): name => |name| format!("name {name}");
    /// Failed sessions in a row after which a person is asked.
    Attempts(u32): patience.attempts => |number| format!("attempts {number}");
    /// Sessions in a row without progress after which a person is asked.
    IdleSessions(u32): patience.idle_sessions => |number| format!("idle sessions {number}");
    /// Fixing sessions after failed checks.
    FixAttempts(u32): patience.fix_attempts => |number| format!("fix attempts {number}");
    /// Longest silence of one session, in milliseconds; none takes it away.
    Silence(Option<u64>): patience.silence_ms => |span| format!("silence {}", optional(*span));
    /// Longest time of one session, in milliseconds; none takes it away.
    Wall(Option<u64>): patience.wall_ms => |span| format!("wall {}", optional(*span));
    /// The pause between two sessions, in milliseconds.
    Delay(u64): patience.delay_ms => |span| format!("delay {}", Amount::Millis(*span));
    /// Whether the task pauses after each session.
    Once(bool): patience.once => |once| either(*once, "pause after the next session", "run session after session");
    /// The check commands, all of them.
    Checks(Vec<String>): checks => |commands| list("no checks", "checks: ", commands, "; ");
    /// The command that makes a worktree or a clean checkout usable; none takes it away.
    Setup(Option<String>): setup => |command| command.as_ref().map_or("no setup".to_owned(), |command| format!("setup: {command}"));
    /// The agent, by its name.
    Agent(String): agent => |name| format!("agent {name}");
    /// The agents to continue with at a usage limit.
    Fallbacks(Vec<String>): fallbacks => |names| list("no fallback agents", "fallback agents ", names, ", ");
    /// Agents as the configuration declares them now, by name: all of them.
    Declared(BTreeMap<String, Value>): declared => |tables| {
        let names: Vec<String> = tables.keys().cloned().collect();
        list("no configured agents", "configuration reloaded for ", &names, ", ")
    };
    /// Names of variables the agents need: those that are set where the agents were chosen, all of them.
    NeedsEnv(Vec<String>): needs_env => |names| list("requires no variables", "requires ", names, ", ");
    /// What the agents may write.
    Sandbox(Sandbox): sandbox => |sandbox| format!("sandbox {sandbox}");
    /// Whether the network is opened to the agents' tools.
    Network(bool): network => |open| either(*open, "network open", "network restricted by the sandbox");
    /// When a session continues the conversation of the last one.
    Context(Context): context => |context| format!("context {context}");
    /// What a usage limit means.
    OnLimit(OnLimit): on_limit => |on_limit| format!("on a usage limit {on_limit}");
    /// The hours of the day in which sessions may start; none is always.
    Hours(Option<Hours>): hours => |hours| hours.map_or("at any hour".to_owned(), |hours| format!("hours {hours}"));
    /// The model; none leaves it to the agent.
    Model(Option<String>): model => |model| match model {
        Some(name) => format!("model {name}"),
        None => "the agent's default model".to_owned(),
    };
    /// Who is served first.
    Priority(i64): priority => |number| format!("priority {number}");
    /// Who carries it out.
    Driver(Driver): driver => |driver| match driver {
        Driver::Supervised => "run by a worker".to_owned(),
        Driver::Runner => "run by run-session".to_owned(),
        Driver::External => "executed by an outside program".to_owned(),
    };
}

impl Submission {
    /// What a person says of the task counts before what the configuration says of an agent.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the configuration says nothing else of an agent")]
    fn undeclare(&mut self, setting: &Setting) {
        let key = match setting {
            Setting::Silence(_) => "silence",
            Setting::Wall(_) => "wall",
            _ => return,
        };
        for table in self.declared.values_mut().filter_map(serde_json::Value::as_object_mut) {
            table.remove(key);
        }
    }
}

fn optional(span: Option<u64>) -> String {
    span.map_or_else(|| "unlimited".to_owned(), |span| Amount::Millis(span).to_string())
}

fn either(is_so: bool, yes: &str, no: &str) -> String {
    if is_so { yes.to_owned() } else { no.to_owned() }
}

fn list(none: &str, begin: &str, all: &[String], between: &str) -> String {
    if all.is_empty() { none.to_owned() } else { format!("{begin}{}", all.join(between)) }
}
