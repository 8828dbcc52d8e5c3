//! One configuration key: which values it takes, where they are stored, and what an untrusted file may do with it.
//! The rows are in `keys.rs`; code that reads or shows a value asks its key.

use std::fmt;

use longhaul_core::task::Setting;

use super::keys::KEYS;
use super::kind::{Kind, NONE};
use super::settings::Settings;
use super::value::{Raw, Slot, Value};

/// The place of one value in the settings.
pub(super) type Place = for<'a> fn(&'a mut Settings) -> &'a mut dyn Slot;

/// One key.
pub(crate) struct Key {
    /// Its name, with its section before the dot.
    pub name: &'static str,
    pub kind: Kind,
    /// The default, written as a variable would be.
    pub default: &'static str,
    /// What `none` means for it; without this, the key must have a value.
    pub off: Option<&'static str>,
    /// What it sets, in one line.
    pub doc: &'static str,
    /// What it controls.
    pub affects: &'static str,
    pub untrusted: Untrusted,
    pub place: Place,
    /// The flag of `run` that sets it, for messages.
    pub flag: Option<&'static str>,
    /// The name of the flag's value and its line in `--help`, if the flag limits a task and needs nothing else.
    pub help: Option<(&'static str, &'static str)>,
    /// The change to an existing task, if `edit` and `resume` have a flag for it.
    pub edit: Option<fn(&Settings) -> Setting>,
}

/// A row of the table: a key that must have a value, needs trust, and applies to new tasks only.
pub(super) const fn key(name: &'static str, kind: Kind, default: &'static str, place: Place) -> Key {
    let (doc, affects, untrusted) = ("", "", Untrusted::Nothing);
    Key { name, kind, default, off: None, doc, affects, untrusted, place, flag: None, help: None, edit: None }
}

/// What else a row has.
impl Key {
    pub(super) const fn doc(self, doc: &'static str) -> Key {
        Key { doc, ..self }
    }

    pub(super) const fn affects(self, affects: &'static str) -> Key {
        Key { affects, ..self }
    }

    pub(super) const fn off(self, meaning: &'static str) -> Key {
        Key { off: Some(meaning), ..self }
    }

    pub(super) const fn untrusted(self, untrusted: Untrusted) -> Key {
        Key { untrusted, ..self }
    }

    pub(super) const fn flag(self, flag: &'static str) -> Key {
        Key { flag: Some(flag), ..self }
    }

    pub(super) const fn limit_flag(self, flag: &'static str, value: &'static str, help: &'static str) -> Key {
        Key { help: Some((value, help)), ..self.flag(flag) }
    }

    pub(super) const fn edit(self, edit: fn(&Settings) -> Setting) -> Key {
        Key { edit: Some(edit), ..self }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A flag of `run`, `edit` and `resume` that limits a task.
#[derive(Debug, Clone, Copy)]
pub struct LimitFlag {
    /// The key that it sets.
    pub key: &'static str,
    /// Its name, with the dashes.
    pub name: &'static str,
    /// The placeholder of its value in `--help`.
    pub value: &'static str,
    /// Its line in `--help`.
    pub help: &'static str,
}

/// The flags that limit a task.
pub fn limit_flags() -> impl Iterator<Item = LimitFlag> {
    KEYS.iter().filter_map(|key| {
        let (value, help) = key.help?;
        Some(LimitFlag { key: key.name, name: key.flag?, value, help })
    })
}

/// What a `longhaul.toml` may do with a key before a person has trusted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untrusted {
    /// Set it: no value within its bounds does harm.
    Any,
    /// Only lower it.
    Lower,
    /// Only raise it.
    Raise,
    /// Nothing: it runs a program, chooses who works or what is seen, or reaches beyond this project.
    Nothing,
}

impl Untrusted {
    /// The rule in the words of the reference page.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Untrusted::Any => "any value",
            Untrusted::Lower => "only a lower value",
            Untrusted::Raise => "only a higher value",
            Untrusted::Nothing => "ignored",
        }
    }

    /// Whether an untrusted file may change one value into another.
    pub(crate) fn allows(self, from: &Value, to: &Value) -> bool {
        match self {
            Untrusted::Any => true,
            Untrusted::Lower => to.is_at_most(from),
            Untrusted::Raise => from.is_at_most(to),
            Untrusted::Nothing => from == to,
        }
    }
}

impl Key {
    /// Finds a key by the parts of its name, so that a dot inside a quoted part does not count as a separator.
    pub(crate) fn find(parts: &[&str]) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name.split('.').eq(parts.iter().copied()))
    }

    /// The environment variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("LONGHAUL_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// The section it is in, if any, and its name there.
    pub(crate) fn split(&self) -> (Option<&'static str>, &'static str) {
        self.name.split_once('.').map_or((None, self.name), |(section, name)| (Some(section), name))
    }

    /// The value as this key reads it; `None` if the key does not take it.
    pub(crate) fn read(&self, raw: &Raw) -> Option<Value> {
        match raw {
            Raw::Word(word) | Raw::Text(word) if self.off.is_some() && word.trim() == NONE => Some(Value::Nothing),
            _ => self.kind.read(raw),
        }
    }

    /// Which values it takes, in words.
    pub(crate) fn wanted(&self) -> String {
        match self.off {
            Some(meaning) => format!("{}, or `{NONE}` ({meaning})", self.kind.wanted()),
            None => self.kind.wanted(),
        }
    }

    /// The value it has in these settings.
    pub(crate) fn value(&self, settings: &mut Settings) -> Value {
        (self.place)(settings).get()
    }
}
