//! API keys as they are stored: who may call the HTTP server, for which tenant, with which rights, and until when.
//!
//! The key itself is never stored, only its digest. It has 256 random bits, so that nobody can guess a key whose digest begins in a
//! certain way: looking a digest up in an index gives nothing away. Pure.

use longhaul_core::task::Rights;
use longhaul_core::time::Time;

use crate::Tenant;
use crate::chain::digest;

/// What is known of an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Names the key in lists and in the history; gives nothing of it away.
    pub id: String,
    /// Whose tasks it reaches.
    pub tenant: Tenant,
    /// What its creator calls it; of the usable keys of a tenant, one has this name.
    pub name: String,
    /// What it allows.
    pub rights: Rights,
    /// When it was created.
    pub created: Time,
    /// When it stops working; none if it never does.
    pub expires: Option<Time>,
    /// When it was revoked.
    pub revoked: Option<Time>,
}

impl ApiKey {
    /// The digest by which a key is stored and found.
    pub fn digest(key: &str) -> String {
        digest(key)
    }

    /// Whether it works at this time.
    pub fn is_usable(&self, now: Time) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}
