//! The tables `[agents.<name>]` of the two files: read with the position of each key, merged layer by layer, and checked as a whole.
//! `longhaul-agents` defines what the keys mean; this file adds file and line to its errors. It runs nothing and searches for no program.

use std::collections::BTreeMap;

use longhaul_agents::{AGENTS, BUILT_IN_KEYS, BadDeclaration, CUSTOM_KEYS, Declared, DeclaredKey};
use longhaul_core::names::TaskName;
use serde_json::{Map, Number, Value as Json};
use toml::de::{DeTable, DeValue};

use super::kind::NONE;
use super::load::{ConfigError, quoted};
use super::nearest::nearest;
use super::origin::Origin;

/// The name of the section.
pub(super) const SECTION: &str = "agents";

/// What the files declare about one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentTable {
    pub name: String,
    /// Where its table begins.
    pub origin: Origin,
    /// Its keys, by name.
    pub entries: BTreeMap<&'static str, AgentEntry>,
}

/// One key of an agent's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentEntry {
    pub value: Json,
    pub origin: Origin,
}

/// All tables, by the agents' names.
pub(super) type AgentTables = BTreeMap<String, AgentTable>;

impl AgentTable {
    /// The form that a task stores and `longhaul-agents` reads.
    pub(crate) fn json(&self) -> Json {
        let keys: Map<String, Json> =
            self.entries.iter().map(|(key, entry)| ((*key).to_owned(), entry.value.clone())).collect();
        Json::Object(keys)
    }

    /// Each key with its whole name and its value as a file writes it, in the order of the reference.
    pub(crate) fn written(&self) -> Vec<(String, String, &AgentEntry)> {
        let entries = keys_of(&self.name).iter().filter_map(|key| self.entries.get_key_value(key.name));
        entries.map(|(key, entry)| (self.key(key), written(&entry.value), entry)).collect()
    }

    /// The whole name of one of its keys.
    pub(crate) fn key(&self, key: &str) -> String {
        format!("{SECTION}.{}.{key}", toml_key(&self.name))
    }

    fn read(&self) -> Result<Declared, ConfigError> {
        Declared::read(&self.name, &self.json()).map_err(|bad| self.blame(&bad))
    }

    /// The error with the file and line to fix.
    fn blame(&self, bad: &BadDeclaration) -> ConfigError {
        let entry = bad.key().and_then(|key| self.entries.get(key));
        ConfigError::BadAgent {
            origin: entry.map_or(&self.origin, |entry| &entry.origin).clone(),
            table: format!("[{SECTION}.{}]", toml_key(&self.name)),
            why: bad.to_string(),
        }
    }
}

/// Merges a later layer, key by key.
pub(super) fn take(tables: &mut AgentTables, later: Vec<AgentTable>) {
    for table in later {
        match tables.get_mut(&table.name) {
            Some(have) => have.entries.extend(table.entries),
            None => {
                tables.insert(table.name.clone(), table);
            }
        }
    }
}

/// The keys of tables that would change something. They name programs to run, so an untrusted file may not set them.
pub(super) fn new_ones(tables: &AgentTables, untrusted: &[AgentTable]) -> Vec<String> {
    let is_new = |table: &&AgentTable| {
        let have = tables.get(&table.name);
        let have = |key: &str| have.and_then(|have| have.entries.get(key)).map(|entry| &entry.value);
        table.entries.is_empty() || table.entries.iter().any(|(key, entry)| have(key) != Some(&entry.value))
    };
    untrusted.iter().filter(is_new).map(|table| format!("{SECTION}.{}", toml_key(&table.name))).collect()
}

/// Checks every table as a whole.
pub(super) fn check(tables: &AgentTables) -> Result<(), ConfigError> {
    tables.values().try_for_each(|table| table.read().map(|_| ()))
}

/// Whether an agent with this name exists.
pub(super) fn is_agent(tables: &AgentTables, name: &str) -> bool {
    longhaul_agents::find(name).is_ok() || tables.contains_key(name)
}

