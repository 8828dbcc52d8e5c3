//! Reads a whole table: every key alone, then the rules between keys. Pure; the caller adds the file and the line.
//! It never checks whether a program exists.

use std::sync::Arc;

use longhaul_core::names::TaskName;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::keys::{BUILT_IN_KEYS, CUSTOM_KEYS, Changes, DeclaredKey, Definition};
use super::value::{check_sizes, shown};
use super::{BadDeclaration, Declared};
use crate::custom::{Custom, Template};
use crate::launch::Stdin;

impl Declared {
    /// What a table declares about the agent of this name.
    pub fn read(name: &str, table: &Value) -> Result<Declared, BadDeclaration> {
        let source = |source| BadDeclaration::Name { name: shown(name), source };
        TaskName::new(name).map_err(source)?;
        if crate::find(name).is_ok() {
            let Changes { program, arguments, silence, wall } = keys(table, BUILT_IN_KEYS)?;
            let (silence_ms, wall_ms) = (silence.map(|span| span.0), wall.map(|span| span.0));
            return Ok(Declared { program: program.map(|path| path.0), arguments, silence_ms, wall_ms, custom: None });
        }
        let definition: Definition = keys(table, CUSTOM_KEYS)?;
        if table.get("argv").is_none() {
            return Err(BadDeclaration::Missing {
                key: "argv",
                why: "it is the command that starts the agent, such as `[\"my-agent\", \"--json\"]`",
            });
        }
        definition.check_conversation()?;
        definition.check_prompt("argv", &definition.argv)?;
        definition.resume.iter().try_for_each(|resume| definition.check_prompt("resume", resume))?;
        Ok(Declared {
            silence_ms: definition.silence.map(|span| span.0),
            wall_ms: definition.wall.map(|span| span.0),
            custom: Some(Arc::new(Custom::new(name, definition))),
            ..Declared::default()
        })
    }
}

fn keys<T: DeserializeOwned>(table: &Value, keys: &'static [DeclaredKey]) -> Result<T, BadDeclaration> {
    for (name, value) in table.as_object().ok_or(BadDeclaration::NoTable)? {
        let key = keys.iter().find(|key| key.name == name);
        let key = key.ok_or_else(|| BadDeclaration::UnknownKey { key: shown(name) })?;
        let bad = |why: String| BadDeclaration::BadValue {
            key: key.name,
            found: found(value),
            why,
            wanted: key.takes.wanted(),
        };
        check_sizes(value).map_err(|why| bad(why.to_owned()))?;
        // Each key alone, so that an error names its key.
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        T::deserialize(Value::Object(alone)).map_err(|error| bad(error.to_string()))?;
    }
    T::deserialize(table).map_err(|_| BadDeclaration::NoTable)
}

impl Definition {
    /// An unknown id cannot be resumed, and an id that is never resumed is useless.
    fn check_conversation(&self) -> Result<(), BadDeclaration> {
        let (argv, has_id) = (&self.argv, !self.id.is_empty());
        let (key, why) = match &self.resume {
            _ if argv.uses("resume") => ("argv", "`{resume}` has a value only in the key `resume`"),
            None if has_id => ("id", "it has no effect without `resume`, the command that resumes a conversation"),
            None => return Ok(()),
            Some(resume) if !resume.uses("resume") => {
                ("resume", "it needs `{resume}`, the id of the conversation to resume")
            }
            Some(resume) if resume.uses("session") => {
                ("resume", "`{session}` has a value only in `argv`, which starts a conversation")
            }
            Some(resume) if resume.program() != argv.program() => {
                ("resume", "it must start the same program as `argv`")
            }
            Some(_) if !argv.uses("session") && !has_id => (
                "resume",
                "the id is unknown: set `id` to where the program prints it, or choose the id with `{session}` in `argv`",
            ),
            Some(_) => return Ok(()),
        };
        Err(BadDeclaration::Contradiction { key, why })
    }

    fn check_prompt(&self, key: &'static str, template: &Template) -> Result<(), BadDeclaration> {
        let why = match (self.prompt, template.uses("prompt_file")) {
            (Stdin::Null, false) => "with `prompt = \"file\"` it needs `{prompt_file}`, the file with the prompt",
            (Stdin::Prompt, true) => {
                "`{prompt_file}` needs `prompt = \"file\"`; otherwise the program gets the prompt on stdin"
            }
            (Stdin::Null, true) | (Stdin::Prompt, false) => return Ok(()),
        };
        Err(BadDeclaration::Contradiction { key, why })
    }
}

/// The value as written, for a message.
fn found(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", shown(text)),
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("`{}`", shown(&value.to_string()))
        }
    }
}

#[cfg(test)]
mod tests;
