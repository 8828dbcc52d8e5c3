//! Where something stands in a line of JSON: a pointer in which `*` is every element, and what must hold elsewhere in the line.
//! Used by the reader of declared agents; a hostile line costs no more than any other.

use serde_json::Value;

/// So many values of one line are looked at; a hostile line has no end of them.
const MOST: usize = 64;

/// The parts of a pointer.
pub(crate) type Pointer = Vec<String>;

/// One place in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pick {
    path: Option<Pointer>,
    when: Vec<(Pointer, Value)>,
}

impl Pick {
    /// The parts of a JSON pointer (RFC 6901), if it is one that points below the whole line.
    pub(crate) fn pointer(text: &str) -> Option<Pointer> {
        let rest = text.strip_prefix('/').filter(|_| text.len() <= 1000)?;
        Some(rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
    }

    /// What stands there.
    pub(crate) fn at(path: Pointer) -> Pick {
        Pick { path: Some(path), when: Vec::new() }
    }

    /// What stands there while all of these hold; without a place it only says whether they do. Nothing at all says nothing.
    pub(crate) fn when(path: Option<Pointer>, when: Vec<(Pointer, Value)>) -> Option<Pick> {
        (path.is_some() || !when.is_empty()).then_some(Pick { path, when })
    }

    /// The values it picks from a line.
    pub(crate) fn find<'a>(&self, line: &'a Value) -> Vec<&'a Value> {
        match &self.path {
            Some(path) if self.holds(line) => values(line, path),
            Some(_) | None => Vec::new(),
        }
    }

    /// Whether the line has it: its conditions hold, and what stands there is neither null nor false.
    pub(crate) fn says_yes(&self, line: &Value) -> bool {
        let yes = |value: &&Value| !matches!(value, Value::Null | Value::Bool(false));
        self.holds(line) && self.path.as_ref().is_none_or(|path| values(line, path).iter().any(yes))
    }

    fn holds(&self, line: &Value) -> bool {
        self.when.iter().all(|(at, wanted)| values(line, at).into_iter().any(|found| found == wanted))
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
        Pick::at(Pick::pointer(text).unwrap())
    }

    #[test]
    fn a_pointer_finds_members_elements_and_every_element() {
        let line = json!({ "a": [{ "t": "x" }, { "t": "y" }, 1], "c/d": { "~": 5 } });
        assert_eq!(at("/a/*/t").find(&line), [&json!("x"), &json!("y")]);
        assert_eq!(at("/a/1/t").find(&line), [&json!("y")]);
        assert_eq!(at("/c~1d/~0").find(&line), [&json!(5)]);
        assert!(at("/a/9").find(&line).is_empty() && at("/b/c").find(&line).is_empty());
        assert_eq!(Pick::pointer("a/b"), None);
    }

    #[test]
    fn conditions_must_all_hold() {
        let pick = |kind: &str| Pick::when(None, vec![(Pick::pointer("/type").unwrap(), json!(kind))]).unwrap();
        assert!(pick("done").says_yes(&json!({ "type": "done" })));
        assert!(!pick("done").says_yes(&json!({ "type": "text" })) && !pick("done").says_yes(&json!({})));
        assert!(at("/over").says_yes(&json!({ "over": "yes" })) && !at("/over").says_yes(&json!({ "over": false })));
        assert_eq!(Pick::when(None, Vec::new()), None);
    }

    #[test]
    fn a_line_with_no_end_of_values_is_cut() {
        let line = json!({ "a": vec![vec![1; 500]; 500] });
        assert_eq!(at("/a/*/*").find(&line).len(), MOST);
    }
}
