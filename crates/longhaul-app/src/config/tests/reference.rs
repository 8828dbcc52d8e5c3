//! Tests: the reference page and the schema are fresh, and say something about every key.
//! `UPDATE_DOCS=1` writes both.

use super::super::keys::KEYS;
use super::super::reference::{page, schema};

/// What stands in a generated file, after writing it when that is asked for.
fn stored(name: &str, text: &str) -> String {
    let path = format!("{}/../../docs/reference/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).expect("docs/reference exists");
    }
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn the_reference_page_is_fresh() {
    assert_eq!(stored("config.md", &page()), page());
}

#[test]
fn the_schema_is_fresh() {
    // As values: in which order members are written depends on which features other crates switch on.
    let stored = stored("config.schema.json", &format!("{:#}\n", schema()));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&stored).unwrap_or_default(), schema());
}

#[test]
fn page_and_schema_have_every_key_with_its_words() {
    let (page, schema) = (page(), schema());
    for key in KEYS {
        assert!(page.contains(&format!("### `{}`\n", key.name)), "{}", key.name);
        assert!(page.contains(&key.variable()), "{}", key.name);
        let pointer = match key.split() {
            (Some(section), name) => format!("/properties/{section}/properties/{name}"),
            (None, name) => format!("/properties/{name}"),
        };
        let described = schema.pointer(&pointer).unwrap_or_else(|| panic!("no {pointer}"));
        assert!(
            described["description"].as_str().unwrap().len() > 20 && !described["default"].is_null(),
            "{described}"
        );
        for words in [key.doc, key.affects] {
            assert!(words.len() > 10 && !words.ends_with('.') && words == words.trim(), "{}: {words}", key.name);
        }
    }
}

#[test]
fn page_and_schema_have_every_key_of_an_agents_table() {
    let (page, schema) = (page(), schema());
    let tables = schema.pointer("/properties/agents/additionalProperties/anyOf").unwrap();
    for key in longhaul_agents::BUILT_IN_KEYS.iter().chain(longhaul_agents::CUSTOM_KEYS) {
        assert!(page.contains(&format!("- `{}`: {}", key.name, key.doc)), "{}", key.name);
        let described = tables.as_array().unwrap().iter().any(|table| !table["properties"][key.name].is_null());
        assert!(described && !key.doc.ends_with('.'), "{}", key.name);
    }
    assert!(!page.contains("{CUSTOM}") && page.contains("`{prompt_file}`"));
}
