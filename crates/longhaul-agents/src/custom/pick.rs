//! Finds a value in a line of JSON: a pointer in which `*` matches every element, and conditions on other values in the line.
//! Used by the reader of declared agents; a hostile line costs no more than any other.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::declared::shown;

/// At most this many values of one line are read; a hostile line may have millions.
const MOST: usize = 64;

/// The parts of a pointer.
pub(crate) type Pointer = Vec<String>;

/// Places in a line: one, or a list of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct Picks(Vec<Pick>);

impl TryFrom<Value> for Picks {
    type Error = String;

    fn try_from(value: Value) -> Result<Picks, String> {
        match value {
            Value::Array(all) if all.is_empty() => Err("it is empty".to_owned()),
            Value::Array(all) => all.into_iter().map(Pick::new).collect::<Result<_, String>>().map(Picks),
            one => Ok(Picks(vec![Pick::new(one)?])),
        }
    }
}

impl std::ops::Deref for Picks {
    type Target = [Pick];

    fn deref(&self) -> &[Pick] {
        &self.0
    }
}

/// One place in a line and its conditions; without a place, only whether the conditions hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pick {
    path: Option<Pointer>,
    when: Vec<(Pointer, Value)>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    path: Option<String>,
    when: BTreeMap<String, Value>,
}

impl Pick {
    fn new(value: Value) -> Result<Pick, String> {
        let Written { path, when } = match value {
            Value::String(path) => Written { path: Some(path), ..Written::default() },
            table @ Value::Object(_) => Written::deserialize(table).map_err(|error| error.to_string())?,
            other => return Err(format!("`{}` is not a JSON pointer or a table", shown(&other.to_string()))),
        };
        if path.is_none() && when.is_empty() {
            return Err("it needs a `path` or a `when`".to_owned());
        }
        let path = path.as_deref().map(pointer).transpose()?;
        Ok(Pick { path, when: when.into_iter().map(condition).collect::<Result<_, String>>()? })
    }

    /// The values it picks from a line.
    pub(crate) fn find<'a>(&self, line: &'a Value) -> Vec<&'a Value> {
        match &self.path {
            Some(path) if self.holds(line) => values(line, path),
            Some(_) | None => Vec::new(),
        }
    }

    /// Whether the line has it: its conditions hold, and the value is neither null nor false.
    pub(crate) fn says_yes(&self, line: &Value) -> bool {
        let yes = |value: &&Value| !matches!(value, Value::Null | Value::Bool(false));
        self.holds(line) && self.path.as_ref().is_none_or(|path| values(line, path).iter().any(yes))
    }

    fn holds(&self, line: &Value) -> bool {
        self.when.iter().all(|(at, wanted)| values(line, at).into_iter().any(|found| found == wanted))
    }
}

/// The parts of a JSON pointer (RFC 6901), if it is one that points below the whole line.
fn pointer(text: &str) -> Result<Pointer, String> {
    let rest = text.strip_prefix('/').filter(|_| text.len() <= 1000);
    let rest = rest.ok_or_else(|| format!("`{}` is not a JSON pointer", shown(text)))?;
    Ok(rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
}

fn condition((at, value): (String, Value)) -> Result<(Pointer, Value), String> {
    match value {
        Value::String(_) | Value::Bool(_) => Ok((pointer(&at)?, value)),
        Value::Number(ref number) if !number.is_f64() => Ok((pointer(&at)?, value)),
        _ => Err(format!("it compares `{}` with a value that is not a text, whole number or boolean", shown(&at))),
    }
}

fn values<'a>(line: &'a Value, path: &[String]) -> Vec<&'a Value> {
    path.iter()
        .fold(vec![line], |found, part| found.into_iter().flat_map(|value| step(value, part)).take(MOST).collect())
}

fn step<'a>(value: &'a Value, part: &str) -> Vec<&'a Value> {
    match (value, part) {
        (Value::Array(elements), "*") => elements.iter().take(MOST).collect(),
        (Value::Array(elements), _) => part.parse::<usize>().ok().and_then(|at| elements.get(at)).into_iter().collect(),
        (Value::Object(members), _) => members.get(part).into_iter().collect(),
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(text: &str) -> Pick {
        Pick::new(json!(text)).unwrap()
    }

    #[test]
    fn a_pointer_finds_members_elements_and_every_element() {
        let line = json!({ "a": [{ "t": "x" }, { "t": "y" }, 1], "c/d": { "~": 5 } });
        assert_eq!(at("/a/*/t").find(&line), [&json!("x"), &json!("y")]);
        assert_eq!(at("/a/1/t").find(&line), [&json!("y")]);
        assert_eq!(at("/c~1d/~0").find(&line), [&json!(5)]);
        assert!(at("/a/9").find(&line).is_empty() && at("/b/c").find(&line).is_empty());
        assert!(pointer("a/b").is_err());
    }

    #[test]
    fn conditions_must_all_hold() {
        let pick = |kind: &str| Pick::new(json!({ "when": { "/type": kind } })).unwrap();
        assert!(pick("done").says_yes(&json!({ "type": "done" })));
        assert!(!pick("done").says_yes(&json!({ "type": "text" })) && !pick("done").says_yes(&json!({})));
        assert!(at("/over").says_yes(&json!({ "over": "yes" })) && !at("/over").says_yes(&json!({ "over": false })));
        assert!(Pick::new(json!({ "when": {} })).is_err() && Pick::new(json!({})).is_err());
    }

    #[test]
    fn a_line_with_no_end_of_values_is_cut() {
        let line = json!({ "a": vec![vec![1; 500]; 500] });
        assert_eq!(at("/a/*/*").find(&line).len(), MOST);
    }
}
