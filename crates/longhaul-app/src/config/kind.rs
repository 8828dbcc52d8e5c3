//! The kinds of values: how each is read from a file, a variable or a flag, how it is shown, and how it is described.
//! `keys.rs` gives every key one kind; messages, the reference page and the schema take their words from here.

use std::time::Duration;

use longhaul_core::names::TaskName;
use longhaul_core::span;
use longhaul_core::task::Hours;
use serde_json::{Value as Json, json};

use super::value::{Raw, Value, millis};
use super::{money, size};
use crate::api_keys::is_name;

/// The word that turns an optional key off.
pub(super) const NONE: &str = "none";

const LONGEST_TEXT: usize = 4096;

/// What a key's value is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// The name of an agent.
    Agent,
    /// Names of agents, each once.
    Agents,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A time range within a day.
    Hours,
    /// The name of a model, which the agent gets as an argument.
    Model,
    /// Yes or no.
    Flag,
    /// A whole number within bounds.
    Count { least: u64, most: u64 },
    /// A length of time within bounds.
    Span { least: Duration, most: Duration },
    /// Bytes within bounds.
    Size { least: u64, most: u64 },
    /// US dollars, more than zero.
    Money,
    /// A command, one line for a shell.
    Command,
    /// Commands, each one line for a shell.
    Commands,
    /// Patterns of files, as in `.gitignore`.
    Patterns,
    /// Names of environment variables.
    Names,
    /// The name of one environment variable.
    Name,
    /// Some of these words, each once.
    Words(&'static [&'static str]),
    /// A program, by name or absolute path, and its arguments.
    Argv,
    /// An absolute path of a file.
    File,
    /// Absolute directories, each for one tenant.
    Projects,
    /// A URL without a password, or `$NAME` for the variable that holds it.
    Url,
}

impl Kind {
    /// The value as this kind; `None` if it is not of this kind.
    pub(crate) fn read(self, raw: &Raw) -> Option<Value> {
        match self {
            Kind::Agent => word(raw).filter(|name| is_agent(name)).map(Value::Text),
            Kind::Agents => list(raw, &[',', '\n']).filter(|all| are_agents(all)).map(Value::List),
            Kind::Choice(words) => word(raw).filter(|word| words.contains(&word.as_str())).map(Value::Text),
            Kind::Hours => {
                word(raw).and_then(|text| text.parse::<Hours>().ok()).map(|hours| Value::Text(hours.to_string()))
            }
            Kind::Model => word(raw).filter(|name| is_model(name)).map(Value::Text),
            Kind::Flag => flag(raw).map(Value::Flag),
            Kind::Count { least, most } => count(raw).filter(|n| (least..=most).contains(n)).map(Value::Number),
            Kind::Span { least, most } => {
                let span = word(raw).and_then(|text| span::read(&text)).filter(|span| (least..=most).contains(span));
                span.map(|span| Value::Number(millis(span)))
            }
            Kind::Size { least, most } => {
                word(raw).and_then(|text| size::read(&text)).filter(|s| (least..=most).contains(s)).map(Value::Number)
            }
            Kind::Money => amount(raw).filter(|micros| *micros > 0).map(Value::Number),
            Kind::Command => word(raw).filter(|command| is_command(command)).map(Value::Text),
            Kind::Commands => list(raw, &['\n']).filter(|all| all.iter().all(|one| is_command(one))).map(Value::List),
            Kind::Patterns => list(raw, &['\n']).filter(|all| all.iter().all(|one| is_command(one))).map(Value::List),
            Kind::Names => {
                list(raw, &[',', '\n']).filter(|all| all.iter().all(|one| is_variable(one))).map(Value::List)
            }
            Kind::Name => word(raw).filter(|name| is_variable(name)).map(Value::Text),
            Kind::Words(words) => list(raw, &[',', '\n']).filter(|all| are_among(all, words)).map(Value::List),
            Kind::Argv => list(raw, &['\n']).filter(|argv| is_argv(argv)).map(Value::List),
            Kind::File => word(raw).filter(|path| is_file(path)).map(Value::Text),
            Kind::Projects => list(raw, &['\n']).filter(|all| all.iter().all(|one| is_project(one))).map(Value::List),
            Kind::Url => word(raw).filter(|url| is_url(url)).map(Value::Text),
        }
    }

