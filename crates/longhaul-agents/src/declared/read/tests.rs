//! Tests: good tables mean what they say, and each mistake is told by its key with what to do.
//! They need no program and no file: a table is data.

use serde_json::{Value, json};

use super::*;
use crate::about::Ids;
use crate::agent::Agent;

fn read(table: &Value) -> Result<Declared, BadDeclaration> {
    Declared::read("mine", table)
}

fn custom(table: &Value) -> Arc<Custom> {
    read(table).unwrap().custom.unwrap()
}

#[test]
fn a_built_in_agent_takes_few_keys_and_no_definition() {
    let table = json!({ "program": "/opt/codex", "arguments": ["-c", "a=1"], "silence": "5m", "wall": "1h" });
    let declared = Declared::read("codex", &table).unwrap();
    assert_eq!(declared.program.as_deref(), Some("/opt/codex"));
    assert_eq!(declared.arguments, ["-c", "a=1"]);
    assert_eq!((declared.silence_ms, declared.wall_ms), (Some(300_000), Some(3_600_000)));
    assert!(declared.custom.is_none());
    let error = Declared::read("codex", &json!({ "argv": ["x"] })).unwrap_err();
    assert_eq!(error, BadDeclaration::UnknownKey { key: "argv".into() });
    assert!(Declared::read("mine", &json!({ "argv": ["x"], "program": "y" })).is_err(), "its program is in `argv`");
}

#[test]
fn how_ids_come_about_follows_from_the_keys() {
    let ids = |table: &Value| custom(table).about().ids;
    assert_eq!(ids(&json!({ "argv": ["x"] })), Ids::None);
    assert_eq!(ids(&json!({ "argv": ["x"], "resume": ["x", "{resume}"], "id": "/id" })), Ids::Captured);
    assert_eq!(ids(&json!({ "argv": ["x", "{session}"], "resume": ["x", "{resume}"] })), Ids::Preset);
}

#[test]
fn what_was_declared_stands_in_about() {
    let about_of = custom(&json!({ "argv": ["/opt/x"], "summary": "a tool", "env": ["X_KEY"], "version": ["-V"] }));
    let about = about_of.about();
    assert_eq!((&*about.name, &*about.summary, about.program.as_deref()), ("mine", "a tool", Some("/opt/x")));
    assert_eq!((about.env.len(), &*about.version.arguments[0]), (1, "-V"));
    assert!(about.modes.workspace.warning.as_ref().unwrap().contains("`mine`") && about.modes.full.warning.is_none());
}

