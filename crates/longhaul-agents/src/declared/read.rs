//! Reads a whole table: every key by its kind, then what must fit together. Pure; the file and the line are the caller's to tell.
//! It never looks whether a program is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_core::names::TaskName;
use serde_json::{Map, Value};

use super::keys::{DECLARED_KEYS, DeclaredKey, Whose};
use super::value::{self, Meaning, Wrong, shown};
use super::{BadDeclaration, Declared};
use crate::about::Ids;
use crate::custom::{Custom, Definition, Places, Template};
use crate::launch::{Stdin, StopSignal, StopStep};

const STOP: StopStep = StopStep { signal: StopSignal::Terminate, grace_ms: 5000 };

impl Declared {
    /// What a table declares about the agent of this name.
    pub fn read(name: &str, table: &Value) -> Result<Declared, BadDeclaration> {
        let source = |source| BadDeclaration::Name { name: shown(name), source };
        TaskName::new(name).map_err(source)?;
        let table = table.as_object().ok_or(BadDeclaration::NoTable)?;
        let kind = if crate::find(name).is_ok() { Whose::BuiltIn } else { Whose::Custom };
        let table = Table::new(table, kind)?;
        let custom = match kind {
            Whose::Custom => Some(Arc::new(Custom::new(table.definition(name)?))),
            Whose::BuiltIn | Whose::Both => None,
        };
        Ok(Declared {
            program: table.get("program", value::program)?,
            arguments: table.get("arguments", value::words)?.unwrap_or_default(),
            silence_ms: table.get("silence", value::millis)?,
            wall_ms: table.get("wall", value::millis)?,
            custom,
        })
    }
}

/// A table whose keys are all known.
struct Table<'a> {
    values: BTreeMap<&'static str, (&'static DeclaredKey, &'a Value)>,
}

impl<'a> Table<'a> {
    fn new(table: &'a Map<String, Value>, kind: Whose) -> Result<Table<'a>, BadDeclaration> {
        let mut values = BTreeMap::new();
        for (name, value) in table {
            let known = DECLARED_KEYS.iter().find(|key| key.name == name && key.whose.covers(kind));
            let key = known.ok_or_else(|| BadDeclaration::UnknownKey { key: shown(name) })?;
            values.insert(key.name, (key, value));
        }
        Ok(Table { values })
    }

    fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    fn get<T>(&self, name: &str, read: impl Fn(&Value) -> Meaning<T>) -> Result<Option<T>, BadDeclaration> {
        let Some((key, value)) = self.values.get(name) else { return Ok(None) };
        read(value).map(Some).map_err(|wrong| BadDeclaration::BadValue {
            key: key.name,
            found: match wrong {
                Wrong::Kind => found(value),
                Wrong::Part(part) => part,
            },
            wanted: key.takes.wanted(),
        })
    }

    fn definition(&self, name: &str) -> Result<Definition, BadDeclaration> {
        const NO_ARGV: &str = "it says how the agent is started, such as `[\"my-agent\", \"--json\"]`";
        let argv = self.get("argv", value::template)?;
        let argv = argv.ok_or(BadDeclaration::Missing { key: "argv", why: NO_ARGV })?;
        let resume = self.get("resume", value::template)?;
        let stdin = self.get("prompt", value::stdin)?.unwrap_or(Stdin::Prompt);
        self.check_conversation(&argv, resume.as_ref())?;
        check_prompt("argv", &argv, stdin)?;
        if let Some(resume) = &resume {
            check_prompt("resume", resume, stdin)?;
        }
        let ids = match &resume {
            None => Ids::None,
            Some(_) if argv.uses("session") => Ids::Preset,
            Some(_) => Ids::Captured,
        };
        Ok(Definition {
            name: name.to_owned(),
            summary: self.get("summary", value::text)?,
            argv,
            resume,
            ids,
            stdin,
            env: self.get("env", value::names)?.unwrap_or_default(),
            set: self.get("set", value::variables)?.unwrap_or_default(),
            stop: self.get("stop", value::stop)?.unwrap_or_else(|| vec![STOP]),
            version: self.get("version", value::words)?.unwrap_or_default(),
            places: self.places()?,
            cumulative: self.get("cumulative", value::flag)?.unwrap_or(false),
            rules: self.get("errors", value::rules)?.unwrap_or_default(),
        })
    }

    fn places(&self) -> Result<Places, BadDeclaration> {
        let picks = |name| Ok(self.get(name, value::picks)?.unwrap_or_default());
        Ok(Places {
            id: picks("id")?,
            text: picks("text")?,
            tool: picks("tool")?,
            input_tokens: picks("input_tokens")?,
            output_tokens: picks("output_tokens")?,
            cost: picks("cost")?,
            error: picks("error")?,
            limit_until: picks("limit_until")?,
            done: picks("done")?,
        })
    }

    /// An id that nobody knows cannot be resumed, and one that nobody resumes is of no use.
    fn check_conversation(&self, argv: &Template, resume: Option<&Template>) -> Result<(), BadDeclaration> {
        let wrong = |key, why: &str| Err(BadDeclaration::Contradiction { key, why: why.to_owned() });
        if argv.uses("resume") {
            return wrong("argv", "`{resume}` has a value only in the key `resume`");
        }
        let Some(resume) = resume else {
            return match self.has("id") {
                true => wrong("id", "it is of no use without `resume`, which says how a conversation goes on"),
                false => Ok(()),
            };
        };
        if !resume.uses("resume") {
            return wrong("resume", "it needs `{resume}`, the id of the conversation to go on with");
        }
        if resume.uses("session") {
            return wrong("resume", "`{session}` has a value only in `argv`, where a conversation begins");
        }
        if resume.program() != argv.program() {
            return wrong("resume", "it must start the same program as `argv`");
        }
        if !argv.uses("session") && !self.has("id") {
            return wrong(
                "resume",
                "nobody knows the id: say with `id` where the program prints it, or give it one with `{session}` in `argv`",
            );
        }
        Ok(())
    }
}

fn check_prompt(key: &'static str, template: &Template, stdin: Stdin) -> Result<(), BadDeclaration> {
    let why = match (stdin, template.uses("prompt_file")) {
        (Stdin::Null, false) => "with `prompt = \"file\"` it needs `{prompt_file}`, the file with the prompt",
        (Stdin::Prompt, true) => {
            "`{prompt_file}` needs `prompt = \"file\"`; without it the prompt comes by standard input"
        }
        (Stdin::Null, true) | (Stdin::Prompt, false) => return Ok(()),
    };
    Err(BadDeclaration::Contradiction { key, why: why.to_owned() })
}

/// What was written, for a message.
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
