//! One value of an agent's table, as JSON, made into what it means. Called by `read.rs`; says why when it is none.
//! It knows no keys and no files.

use longhaul_core::span;
use serde_json::Value;

use super::keys::CLASSES;
use crate::custom::{Pick, Rule, Template, Written};
use crate::launch::{Stdin, StopSignal, StopStep};

/// Why a value is none of its kind.
pub(super) enum Wrong {
    /// It is of another kind altogether.
    Kind,
    /// This part of it is wrong.
    Part(String),
}

/// What a value means, or why it means nothing.
pub(super) type Meaning<T> = Result<T, Wrong>;

const LONGEST_TEXT: usize = 200;
const LONGEST_ARGUMENT: usize = 4096;
const MOST: usize = 200;

pub(super) fn text(value: &Value) -> Meaning<String> {
    let fits = |text: &&str| {
        !text.trim().is_empty() && text.chars().count() <= LONGEST_TEXT && !text.contains(char::is_control)
    };
    value.as_str().filter(fits).map(str::to_owned).ok_or(Wrong::Kind)
}

pub(super) fn flag(value: &Value) -> Meaning<bool> {
    value.as_bool().ok_or(Wrong::Kind)
}

/// In milliseconds.
pub(super) fn millis(value: &Value) -> Meaning<u64> {
    let span = value.as_str().and_then(span::read).filter(|span| !span.is_zero()).ok_or(Wrong::Kind)?;
    u64::try_from(span.as_millis()).map_err(|_| Wrong::Kind)
}

/// A path that is not absolute would be looked for in a workspace that the agent itself writes.
pub(super) fn program(value: &Value) -> Meaning<String> {
    let text = argument(value)?;
    let fits = !text.is_empty() && !text.starts_with('-') && (text.starts_with('/') || !text.contains('/'));
    if fits { Ok(text) } else { Err(Wrong::Kind) }
}

pub(super) fn words(value: &Value) -> Meaning<Vec<String>> {
    list(value)?.iter().map(argument).collect()
}

pub(super) fn names(value: &Value) -> Meaning<Vec<String>> {
    let name = |value: &Value| value.as_str().filter(|name| is_variable(name)).map(str::to_owned).ok_or(Wrong::Kind);
    list(value)?.iter().map(name).collect()
}

pub(super) fn variables(value: &Value) -> Meaning<Vec<(String, String)>> {
    let table = value.as_object().ok_or(Wrong::Kind)?;
    table.iter().map(|(name, value)| Ok((variable(name)?, argument(value)?))).collect()
}

fn variable(name: &str) -> Meaning<String> {
    if !is_variable(name) {
        return Err(Wrong::Kind);
    }
    if name.starts_with("LONGHAUL_") {
        return Err(Wrong::Part(format!("`{name}`, which is one of Longhaul's own")));
    }
    if longhaul_redact::is_secret_name(name) {
        return Err(Wrong::Part(format!("`{name}`, whose value is a secret: export it and name it in `env`")));
    }
    Ok(name.to_owned())
}

/// What the program gets to read: the prompt, or nothing when that comes as a file.
pub(super) fn stdin(value: &Value) -> Meaning<Stdin> {
    match value.as_str() {
        Some("stdin") => Ok(Stdin::Prompt),
        Some("file") => Ok(Stdin::Null),
        _ => Err(Wrong::Kind),
    }
}

pub(super) fn stop(value: &Value) -> Meaning<Vec<StopStep>> {
    let steps: Vec<StopStep> = list(value)?.iter().map(stop_step).collect::<Meaning<_>>()?;
    if steps.is_empty() { Err(Wrong::Kind) } else { Ok(steps) }
}

fn stop_step(value: &Value) -> Meaning<StopStep> {
    let (word, patience) = value.as_str().and_then(|text| text.trim().split_once(' ')).ok_or(Wrong::Kind)?;
    let signal = match word {
        "INT" => StopSignal::Interrupt,
        "TERM" => StopSignal::Terminate,
        _ => return Err(Wrong::Kind),
    };
    let grace = span::read(patience).ok_or(Wrong::Kind)?;
    Ok(StopStep { signal, grace_ms: u64::try_from(grace.as_millis()).map_err(|_| Wrong::Kind)? })
}