/// A table that is wrong, the key that is to blame, and words of the message.
fn mistakes() -> Vec<(Value, Option<&'static str>, &'static str)> {
    vec![
        (json!([]), None, "not a table"),
        (json!({}), None, "`argv` is missing"),
        (json!({ "argv": [] }), Some("argv"), "a list of arguments"),
        (json!({ "argv": "x --json" }), Some("argv"), "`x --json`"),
        (json!({ "argv": ["./x"] }), Some("argv"), "absolute path"),
        (json!({ "argv": ["-x"] }), Some("argv"), "absolute path"),
        (json!({ "argv": ["x", []] }), Some("argv"), "inner list"),
        (json!({ "argv": ["x", 1] }), Some("argv"), "a list of arguments"),
        (json!({ "argv": ["x", "a\u{0}b"] }), Some("argv"), "a list of arguments"),
        (json!({ "argv": ["x", "{promt_file}"] }), Some("argv"), "`{prompt_file}`"),
        (json!({ "argv": ["x", "--model", "{model}"] }), Some("argv"), "an inner list together with its flag"),
        (json!({ "argv": ["x", "{resume}"] }), Some("argv"), "key `resume`"),
        (json!({ "argv": ["x", "{prompt_file}"] }), Some("argv"), "`prompt = \"file\"`"),
        (json!({ "argv": ["x"], "prompt": "file" }), Some("argv"), "`{prompt_file}`"),
        (json!({ "argv": ["x"], "prompt": "argument" }), Some("prompt"), "`stdin` or `file`"),
        (json!({ "argv": ["x"], "id": "/id" }), Some("id"), "`resume`"),
        (json!({ "argv": ["x"], "id": "/id", "resume": ["x"] }), Some("resume"), "`{resume}`"),
        (json!({ "argv": ["x"], "resume": ["x", "{resume}"] }), Some("resume"), "the id is unknown"),
        (json!({ "argv": ["x"], "id": "/id", "resume": ["y", "{resume}"] }), Some("resume"), "the same program"),
        (
            json!({ "argv": ["x"], "id": "/id", "resume": ["x", "{resume}", "{session}"] }),
            Some("resume"),
            "`{session}`",
        ),
        (json!({ "argv": ["x"], "text": "message" }), Some("text"), "`message` is not a JSON pointer"),
        (json!({ "argv": ["x"], "text": { "pat": "/a" } }), Some("text"), "`pat`"),
        (json!({ "argv": ["x"], "done": { "when": {} } }), Some("done"), "JSON pointer"),
        (json!({ "argv": ["x"], "done": { "when": { "/a": [] } } }), Some("done"), "`/a`"),
        (json!({ "argv": ["x"], "errors": [{ "contains": "a", "class": "limit" }] }), Some("errors"), "`limited`"),
        (json!({ "argv": ["x"], "errors": [{ "class": "limited" }] }), Some("errors"), "contains"),
        (json!({ "argv": ["x"], "stop": ["KILL 5s"] }), Some("stop"), "INT 10s"),
        (json!({ "argv": ["x"], "stop": [] }), Some("stop"), "signals"),
        (json!({ "argv": ["x"], "set": { "A_TOKEN": "x" } }), Some("set"), "export the variable"),
        (json!({ "argv": ["x"], "set": { "LONGHAUL_HOME": "x" } }), Some("set"), "reserved for Longhaul"),
        (json!({ "argv": ["x"], "env": ["a b"] }), Some("env"), "variable names"),
        (json!({ "argv": ["x"], "silence": "soon" }), Some("silence"), "`90s`"),
        (json!({ "argv": ["x"], "wall": "0s" }), Some("wall"), "more than zero"),
        (json!({ "argv": ["x"], "cumulative": 1 }), Some("cumulative"), "`true`"),
        (json!({ "argv": ["x"], "summary": "a\nb" }), Some("summary"), "one line"),
        (json!({ "argv": ["x"], "sumary": "a" }), Some("sumary"), "unknown key `sumary`"),
    ]
}

#[test]
fn every_mistake_is_told_by_its_key_with_what_to_do() {
    for (table, key, words) in mistakes() {
        let error = read(&table).map(|declared| panic!("{table} was taken: {declared:?}")).unwrap_err();
        assert_eq!(error.key(), key, "{table}: {error}");
        assert!(error.to_string().contains(words), "{table}: {error}");
    }
}

#[test]
fn a_name_follows_the_rule_of_names() {
    for name in ["", "-x", "a/b", "a b", ".x"] {
        assert!(matches!(Declared::read(name, &json!({ "argv": ["x"] })), Err(BadDeclaration::Name { .. })), "{name}");
    }
}

#[test]
fn every_key_is_one_that_is_read() {
    let built_in = BUILT_IN_KEYS.iter().map(|key| ("codex", key));
    for (kind, key) in built_in.chain(CUSTOM_KEYS.iter().map(|key| ("mine", key))) {
        let table = json!({ key.name: { "no": ["such", { "value": 1 }] } });
        let error = Declared::read(kind, &table).map(|_| panic!("`{}` takes anything", key.name)).unwrap_err();
        let told = error.key() == Some(key.name) || matches!(error, BadDeclaration::Missing { key: "argv", .. });
        assert!(told, "`{}`: {error}", key.name);
    }
}
