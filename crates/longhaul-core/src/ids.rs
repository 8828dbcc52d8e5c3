//! Identifiers as separate types, so that a session can never be passed as a task.
//!
//! All are UUID v7: sortable by time and native in both databases. Minting takes the time and the random bytes from the
//! caller, because this crate has neither. Only an imported task has a UUID v8, which follows from its id elsewhere.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::time::Time;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id: expected a UUID")]
pub struct BadId {
    text: String,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Mints a new id from the caller's clock and random bytes.
            pub fn mint(now: Time, random: [u8; 10]) -> Self {
                Self(uuid::Builder::from_unix_timestamp_millis(now.millis(), &random).into_uuid())
            }

            /// When it was minted, to the millisecond; none of an id that this crate did not mint.
            pub fn minted(self) -> Option<Time> {
                let (seconds, nanos) = self.0.get_timestamp()?.to_unix();
                let seconds = i64::try_from(seconds).ok()?;
                Some(Time(seconds.checked_mul(1_000_000)?.checked_add(i64::from(nanos / 1_000))?))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let id = Uuid::try_parse(text).map_err(|_| BadId { text: text.to_owned() })?;
                // One spelling only: an upper-case alias of an id must not name a second directory.
                if id.hyphenated().to_string() == text { Ok(Self(id)) } else { Err(BadId { text: text.to_owned() }) }
            }
        }
    };
}

id! {
    /// A task: a goal and everything known of it.
    TaskId
}
impl TaskId {
    /// The id of a tenant's task that another system knows under its own id: always the same, so that either names the task.
    pub fn of_alias(tenant: &str, alias: &str) -> TaskId {
        let digest = Sha256::digest(format!("{tenant}\0{alias}"));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        TaskId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

id! {
    /// One run of a program for a task, under one keeper. Spawned once, ever.
    SessionId
}
id! {
    /// One worker process; never reused, so that its lock file belongs to one process only.
    WorkerId
}
id! {
    /// One claim of a task by a worker; random, so that it cannot repeat even if an epoch number did.
    LeaseId
}
