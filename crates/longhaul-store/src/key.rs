//! Idempotency keys: a caller's name for one request, so that a repeat is recognised and answered instead of made twice.
//!
//! Made by whoever accepts a request, kept by the store with the change that the request made. Pure.

use longhaul_core::time::Time;
use serde::{Deserialize, Serialize};

use crate::chain::digest;

/// A caller's name for one request. Each principal of a tenant has its own keys; a key identifies one operation and input, and anything
/// else under the same name is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// What the caller chose.
    pub name: String,
    /// What it asked for.
    pub operation: String,
    /// The digest of what it asked with, lower-case hex.
    pub input: String,
    /// Set if the caller chose no name, so that an equal request is only presumed to be a repeat: the key then names the task of the first
    /// one while that is unfinished, needs nobody, and was created after this time. Afterwards the next request takes the key over.
    #[serde(default)]
    pub guessed_after: Option<Time>,
}

impl Key {
    /// A key for an operation with this input, spelled so that equal requests have equal texts. The input of a change names its task.
    pub fn new(name: impl Into<String>, operation: impl Into<String>, input: &str) -> Key {
        Key { name: name.into(), operation: operation.into(), input: digest(input), guessed_after: None }
    }

    /// The key of a submission that nobody named: equal ones have the same. The name begins with these words, which must be no caller's.
    pub fn guessed(words: &str, operation: &str, input: &str, after: Time) -> Key {
        let key = Key::new("", operation, input);
        Key { name: format!("{words}{operation}/{}", key.input), guessed_after: Some(after), ..key }
    }
}
