//! What is generated from the table of keys: the reference page and the JSON schema for editors.
//! Printed by `config schema`; a test compares both with docs/reference and fails when they are stale.

use serde_json::{Map, Value as Json, json};

use super::keys::{KEYS, Key, defaults};
use super::kind::NONE;

/// The JSON schema of both files.
pub(crate) fn schema() -> Json {
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
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Longhaul's configuration",
        "description": "config.toml of a user and longhaul.toml of a project",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// The reference page.
pub(crate) fn page() -> String {
    let mut page = include_str!("reference_intro.md").to_owned();
    let mut section = Some("");
    for key in KEYS {
        if key.split().0 != section {
            section = key.split().0;
            let title = section.map_or_else(|| "Without a section".to_owned(), |section| format!("`[{section}]`"));
            page.push_str(&format!("\n## {title}\n"));
        }
        page.push_str(&section_of(key));
    }
    page
}

fn section_of(key: &Key) -> String {
    let shown = key.kind.show(&key.value(&mut defaults()));
    let off = key.off.map_or_else(String::new, |off| format!(", or `\"{NONE}\"`: {off}"));
    [
        format!("\n### `{}`\n\n", key.name),
        format!("{}. Decides {}.\n\n", sentence(key.doc), key.affects),
        format!("- takes {}{off}\n", key.kind.described()),
        format!("- default: `{shown}`\n"),
        format!("- variable: `{}`\n", key.variable()),
        format!("- in a `longhaul.toml` that is not trusted: {}\n", key.untrusted.describe()),
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
    schema["description"] = json!(format!("{}. It takes {}.", sentence(key.doc), key.kind.described()));
    schema
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
