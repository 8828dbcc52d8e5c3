//! Generates the reference page and the JSON schema for editors from the table of keys.
//! Printed by `config reference` and `config schema`; a test compares both with docs/reference and fails when they are stale.

use longhaul_agents::{BUILT_IN_KEYS, CUSTOM_KEYS, DeclaredKey, PLACEHOLDERS};
use serde_json::{Map, Value as Json, json};

use super::agent_tables::SECTION;
use super::file::PROFILES;
use super::key::Key;
use super::keys::{KEYS, defaults};
use super::kind::NONE;

/// What agents and profiles are called.
const NAMES: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

/// The JSON schema of both files.
pub fn schema() -> Json {
    let mut properties = Map::new();
    for key in KEYS {
        let (section, name) = key.split();
        let within =
            match section {
                Some(section) => {
                    properties
                        .entry(section)
                        .or_insert_with(|| json!({ "type": "object", "additionalProperties": false, "properties": {} }))
                        ["properties"]
                        .as_object_mut()
                }
                None => Some(&mut properties),
            };
        if let Some(within) = within {
            within.insert(name.to_owned(), key_schema(key));
        }
    }
    let of_profile: Map<String, Json> =
        properties.keys().map(|name| (name.clone(), json!({ "$ref": format!("#/properties/{name}") }))).collect();
    properties.insert(SECTION.to_owned(), agents_schema());
    properties.insert(
        PROFILES.to_owned(),
        json!({
            "type": "object",
            "description": "Named sets of keys, chosen with `longhaul run --profile NAME`.",
            "propertyNames": { "pattern": NAMES },
            "additionalProperties": { "type": "object", "additionalProperties": false, "properties": of_profile },
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Longhaul's configuration",
        "description": "a user's config.toml and a project's longhaul.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// The reference page.
pub fn page() -> String {
    let mut page = include_str!("reference_intro.md").to_owned();
    let mut section = Some("");
    for key in KEYS {
        if key.split().0 != section {
            section = key.split().0;
            let title = section.map_or_else(|| "Top level".to_owned(), |section| format!("`[{section}]`"));
            page.push_str(&format!("\n## {title}\n"));
        }
        page.push_str(&section_of(key));
    }
    page + &agents_section()
}

/// What a table `[agents.<name>]` takes. It names no built-in agents, so that a new agent does not change the schema.
fn agents_schema() -> Json {
    let table = |keys: &[DeclaredKey]| {
        let properties: Map<String, Json> =
            keys.iter().map(|key| (key.name.to_owned(), declared_schema(key))).collect();
        json!({ "type": "object", "additionalProperties": false, "properties": properties })
    };
    let mut custom = table(CUSTOM_KEYS);
    custom["required"] = json!(["argv"]);
    json!({
        "type": "object",
        "description": "Changes to built-in agents, and custom agents.",
        "propertyNames": { "pattern": NAMES },
        "additionalProperties": { "anyOf": [table(BUILT_IN_KEYS), custom] },
    })
}

fn declared_schema(key: &DeclaredKey) -> Json {
    let mut schema = key.takes.schema();
    schema["description"] = json!(format!("{}. Takes {}.", sentence(key.doc), key.takes.wanted()));
    schema
}

fn agents_section() -> String {
    let line = |key: &DeclaredKey| format!("- `{}`: {}; takes {}\n", key.name, key.doc, key.takes.wanted());
    let of = |keys: &[DeclaredKey]| keys.iter().map(line).collect::<String>();
    let placeholders: String = PLACEHOLDERS.iter().map(|(name, what)| format!("- `{{{name}}}`: {what}\n")).collect();
    include_str!("reference_agents.md")
        .replace("{BUILT_IN}", &of(BUILT_IN_KEYS))
        .replace("{CUSTOM}", &of(CUSTOM_KEYS))
        .replace("{PLACEHOLDERS}", &placeholders)
}

fn section_of(key: &Key) -> String {
    let shown = key.kind.show(&key.value(&mut defaults()));
    let off = key.off.map_or_else(String::new, |off| format!(", or `\"{NONE}\"`: {off}"));
    [
        format!("\n### `{}`\n\n", key.name),
        format!("{}. Controls {}.\n\n", sentence(key.doc), key.affects),
        format!("- takes {}{off}\n", key.kind.described()),
        format!("- default: `{shown}`\n"),
        format!("- variable: `{}`\n", key.variable()),
        format!("- in an untrusted `longhaul.toml`: {}\n", key.untrusted.describe()),
    ]
    .concat()
}

fn key_schema(key: &Key) -> Json {
    let kind = key.kind.schema();
    let mut schema = match key.off {
        Some(_) => json!({ "anyOf": [{ "const": NONE }, kind] }),
        None => kind,
    };
    let default = key.kind.json(&key.value(&mut defaults()));
    schema["default"] = if default.is_null() { json!(NONE) } else { default };
    schema["description"] = json!(format!("{}. Takes {}.", sentence(key.doc), key.kind.described()));
    schema
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
