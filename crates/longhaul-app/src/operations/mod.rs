//! The table of operations: everything a front end can ask for, one file each. Servers make their tools and routes from it.
//! A new operation is one file here and one line in the table.

mod list;
mod logs;
mod tell;
mod wait;

pub use list::{List, ListInput, Listing};
pub use logs::{Logs, LogsInput, Turns};
pub use tell::{Tell, TellInput};
pub use wait::{Wait, WaitInput};

use crate::operation::{Entry, entry};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[entry::<List>(), entry::<Logs>(), entry::<Tell>(), entry::<Wait>()];