    /// Which values it takes, in words.
    pub(crate) fn wanted(self) -> String {
        match self {
            Kind::Agent => format!("an agent: {}", agent_names()),
            Kind::Agents => {
                format!("a list of agents without repeats (comma-separated in a variable): {}", agent_names())
            }
            Kind::Choice(words) => format!("`{}`", words.join("`, `")),
            Kind::Hours => "a time range such as `22:00-07:00`".to_owned(),
            Kind::Model => "the name of a model, which must not start with a hyphen".to_owned(),
            Kind::Flag => "`true` or `false`".to_owned(),
            Kind::Count { least, most } => format!("a whole number from {least} to {most}"),
            Kind::Span { least, most } => {
                format!("{}, from {} to {}", span::SPELLING, span::show(least), span::show(most))
            }
            Kind::Size { least, most } => {
                format!("{}, from {} to {}", size::SPELLING, size::show(least), size::show(most))
            }
            Kind::Money => format!("{}, more than zero", money::SPELLING),
            Kind::Command => "a command on one line".to_owned(),
            Kind::Commands => "a list of commands, each on one line (one per line in a variable)".to_owned(),
            Kind::Patterns => "a list of patterns as in `.gitignore` (one per line in a variable)".to_owned(),
            Kind::Names => "a list of variable names (comma-separated in a variable)".to_owned(),
            Kind::Name => "the name of a variable".to_owned(),
            Kind::Words(words) => {
                format!("a list of any of `{}`, without repeats (comma-separated in a variable)", words.join("`, `"))
            }
            Kind::Argv => {
                "a list: a program, by name or absolute path, then its arguments (one per line in a variable)"
                    .to_owned()
            }
            Kind::File => "the absolute path of a file".to_owned(),
            Kind::Projects => {
                "a list of absolute directories, with `TENANT=` before those of other tenants than `default` (one per line in a \
                 variable)"
                    .to_owned()
            }
            Kind::Url => "an `http://` or `https://` URL without a password, or `$NAME` for the variable that holds it"
                .to_owned(),
        }
    }

    /// The same for the reference page, which names no agents, so that a new agent does not change it.
    pub(crate) fn described(self) -> String {
        match self {
            Kind::Agent => "a name that `longhaul run --help` lists".to_owned(),
            Kind::Agents => {
                "a list of names that `longhaul run --help` lists, without repeats (comma-separated in a variable)"
                    .to_owned()
            }
            _ => self.wanted(),
        }
    }

    /// The value as it is written in a file.
    pub(crate) fn show(self, value: &Value) -> String {
        let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
        match value {
            Value::List(list) => format!("[{}]", list.iter().map(|one| text(one)).collect::<Vec<_>>().join(", ")),
            Value::Nothing => text(NONE),
            Value::Flag(_) | Value::Number(_) | Value::Text(_) => match self.json(value) {
                Json::String(written) => text(&written),
                number_or_flag => number_or_flag.to_string(),
            },
        }
    }

    /// The value as JSON: counts are numbers; values with a unit are written as in a file.
    pub(crate) fn json(self, value: &Value) -> Json {
        match (self, value) {
            (_, Value::Nothing) => Json::Null,
            (_, Value::Flag(flag)) => json!(flag),
            (_, Value::Text(name)) => json!(name),
            (_, Value::List(list)) => json!(list),
            (Kind::Span { .. }, Value::Number(millis)) => json!(span::show(Duration::from_millis(*millis))),
            (Kind::Size { .. }, Value::Number(bytes)) => json!(size::show(*bytes)),
            (Kind::Money, Value::Number(micros)) => json!(money::show(*micros)),
            (_, Value::Number(number)) => json!(number),
        }
    }

