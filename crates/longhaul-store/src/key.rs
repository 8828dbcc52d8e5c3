//! Idempotency keys: a caller's name for one request, so that a repeat is recognised and answered instead of made twice.
//!
//! Made by whoever accepts a request, kept by the store with the change that the request made. Pure.

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
}

impl Key {
    /// A key for an operation with this input, spelled so that equal requests have equal texts. The input of a change names its task.
    pub fn new(name: impl Into<String>, operation: impl Into<String>, input: &str) -> Key {
        Key { name: name.into(), operation: operation.into(), input: digest(input) }
    }
}
