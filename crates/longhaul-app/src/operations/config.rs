//! `config`: every key of the configuration with its value, its default and where the value comes from.
//! Only reads, and makes nothing.

use longhaul_core::task::{Action, Right};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::Call;
use crate::config::{AgentTable, Entry, KEYS, Origin, Overrides, defaults, no_key, profile_key};
use crate::error::AppError;
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};

/// The operation `config`.
pub struct Config;

/// What `config` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConfigInput {
    /// Only the key of this name, or the keys of the section of this name.
    #[serde(default)]
    pub name: Option<String>,
}

/// The configuration of a project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigView {
    /// Every key, in the order of the reference, then the keys of declared agents and of profiles.
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
    /// The default value; null means `none`, or that a key of a declared agent or a profile has no default.
    pub default: Value,
}

impl View for ConfigView {
    const KIND: &'static str = "config";
}

impl Operation for Config {
    const ABOUT: About =
        About::new("config", "Show the configuration and where each value comes from", Action::Read, COMMAND_LINE)
            .needs(Right::Admin);
    type Input = ConfigInput;
    type Output = ConfigView;

    async fn run(call: &Call, _: Permit, input: ConfigInput) -> Result<Answer<ConfigView>, AppError> {
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
        keys.extend(loaded.profiles.iter().map(of_profile));
        if let Some(wanted) = &input.name {
            let section = format!("{wanted}.");
            keys.retain(|entry| entry.key == *wanted || entry.key.starts_with(&section));
            if keys.is_empty() {
                return Err(no_key(wanted));
            }
        }
        Ok(Answer::new(ConfigView { keys }).warn(loaded.warnings()))
    }
}

/// A key of a profile.
fn of_profile((profile, entry): &(String, Entry)) -> ConfigEntry {
    ConfigEntry {
        key: profile_key(profile, entry.key),
        value: entry.key.kind.json(&entry.value),
        written: entry.key.kind.show(&entry.value),
        origin: entry.origin.clone(),
        default: Value::Null,
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
