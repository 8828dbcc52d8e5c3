//! One key of the configuration: what may be written for it, where its value goes, and what an untrusted file may do with it.
//! The rows are in `keys`; whoever reads or shows a value asks its key.

use longhaul_core::task::Setting;

use super::keys::KEYS;
use super::kind::{Kind, NONE};
use super::settings::Settings;
use super::value::{Raw, Slot, Value};

/// The place of one value in the settings.
pub(super) type Place = for<'a> fn(&'a mut Settings) -> &'a mut dyn Slot;

/// One key.
pub struct Key {
    /// Its name, with its section before the dot.
    pub name: &'static str,
    pub kind: Kind,
    /// The default, written as a variable would be.
    pub default: &'static str,
    /// What `none` means for it; without this it must have a value.
    pub off: Option<&'static str>,
    /// What it says, in one line.
    pub doc: &'static str,
    /// Which part of a task's life it changes.
    pub affects: &'static str,
    pub untrusted: Untrusted,
    pub place: Place,
    /// The flag of `run` that sets it, for messages.
    pub flag: Option<&'static str>,
    /// The change of a task that is there, if a flag of `edit` and `resume` can make it.
    pub edit: Option<fn(&Settings) -> Setting>,
}

/// What a `longhaul.toml` may do with a key before a person has trusted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untrusted {
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
    /// The rule as the reference says it.
    pub fn describe(self) -> &'static str {
        match self {
            Untrusted::Any => "any value",
            Untrusted::Lower => "only a lower one",
            Untrusted::Raise => "only a higher one",
            Untrusted::Nothing => "ignored",
        }
    }

    /// Whether a file that nobody trusted may change one value into another.
    pub fn allows(self, from: &Value, to: &Value) -> bool {
        match self {
            Untrusted::Any => true,
            Untrusted::Lower => to.is_at_most(from),
            Untrusted::Raise => from.is_at_most(to),
            Untrusted::Nothing => from == to,
        }
    }
}

impl Key {
    /// Finds a key by the parts of its name, so that a dot inside a quoted part is not taken for a section's.
    pub fn find(parts: &[&str]) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name.split('.').eq(parts.iter().copied()))
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("LONGHAUL_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// The section it is in, if any, and its name there.
    pub fn split(&self) -> (Option<&'static str>, &'static str) {
        self.name.split_once('.').map_or((None, self.name), |(section, name)| (Some(section), name))
    }

    /// The value that was written, or nothing when this key does not take it.
    pub fn read(&self, raw: &Raw) -> Option<Value> {
        match raw {
            Raw::Word(word) | Raw::Text(word) if self.off.is_some() && word.trim() == NONE => Some(Value::Nothing),
            _ => self.kind.read(raw),
        }
    }

    /// What may be written, in words.
    pub fn wanted(&self) -> String {
        match self.off {
            Some(meaning) => format!("{}, or `{NONE}` ({meaning})", self.kind.wanted()),
            None => self.kind.wanted(),
        }
    }

    /// The value it has in these settings.
    pub fn value(&self, settings: &mut Settings) -> Value {
        (self.place)(settings).get()
    }
}
