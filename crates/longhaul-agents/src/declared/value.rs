//! The plain values of an agent's table: serde reads them, and each explains why an invalid value is refused.
//! They know neither keys nor files.

use std::collections::BTreeMap;

use longhaul_core::span;
use longhaul_core::task::{StopSignal, StopStep};
use serde::Deserialize;
use serde_json::Value;

use crate::launch::TERMINATE;

const LONGEST_TEXT: usize = 200;
const LONGEST_ARGUMENT: usize = 4096;
const MOST: usize = 200;

/// One line of text.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Line(pub(crate) String);

impl TryFrom<String> for Line {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Line, Self::Error> {
        match text.trim() {
            "" => Err("it is empty"),
            _ if text.chars().count() > LONGEST_TEXT => Err("it is too long"),
            _ if text.contains(char::is_control) => Err("it has a line break or a control character"),
            _ => Ok(Line(text)),
        }
    }
}

/// A program's name on PATH, or its absolute path.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Program(pub(crate) String);

impl TryFrom<String> for Program {
    type Error = String;

    /// A relative path would be searched in a workspace that the agent itself can write.
    fn try_from(text: String) -> Result<Program, String> {
        let fits = !text.is_empty() && !text.starts_with('-') && (text.starts_with('/') || !text.contains('/'));
        if fits { Ok(Program(text)) } else { Err(format!("`{}` is neither", shown(&text))) }
    }
}

/// A length of time, in milliseconds.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Millis(pub(crate) u64);

impl TryFrom<String> for Millis {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Millis, Self::Error> {
        millis(&text).filter(|millis| *millis > 0).map(Millis).ok_or("it is not a length of time")
    }
}

/// The name of a variable.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Variable(pub(crate) String);

impl TryFrom<String> for Variable {
    type Error = String;

    fn try_from(name: String) -> Result<Variable, String> {
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let fits = name.len() <= LONGEST_TEXT && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if begins && fits {
            Ok(Variable(name))
        } else {
            Err(format!("`{}` is not the name of a variable", shown(&name)))
        }
    }
}

/// Variables with values that are not secret.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "BTreeMap<Variable, String>")]
pub(crate) struct Variables(pub(crate) Vec<(String, String)>);

impl TryFrom<BTreeMap<Variable, String>> for Variables {
    type Error = String;

    fn try_from(table: BTreeMap<Variable, String>) -> Result<Variables, String> {
        for Variable(name) in table.keys() {
            if name.starts_with("LONGHAUL_") {
                return Err(format!("`{name}` is reserved for Longhaul"));
            }
            if longhaul_redact::is_secret_name(name) {
                return Err(format!("the value of `{name}` is secret: export the variable and list its name in `env`"));
            }
        }
        Ok(Variables(table.into_iter().map(|(name, value)| (name.0, value)).collect()))
    }
}

/// How a session is stopped.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub(crate) struct Stop(pub(crate) Vec<StopStep>);

impl Default for Stop {
    fn default() -> Stop {
        Stop(TERMINATE.to_vec())
    }
}

impl TryFrom<Vec<String>> for Stop {
    type Error = String;

    fn try_from(written: Vec<String>) -> Result<Stop, String> {
        let step = |text: &String| stop_step(text).ok_or_else(|| format!("`{}` is not a stop step", shown(text)));
        let steps: Vec<StopStep> = written.iter().map(step).collect::<Result<_, String>>()?;
        if steps.is_empty() { Err("it is empty".to_owned()) } else { Ok(Stop(steps)) }
    }
}

fn stop_step(text: &str) -> Option<StopStep> {
    let (signal, patience) = text.trim().split_once(' ')?;
    let signal = match signal {
        "INT" => StopSignal::Interrupt,
        "TERM" => StopSignal::Terminate,
        _ => return None,
    };
    Some(StopStep { signal, grace_ms: millis(patience)? })
}

fn millis(text: &str) -> Option<u64> {
    u64::try_from(span::read(text)?.as_millis()).ok()
}

/// Refuses what no key takes, at any depth: very long texts and lists, and texts that cannot be an argument.
pub(super) fn check_sizes(value: &Value) -> Result<(), &'static str> {
    match value {
        Value::String(text) if text.len() > LONGEST_ARGUMENT => Err("a text in it is too long"),
        Value::String(text) if text.contains('\0') => Err("a text in it has a NUL character"),
        Value::Array(all) if all.len() > MOST => Err("it has too many elements"),
        Value::Array(all) => all.iter().try_for_each(check_sizes),
        Value::Object(table) => table.values().try_for_each(check_sizes),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Untrusted text for a message: on one line, and shortened.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(80).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{}{more}", short.escape_debug())
}
