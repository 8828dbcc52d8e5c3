//! The resolved settings: plain values, one field per key of `keys.rs`, in the same sections.
//! Made by `load.rs`; read by the code that submits a task, starts a session or runs `gc`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as Json;

use longhaul_core::task::{ChecksIn, Context, Hours, OnLimit, Patience, Sandbox};

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub agent: String,
    pub fallbacks: Vec<String>,
    pub sandbox: Sandbox,
    pub network: bool,
    pub model: Option<String>,
    pub workspace: WorkspaceSettings,
    pub verify: VerifySettings,
    pub session: SessionSettings,
    /// Limits, and how patient a task is; `once` is not a key.
    pub patience: Patience,
    pub retention: RetentionSettings,
    pub env: EnvironmentSettings,
    pub redact: RedactSettings,
    /// The tables of `[agents.<name>]`, by name.
    pub agents: BTreeMap<String, Json>,
    pub prompts: PromptSettings,
    pub notify: NotifySettings,
}

/// Where the agent works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceSettings {
    pub in_place: bool,
    /// `None`: no setup.
    pub setup: Option<String>,
}

/// How a result is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifySettings {
    pub commands: Vec<String>,
    pub checks_in: ChecksIn,
}

/// When and how a session starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSettings {
    pub context: Context,
    pub on_limit: OnLimit,
    /// `None`: at any hour.
    pub hours: Option<Hours>,
}

/// How long finished tasks are kept; `None` is forever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetentionSettings {
    pub age: Option<Duration>,
    pub count: Option<u64>,
    pub bytes: Option<u64>,
}

/// Which variables an agent gets; names, never values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentSettings {
    pub need: Vec<String>,
    /// `None`: all of them; a list is strict mode.
    pub only: Option<Vec<String>>,
}

/// Additional secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactSettings {
    /// Names of variables whose values are secrets.
    pub extra: Vec<String>,
}

/// Which prompt templates are used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSettings {
    pub project: bool,
}

/// Who is notified about a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotifySettings {
    /// Occasions, as they are spelled.
    pub on: Vec<String>,
    /// A program and its arguments; empty means no program.
    pub command: Vec<String>,
    pub file: Option<String>,
    /// A URL, or `$NAME` for the variable that holds it.
    pub webhook: Option<String>,
    /// The name of the variable that holds the key.
    pub webhook_secret_env: Option<String>,
    pub desktop: bool,
    pub timeout: Duration,
}
