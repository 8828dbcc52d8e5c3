//! What a person declares about agents in the configuration: changes to a built-in agent, or a custom agent without Rust code.
//! The configuration reads the table when it is loaded, and `choose` reads it for every session. Both use the same reader, because
//! a task stores the table itself.

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
    /// The program's path, instead of its name on PATH.
    pub program: Option<String>,
    /// Extra arguments.
    pub arguments: Vec<String>,
    /// Longest silence of one session, in milliseconds, instead of the task's.
    pub silence_ms: Option<u64>,
    /// Longest time of one session, in milliseconds, instead of the task's.
    pub wall_ms: Option<u64>,
    /// The whole agent, if no built-in agent has this name.
    pub(crate) custom: Option<Arc<Custom>>,
}

/// A declaration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDeclaration {
    /// It is not a table.
    #[error("it is not a table")]
    NoTable,
    /// The name is invalid.
    #[error("`{name}` is not a valid name for an agent")]
    Name {
        /// What was written.
        name: String,
        /// Why not.
        #[source]
        source: BadName,
    },
    /// A key that does not exist, or not for this kind of agent.
    #[error("unknown key `{key}`")]
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
        /// What it takes.
        wanted: String,
    },
    /// A required key is missing.
    #[error("`{key}` is missing: {why}")]
    Missing {
        /// Which key.
        key: &'static str,
        /// What it is needed for.
        why: &'static str,
    },
    /// Keys that contradict each other.
    #[error("`{key}` conflicts with other keys: {why}")]
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
