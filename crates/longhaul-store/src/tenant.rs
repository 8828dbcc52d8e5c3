//! Whose tasks, names, keys and events these are. Tenants share one home, its workers and its Unix user.
//!
//! Chosen by whoever authenticates a caller, and bound to the store that the caller gets. Pure.

use serde::{Deserialize, Serialize};

/// One of those who share a home. The API keeps them apart; their agents run as the same user.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tenant(String);

impl Tenant {
    /// The name of the tenant whose home it is.
    pub const DEFAULT: &str = "default";

    /// The tenant of this name.
    pub fn new(name: impl Into<String>) -> Tenant {
        Tenant(name.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// The tenant of the person whose home it is.
impl Default for Tenant {
    fn default() -> Tenant {
        Tenant::new(Tenant::DEFAULT)
    }
}
