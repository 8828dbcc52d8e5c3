//! The resolved settings: plain values, one field per key of `keys.rs`, in the same sections.
//! Made by `load.rs`; read by the code that submits a task, starts a session or runs `gc`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as Json;

use longhaul_core::task::{ChecksIn, Context, Hours, OnLimit, Patience, Sandbox};

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `None`: one is chosen when a task is submitted.
    pub(crate) agent: Option<String>,
    pub(crate) fallbacks: Vec<String>,
    pub(crate) sandbox: Sandbox,
    pub(crate) network: bool,
    pub(crate) model: Option<String>,
    pub(crate) workspace: WorkspaceSettings,
    pub(crate) verify: VerifySettings,
    pub(crate) land: LandSettings,
    pub(crate) session: SessionSettings,
    /// Limits, and how patient a task is; `once` is not a key.
    pub patience: Patience,
    pub(crate) retention: RetentionSettings,
    /// Which variables an agent gets.
    pub env: EnvironmentSettings,
    /// Additional secrets.
    pub redact: RedactSettings,
    /// The tables of `[agents.<name>]`, by name.
    pub(crate) agents: BTreeMap<String, Json>,
    pub(crate) prompts: PromptSettings,
    pub(crate) serve: ServeSettings,
    /// Who is notified.
    pub notify: NotifySettings,
}

impl Settings {
    /// Whether a resident worker runs `gc` by itself.
    pub fn sweeps_automatically(&self) -> bool {
        self.retention.automatic
    }
}

/// Where the agent works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WorkspaceSettings {
    pub(crate) in_place: bool,
    /// `None`: no setup.
    pub(crate) setup: Option<String>,
    /// Patterns as in `.gitignore`.
    pub(crate) copy: Vec<String>,
}

/// How a result is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct VerifySettings {
    pub(crate) commands: Vec<String>,
    pub(crate) checks_in: ChecksIn,
}

/// How finished work lands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LandSettings {
    pub(crate) trailer: bool,
}

/// When and how a session starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionSettings {
    pub(crate) context: Context,
    pub(crate) on_limit: OnLimit,
    /// `None`: at any hour.
    pub(crate) hours: Option<Hours>,
}

/// How long finished tasks are kept; `None` is forever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RetentionSettings {
    pub(crate) age: Option<Duration>,
    pub(crate) count: Option<u64>,
    pub(crate) bytes: Option<u64>,
    /// Whether a resident worker sweeps by itself.
    pub(crate) automatic: bool,
}

/// Which variables an agent gets; names, never values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentSettings {
    pub(crate) need: Vec<String>,
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
pub(crate) struct PromptSettings {
    pub(crate) project: bool,
}

/// What the HTTP server allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServeSettings {
    /// `TENANT=DIRECTORY`, or the directory alone for the default tenant.
    pub(crate) projects: Vec<String>,
}

/// Who is notified about a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotifySettings {
    /// Occasions, as they are spelled.
    pub(crate) on: Vec<String>,
    /// A program and its arguments; empty means no program.
    pub(crate) command: Vec<String>,
    pub(crate) file: Option<String>,
    /// A URL, or `$NAME` for the variable that holds it.
    pub(crate) webhook: Option<String>,
    /// The name of the variable that holds the key.
    pub(crate) webhook_secret_env: Option<String>,
    /// `None`: where a desktop is found.
    pub(crate) desktop: Option<bool>,
    /// Whether whoever follows a task on a terminal hears its bell.
    pub terminal: bool,
    pub(crate) timeout: Duration,
}
