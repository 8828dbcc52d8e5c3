//! `config`: every key of the configuration with its value, its default and where the value comes from.
//! Only reads, and makes nothing.

use longhaul_core::task::{Action, Right};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::app::Call;
use crate::config::{AgentTable, KEYS, Origin, Overrides, defaults};
use crate::error::AppError;
use crate::operation::{About, Answer, COMMAND_LINE, NoInput, Operation, Permit, View};

/// The operation `config`.
pub struct Config;

/// The configuration of a project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigView {
    /// Every key, in the order of the reference, then the keys of declared agents.
    pub keys: Vec<ConfigEntry>,
}

/// One key.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigEntry {
    /// Its name, with its section before the dot.
    pub key: String,
    /// Counts and flags as they are; what has a unit as text with its unit, such as `90s` or `2GiB`; null means `none`.
    pub value: Value,
    /// The value as a configuration file writes it.
    pub written: String,
    /// Where the value comes from.
    pub origin: Origin,
    /// The default value; null means `none`, or that a declared agent's key has no default.
    pub default: Value,
}

impl View for ConfigView {
    const KIND: &'static str = "config";
}

impl Operation for Config {
    const ABOUT: About =
        About::new("config", "Show the configuration and where each value comes from", Action::Read, COMMAND_LINE)
            .needs(Right::Admin);
    type Input = NoInput;
    type Output = ConfigView;

    async fn run(call: &Call, _: Permit, _: NoInput) -> Result<Answer<ConfigView>, AppError> {
        let mut loaded = call.load_config(&Overrides::default())?;
        // Whoever knows the address can write there in the person's name.
        if let Some(webhook) = loaded.settings.notify.webhook.as_mut().filter(|_| !call.caller.is_person()) {
            "(not shown)".clone_into(webhook);
        }
        let mut unset = defaults();
        let keys = KEYS.iter().map(|key| {
            let value = key.value(&mut loaded.settings);
            ConfigEntry {
                key: key.name.to_owned(),
                value: key.kind.json(&value),
                written: key.kind.show(&value),
                origin: loaded.origins[key.name].clone(),
                default: key.kind.json(&key.value(&mut unset)),
            }
        });
        let mut keys: Vec<ConfigEntry> = keys.collect();
        keys.extend(loaded.agents.values().flat_map(declared));
        Ok(Answer::new(ConfigView { keys }).warn(loaded.warnings()))
    }
}

/// What is declared about an agent.
fn declared(table: &AgentTable) -> Vec<ConfigEntry> {
    let entries = table.written().into_iter().map(|(key, written, entry)| ConfigEntry {
        key,
        value: entry.value.clone(),
        written,
        origin: entry.origin.clone(),
        default: Value::Null,
    });
    entries.collect()
}
