//! The table of operations: everything a front end can ask for, one file each. Servers make their tools and routes from it.
//! A new operation is one file here and one line in the table.

mod list;
mod tell;

pub use list::{List, ListInput, Listing};
pub use tell::{Tell, TellInput};

use schemars::Schema;

use crate::operation::{Entry, entry};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[entry::<List>(), entry::<Tell>()];

/// Kinds of documents that only streams and errors have, with their schemas.
pub const STREAMED: &[(&str, fn() -> Schema)] = &[];
