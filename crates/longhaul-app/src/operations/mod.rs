//! The table of operations: everything a front end can ask for, one file each. Servers make their tools and routes from it.
//! A new operation is one file here and one line in the table.

mod accept_plan;
mod events;
mod list;
mod plan;
mod show;
mod tell;
mod verify_history;
mod why;

pub use accept_plan::{AcceptPlan, AcceptPlanInput, AcceptedPlan, MOST_BYTES as LONGEST_PLAN};
pub use events::{EventPage, Events, EventsInput};
pub use list::{List, ListInput, Listing};
pub use plan::Plan;
pub use show::{Show, TaskInput};
pub use tell::{Tell, TellInput};
pub use verify_history::{ChainView, VerifyHistory};
pub use why::{Why, WhyView};

use schemars::Schema;

use crate::operation::{Entry, entry};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[
    entry::<AcceptPlan>(),
    entry::<Events>(),
    entry::<List>(),
    entry::<Plan>(),
    entry::<Show>(),
    entry::<Tell>(),
    entry::<VerifyHistory>(),
    entry::<Why>(),
];

/// Kinds of documents that only streams and errors have, with their schemas.
pub const STREAMED: &[(&str, fn() -> Schema)] = &[];
