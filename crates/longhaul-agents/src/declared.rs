//! What a person declares about agents in the configuration: changes of a built-in one, or a whole agent without Rust code.
//! Read from the table as it was written, by the configuration at load and by `choose` for every session; the same reader for both,
//! because a task stores the table itself.

mod keys;
mod read;
mod value;

use std::sync::Arc;

use longhaul_core::names::BadName;

pub(crate) use keys::Definition;
pub use keys::{BUILT_IN_KEYS, CUSTOM_KEYS, DeclaredKey, Takes};
pub(crate) use value::{Program, shown};

use crate::custom::Custom;

/// What a person declared about an agent.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    /// The program's path, in place of its name on PATH.
    pub program: Option<String>,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// Longest silence of one session, in milliseconds, in place of the task's.
    pub silence_ms: Option<u64>,
    /// Longest time of one session, in milliseconds, in place of the task's.
    pub wall_ms: Option<u64>,
    /// The whole agent, when none of this name is built in.
    pub(crate) custom: Option<Arc<Custom>>,
}

/// A declaration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDeclaration {
    /// It is not a table.
    #[error("it is no table of keys")]
    NoTable,
    /// The name is none.
    #[error("`{name}` is no name for an agent")]
    Name {
        /// What was written.
        name: String,
        /// Why not.
        #[source]
        source: BadName,
    },
    /// A key that does not exist, or not for this kind of agent.
    #[error("there is no key `{key}`")]
    UnknownKey {
        /// What was written.
        key: String,
    },
    /// A value that a key does not take.
    #[error("`{key}` cannot be {found}: {why}; it takes {wanted}")]
    BadValue {
        /// Which key.
        key: &'static str,
        /// What was written.
        found: String,
        /// What is wrong with it.
        why: String,
        /// What may be.
        wanted: String,
    },
    /// A key that must be there.
    #[error("`{key}` is missing: {why}")]
    Missing {
        /// Which key.
        key: &'static str,
        /// What it is needed for.
        why: &'static str,
    },
    /// Keys that do not go together.
    #[error("`{key}` does not fit the rest: {why}")]
    Contradiction {
        /// Which key.
        key: &'static str,
        /// What is wrong and what to do.
        why: &'static str,
    },
}

impl BadDeclaration {
    /// The key it is about, if it is about one that was written.
    pub fn key(&self) -> Option<&str> {
        match self {
            BadDeclaration::NoTable | BadDeclaration::Name { .. } | BadDeclaration::Missing { .. } => None,
            BadDeclaration::UnknownKey { key } => Some(key),
            BadDeclaration::BadValue { key, .. } | BadDeclaration::Contradiction { key, .. } => Some(key),
        }
    }
}
