//! Fields of a JSON input that its operation does not have, for a warning: some clients add their own, so they are no error, and a field that
//! is misspelled must not be ignored silently. Used by `operation` for every input from a server; the schema decides what is known.

use std::collections::BTreeSet;

use schemars::Schema;
use serde_json::Value;

/// So many are named.
const MOST: usize = 20;
/// So much of a name is shown.
const LONGEST: usize = 100;

/// A sentence for each field of the input that the operation's schema does not have, also within lists and objects.
pub(crate) fn warnings(operation: &str, schema: &Schema, input: &Value) -> Vec<String> {
    let mut unknown = BTreeSet::new();
    Reader { root: schema.as_value(), unknown: &mut unknown }.read(schema.as_value(), input, "");
    let more = unknown.len().saturating_sub(MOST);
    let named = unknown.iter().take(MOST).map(|field| format!("`{operation}` has no field `{field}`"));
    named.chain((more > 0).then(|| format!("`{operation}` does not have {more} other fields of the input"))).collect()
}

struct Reader<'a> {
    root: &'a Value,
    unknown: &'a mut BTreeSet<String>,
}

impl Reader<'_> {
    fn read(&mut self, schema: &Value, input: &Value, path: &str) {
        let alternatives = alternatives(self.root, schema);
        match input {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let path = join(path, name);
                    match alternatives.iter().find_map(|schema| field(schema, name)) {
                        Some(schema) => self.read(schema, value, &path),
                        None if alternatives.iter().any(|schema| has_fields(schema)) => {
                            self.unknown.insert(path);
                        }
                        // Of a value with the wrong type, the error is about the type.
                        None => {}
                    }
                }
            }
            Value::Array(items) => {
                let schema = alternatives.iter().find_map(|schema| schema.get("items"));
                let path = format!("{path}[]");
                items.iter().for_each(|item| schema.into_iter().for_each(|schema| self.read(schema, item, &path)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// The schema itself and what it is made of: a definition, or the members of an optional value.
fn alternatives<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let definition = schema.get("$ref").and_then(Value::as_str);
    let definition = definition.and_then(|path| root.pointer(path.strip_prefix('#')?));
    let members = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let more = definition.into_iter().chain(members).flat_map(|schema| alternatives(root, schema));
    std::iter::once(schema).chain(more).collect()
}

fn has_fields(schema: &Value) -> bool {
    schema.get("properties").is_some() || schema.get("type").is_some_and(|kind| kind == "object")
}

/// The schema of a field; of any field, if the object is a map.
fn field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let known = schema.get("properties").and_then(|known| known.get(name));
    known.or_else(|| schema.get("additionalProperties"))
}

fn join(path: &str, name: &str) -> String {
    let name: String = name.chars().take(LONGEST).collect();
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Input {
        name: String,
        items: Vec<Item>,
        best: Option<Item>,
        map: std::collections::BTreeMap<String, String>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Item {
        kind: String,
        parts: Option<Vec<Item>>,
    }

    fn found(input: &Value) -> Vec<String> {
        let sentence = "`x` has no field ";
        let warnings = warnings("x", &schemars::schema_for!(Input), input);
        warnings.iter().map(|text| text.strip_prefix(sentence).unwrap_or(text).replace('`', "")).collect()
    }

    #[test]
    fn unknown_fields_are_found_at_every_depth_and_once() {
        let input = json!({
            "name": { "first": "a wrong type" },
            "nam": 1,
            "items": [{ "kind": "a", "knd": 1 }, { "knd": 2, "parts": [{ "kind": "b", "size": 3 }] }],
            "best": { "kind": "a", "colour": "red" },
            "map": { "any": "thing" },
        });
        assert_eq!(found(&input), ["best.colour", "items[].knd", "items[].parts[].size", "nam"]);
        assert_eq!(found(&json!({ "items": null, "best": null, "map": [] })), [""; 0]);
    }

    #[test]
    fn what_is_said_of_many_has_a_bound() {
        let input: serde_json::Map<String, Value> = (0..100_000).map(|n| (format!("{n:06}"), json!([]))).collect();
        let found = found(&Value::Object(input));
        assert_eq!((found.len(), found[0].as_str()), (MOST + 1, "000000"));
        assert_eq!(found[MOST], "x does not have 99980 other fields of the input");
        let long = warnings("x", &schemars::schema_for!(Input), &json!({ "é".repeat(1_000): 1 }));
        assert!(long[0].len() < 300, "{long:?}");
    }
}
