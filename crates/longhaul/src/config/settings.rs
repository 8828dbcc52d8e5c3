//! The resolved settings: plain values, one field per key of `keys.rs`, in the same sections.
//! Made by `load.rs`; read by whoever turns them into a task's submission, a session or a sweep.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as Json;

use longhaul_core::task::{ChecksIn, Context, Hours, OnLimit, Sandbox};

/// Everything the configuration decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) agent: String,
    pub(crate) fallbacks: Vec<String>,
    pub(crate) sandbox: Sandbox,
    pub(crate) network: bool,
    pub(crate) model: Option<String>,
    pub(crate) workspace: WorkspaceSettings,
    pub(crate) verify: VerifySettings,
    pub(crate) limits: LimitSettings,
    pub(crate) children: ChildSettings,
    pub(crate) session: SessionSettings,
    pub(crate) floors: FloorSettings,
    pub(crate) log: LogSettings,
    pub(crate) retention: RetentionSettings,
    pub(crate) env: EnvironmentSettings,
    pub(crate) redact: RedactSettings,
    /// The tables of `[agents.<name>]`, by name.
    pub(crate) agents: BTreeMap<String, Json>,
    pub(crate) prompts: PromptSettings,
    pub(crate) notify: NotifySettings,
}

/// Where the agent works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WorkspaceSettings {
    pub(crate) in_place: bool,
    /// Nothing is no setup.
    pub(crate) setup: Option<String>,
}

/// How a result is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct VerifySettings {
    pub(crate) commands: Vec<String>,
    pub(crate) checks_in: ChecksIn,
    pub(crate) deadline: Duration,
    pub(crate) fix_attempts: u32,
}

/// When a task or a session is stopped, and how patient it is; nothing is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LimitSettings {
    pub(crate) max_sessions: Option<u32>,
    pub(crate) max_time: Option<Duration>,
    pub(crate) max_tokens: Option<u64>,
    /// In millionths of a US dollar.
    pub(crate) max_cost_micros: Option<u64>,
    pub(crate) idle_sessions: u32,
    pub(crate) attempts: u32,
    pub(crate) session_wall: Option<Duration>,
    pub(crate) session_silence: Option<Duration>,
    pub(crate) spare_busy: bool,
    pub(crate) backoff: Duration,
    pub(crate) backoff_cap: Duration,
    pub(crate) longest_wait: Duration,
}

/// How many tasks an agent may submit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChildSettings {
    pub(crate) max: u32,
    pub(crate) depth: u32,
}

/// Between and around sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionSettings {
    pub(crate) delay: Duration,
    pub(crate) context: Context,
    pub(crate) on_limit: OnLimit,
    /// Nothing is at any hour.
    pub(crate) hours: Option<Hours>,
    pub(crate) linger: Duration,
    pub(crate) inhibit_sleep: bool,
    pub(crate) scopes: bool,
}

/// What must be free before a session starts, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FloorSettings {
    pub(crate) memory: u64,
    pub(crate) disk: u64,
}

/// How much of an agent's output is kept, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LogSettings {
    pub(crate) segment: u64,
    pub(crate) cap: u64,
}

/// How long finished tasks stay; nothing is for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RetentionSettings {
    pub(crate) age: Option<Duration>,
    pub(crate) count: Option<u64>,
    pub(crate) bytes: Option<u64>,
}

/// Which variables an agent gets; names, never values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EnvironmentSettings {
    pub(crate) need: Vec<String>,
    /// Nothing is all of them; a list is strict mode.
    pub(crate) only: Option<Vec<String>>,
}

/// What else is a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RedactSettings {
    /// Names of variables whose values are secrets.
    pub(crate) extra: Vec<String>,
}

/// Whose prompt templates count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PromptSettings {
    pub(crate) project: bool,
}

/// Who is told what a task came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NotifySettings {
    /// Occasions, as they are spelled.
    pub(crate) on: Vec<String>,
    /// A program and its arguments; empty is none.
    pub(crate) command: Vec<String>,
    pub(crate) file: Option<String>,
    /// An address, or `$NAME` for the variable that holds it.
    pub(crate) webhook: Option<String>,
    /// The name of the variable that holds the key.
    pub(crate) webhook_secret_env: Option<String>,
    pub(crate) desktop: bool,
    pub(crate) timeout: Duration,
}