/// The first is the program; every other stands alone or in an inner list.
pub(super) fn template(value: &Value) -> Meaning<Template> {
    let (first, rest) = list(value)?.split_first().ok_or(Wrong::Kind)?;
    let written = |value: &Value| match value {
        Value::Array(inner) if inner.is_empty() => Err(Wrong::Kind),
        Value::Array(_) => Ok(Written::Together(words(value)?)),
        _ => Ok(Written::Alone(argument(value)?)),
    };
    let arguments = rest.iter().map(written).collect::<Meaning<_>>()?;
    Template::new(program(first)?, arguments).map_err(Wrong::Part)
}

pub(super) fn picks(value: &Value) -> Meaning<Vec<Pick>> {
    let picks = match value {
        Value::Array(all) if all.is_empty() || all.len() > MOST => return Err(Wrong::Kind),
        Value::Array(all) => all.iter().map(pick).collect::<Meaning<Vec<Pick>>>()?,
        one => vec![pick(one)?],
    };
    Ok(picks)
}

fn pick(value: &Value) -> Meaning<Pick> {
    let pointer = |text: &str| {
        Pick::pointer(text).ok_or_else(|| Wrong::Part(format!("`{}`, which is no JSON pointer", shown(text))))
    };
    let table = match value {
        Value::String(text) => return Ok(Pick::at(pointer(text)?)),
        Value::Object(table) if !table.is_empty() => table,
        _ => return Err(Wrong::Kind),
    };
    if let Some(stranger) = table.keys().find(|key| *key != "path" && *key != "when") {
        return Err(Wrong::Part(format!("a table with `{}`, which has only `path` and `when`", shown(stranger))));
    }
    let path = table.get("path").map(|path| pointer(path.as_str().ok_or(Wrong::Kind)?)).transpose()?;
    let conditions = match table.get("when") {
        Some(when) => when.as_object().ok_or(Wrong::Kind)?.iter().map(|(at, value)| match value {
            Value::String(_) | Value::Bool(_) => Ok((pointer(at)?, value.clone())),
            Value::Number(number) if number.is_i64() || number.is_u64() => Ok((pointer(at)?, value.clone())),
            _ => Err(Wrong::Part(format!(
                "compared at `{}` with something that is no text, whole number or boolean",
                shown(at)
            ))),
        }),
        None => return Ok(Pick::at(path.ok_or(Wrong::Kind)?)),
    };
    Pick::when(path, conditions.collect::<Meaning<_>>()?).ok_or(Wrong::Kind)
}

pub(super) fn rules(value: &Value) -> Meaning<Vec<Rule>> {
    list(value)?.iter().map(rule).collect()
}

fn rule(value: &Value) -> Meaning<Rule> {
    let table = value.as_object().filter(|table| table.len() == 2).ok_or(Wrong::Kind)?;
    let contains = text(table.get("contains").ok_or(Wrong::Kind)?)?;
    let class = table.get("class").and_then(Value::as_str).ok_or(Wrong::Kind)?;
    let class = CLASSES.iter().find(|known| **known == class);
    let class = class
        .ok_or_else(|| Wrong::Part(format!("a rule for `{}` with a class that there is not", shown(&contains))))?;
    Ok(Rule::new(&contains, class))
}

fn list(value: &Value) -> Meaning<&Vec<Value>> {
    value.as_array().filter(|list| list.len() <= MOST).ok_or(Wrong::Kind)
}

fn argument(value: &Value) -> Meaning<String> {
    let fits = |text: &&str| text.len() <= LONGEST_ARGUMENT && !text.contains('\0');
    value.as_str().filter(fits).map(str::to_owned).ok_or(Wrong::Kind)
}

fn is_variable(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.len() <= LONGEST_TEXT && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A stranger's text inside a message: on one line, and not too much of it.
pub(super) fn shown(text: &str) -> String {
    let short: String = text.chars().take(80).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{}{more}", short.escape_debug())
}