    /// The value's JSON schema.
    pub(crate) fn schema(self) -> Json {
        match self {
            Kind::Agent => json!({ "type": "string", "minLength": 1 }),
            Kind::Agents => {
                json!({ "type": "array", "uniqueItems": true, "items": { "type": "string", "minLength": 1 } })
            }
            Kind::Choice(words) => json!({ "enum": words }),
            Kind::Hours => {
                json!({ "type": "string", "pattern": "^\\s*\\d{2}:\\d{2}\\s*-\\s*\\d{2}:\\d{2}\\s*$", "examples": ["22:00-07:00"] })
            }
            Kind::Model => json!({ "type": "string", "pattern": "^[^-\\s]" }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Count { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Kind::Span { .. } => {
                json!({ "type": "string", "pattern": "^\\s*(\\d+\\s*(w|d|h|m|s|ms)\\s*)+$", "examples": ["90s", "1h30m"] })
            }
            Kind::Size { .. } => {
                json!({ "type": "string", "pattern": "^\\s*\\d+\\s*([KkMmGgTt][Ii]?)?[Bb]\\s*$", "examples": ["256MiB"] })
            }
            Kind::Money => json!({ "anyOf": [
                { "type": "number", "exclusiveMinimum": 0 },
                { "type": "string", "pattern": "^\\s*\\d+(\\.\\d{1,6})?\\s*$" }
            ] }),
            Kind::Command => json!({ "type": "string", "pattern": "\\S" }),
            Kind::Commands | Kind::Patterns => {
                json!({ "type": "array", "items": { "type": "string", "pattern": "\\S" } })
            }
            Kind::Names => {
                json!({ "type": "array", "items": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" } })
            }
            Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }),
            Kind::Words(words) => json!({ "type": "array", "uniqueItems": true, "items": { "enum": words } }),
            Kind::Argv => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::File => json!({ "type": "string", "pattern": "^/.*[^/]$" }),
            Kind::Projects => {
                json!({ "type": "array", "items": { "type": "string", "pattern": "^([A-Za-z0-9][A-Za-z0-9._-]*=)?/" } })
            }
            Kind::Url => json!({ "type": "string", "pattern": "^(https?://[^@\\s]+|\\$[A-Za-z_][A-Za-z0-9_]*)$" }),
        }
    }
}

fn word(raw: &Raw) -> Option<String> {
    match raw {
        Raw::Word(text) | Raw::Text(text) => Some(text.clone()),
        Raw::Integer(_) | Raw::Decimal(_) | Raw::Flag(_) | Raw::List(_) | Raw::Other(_) => None,
    }
}

fn flag(raw: &Raw) -> Option<bool> {
    match raw {
        Raw::Flag(flag) => Some(*flag),
        Raw::Word(word) => word.trim().parse().ok(),
        Raw::Text(_) | Raw::Integer(_) | Raw::Decimal(_) | Raw::List(_) | Raw::Other(_) => None,
    }
}

fn count(raw: &Raw) -> Option<u64> {
    match raw {
        Raw::Integer(number) => u64::try_from(*number).ok(),
        Raw::Word(word) => word.trim().parse().ok(),
        Raw::Text(_) | Raw::Decimal(_) | Raw::Flag(_) | Raw::List(_) | Raw::Other(_) => None,
    }
}

fn amount(raw: &Raw) -> Option<u64> {
    match raw {
        Raw::Integer(number) => money::read(&number.to_string()),
        Raw::Decimal(text) | Raw::Text(text) | Raw::Word(text) => money::read(text),
        Raw::Flag(_) | Raw::List(_) | Raw::Other(_) => None,
    }
}

fn list(raw: &Raw, separators: &[char]) -> Option<Vec<String>> {
    match raw {
        Raw::List(list) => Some(list.clone()),
        Raw::Word(word) => {
            Some(word.split(separators).map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect())
        }
        Raw::Text(_) | Raw::Integer(_) | Raw::Decimal(_) | Raw::Flag(_) | Raw::Other(_) => None,
    }
}

fn agent_names() -> String {
    let names: Vec<&str> = longhaul_agents::AGENTS.iter().map(|agent| &*agent.about().name).collect();
    format!("`{}`", names.join("`, `"))
}

fn are_agents(names: &[String]) -> bool {
    names.iter().enumerate().all(|(at, name)| is_agent(name) && !names[..at].contains(name))
}

/// Checks only the form. Whether the agent exists is known once every layer is read, because files declare agents too.
fn is_agent(name: &str) -> bool {
    TaskName::new(name).is_ok() && name != NONE
}

/// The model becomes an argument of the agent, which would read a leading hyphen as an option.
fn is_model(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('-')
        && !name.contains(|c: char| c.is_control() || c.is_whitespace())
}

fn is_command(command: &str) -> bool {
    !command.trim().is_empty() && command.len() <= LONGEST_TEXT && !command.contains(['\n', '\r', '\0'])
}

fn are_among(all: &[String], words: &[&str]) -> bool {
    all.iter().enumerate().all(|(at, one)| words.contains(&one.as_str()) && !all[..at].contains(one))
}

/// A relative path would name a different program in every directory.
fn is_argv(argv: &[String]) -> bool {
    let program = |name: &String| !name.is_empty() && (name.starts_with('/') || !name.contains('/'));
    argv.first().is_none_or(program) && argv.iter().all(|one| one.len() <= LONGEST_TEXT && !one.contains('\0'))
}

fn is_file(path: &str) -> bool {
    path.starts_with('/') && !path.ends_with('/') && path.len() <= LONGEST_TEXT && !path.contains(char::is_control)
}

fn is_project(text: &str) -> bool {
    let directory = match text.starts_with('/') {
        true => text,
        false => text.split_once('=').map_or("", |(tenant, directory)| if is_name(tenant) { directory } else { "" }),
    };
    directory.starts_with('/') && text.len() <= LONGEST_TEXT && !text.contains(char::is_control)
}

/// The part before an `@` would be a password in a file that others may read.
fn is_url(url: &str) -> bool {
    if let Some(name) = url.strip_prefix('$') {
        return is_variable(name);
    }
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = !url.contains(|c: char| c.is_control() || c.is_whitespace());
    !host.is_empty() && !host.contains('@') && is_plain && url.len() <= LONGEST_TEXT
}

fn is_variable(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.len() <= LONGEST_TEXT && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
