//! The resolved settings: plain values, one field per key of `keys.rs`, in the same sections.
//! Made by `load.rs`; read by whoever turns them into a task's submission, a session or a sweep.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as Json;

use longhaul_core::task::{ChecksIn, Context, Hours, OnLimit, Patience, Sandbox};

/// Everything the configuration decides.
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
    /// Limits, and how patient a task is; `once` is no key.
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
    /// Nothing is no setup.
    pub setup: Option<String>,
}

/// How a result is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifySettings {
    pub commands: Vec<String>,
    pub checks_in: ChecksIn,
}

/// When and how a session begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSettings {
    pub context: Context,
    pub on_limit: OnLimit,
    /// Nothing is at any hour.
    pub hours: Option<Hours>,
}

/// How long finished tasks stay; nothing is for ever.
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
    /// Nothing is all of them; a list is strict mode.
    pub only: Option<Vec<String>>,
}

/// What else is a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactSettings {
    /// Names of variables whose values are secrets.
    pub extra: Vec<String>,
}

/// Whose prompt templates count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSettings {
    pub project: bool,
}

/// Who is told what a task came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotifySettings {
    /// Occasions, as they are spelled.
    pub on: Vec<String>,
    /// A program and its arguments; empty is none.
    pub command: Vec<String>,
    pub file: Option<String>,
    /// An address, or `$NAME` for the variable that holds it.
    pub webhook: Option<String>,
    /// The name of the variable that holds the key.
    pub webhook_secret_env: Option<String>,
    pub desktop: bool,
    pub timeout: Duration,
}