/// The tables of a file; `place` turns a byte offset into an origin.
pub(super) fn read(section: &DeTable<'_>, place: &dyn Fn(usize) -> Origin) -> Result<Vec<AgentTable>, ConfigError> {
    let mut tables = Vec::new();
    for (name, value) in section {
        let origin = place(name.span().start);
        let name: &str = name.get_ref();
        check_name(name, &origin)?;
        let DeValue::Table(keys) = value.get_ref() else {
            let table = toml_key(name);
            return Err(ConfigError::BadValue {
                origin,
                key: format!("{SECTION}.{table}"),
                found: value.get_ref().type_str().to_owned(),
                wanted: format!("a table: `[{SECTION}.{table}]`"),
            });
        };
        let mut entries = BTreeMap::new();
        for (key, value) in keys {
            let origin = place(key.span().start);
            let known = known_key(name, key.get_ref(), &origin)?;
            entries.insert(known.name, AgentEntry { value: json(value.get_ref()), origin });
        }
        tables.push(AgentTable { name: name.to_owned(), origin, entries });
    }
    Ok(tables)
}

fn check_name(name: &str, origin: &Origin) -> Result<(), ConfigError> {
    let why = match TaskName::new(name) {
        Ok(_) if name != NONE => return Ok(()),
        Ok(_) => format!("`{NONE}` means no agent, so it cannot be a name"),
        Err(error) => error.to_string().replace("task name", "the name"),
    };
    Err(ConfigError::BadAgent {
        origin: origin.clone(),
        table: format!("[{SECTION}.{}]", quoted(&toml_key(name))),
        why,
    })
}

/// The keys that a table about this agent takes.
fn keys_of(agent: &str) -> &'static [DeclaredKey] {
    if longhaul_agents::find(agent).is_ok() { BUILT_IN_KEYS } else { CUSTOM_KEYS }
}

fn known_key(agent: &str, key: &str, origin: &Origin) -> Result<&'static DeclaredKey, ConfigError> {
    let keys = keys_of(agent);
    if let Some(known) = keys.iter().find(|known| known.name == key) {
        return Ok(known);
    }
    let names: Vec<&str> = keys.iter().map(|known| known.name).collect();
    let hint = if let Some(near) = nearest(key, names.iter().copied()) {
        format!("; did you mean `{near}`?")
    } else if longhaul_agents::find(agent).is_ok() {
        format!("; the built-in agent `{agent}` takes only `{}`", names.join("`, `"))
    } else if let Some(near) = nearest(agent, AGENTS.iter().map(|agent| &*agent.about().name)) {
        format!("; did you mean the agent `{near}`?")
    } else {
        "; `longhaul config reference` lists the keys of an agent table".to_owned()
    };
    Err(ConfigError::UnknownKey {
        origin: origin.clone(),
        key: quoted(&format!("{SECTION}.{}.{key}", toml_key(agent))),
        hint,
    })
}

fn json(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::String(text.to_string()),
        DeValue::Boolean(flag) => Json::Bool(*flag),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_or(Json::Null, |number| Json::Number(number.into())),
        DeValue::Float(float) => {
            float.as_str().parse().ok().and_then(Number::from_f64).map_or(Json::Null, Json::Number)
        }
        DeValue::Datetime(date) => Json::Array(vec![Json::String(date.to_string())]),
        DeValue::Array(items) => Json::Array(items.iter().map(|item| json(item.get_ref())).collect()),
        DeValue::Table(table) => Json::Object(
            table.iter().map(|(name, value)| (name.get_ref().to_string(), json(value.get_ref()))).collect(),
        ),
    }
}

/// A value as it is written in a file, on one line.
fn written(value: &Json) -> String {
    toml::Value::try_from(value).map_or_else(|_| "''".to_owned(), |value| value.to_string())
}

fn text_of(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A part of a dotted key.
fn toml_key(name: &str) -> String {
    let plain =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if plain { name.to_owned() } else { text_of(name) }
}
