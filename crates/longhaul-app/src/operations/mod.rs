//! The table of operations: everything a front end can ask for, one file each. Servers make their tools and routes from it.
//! A new operation is one file here and one line in the table.

mod accept_plan;
mod cancel;
mod edit;
mod events;
mod list;
mod logs;
mod pause;
mod plan;
mod resume;
mod retry;
mod show;
mod submit;
mod tell;
#[cfg(test)]
mod tests;
mod verify_history;
mod wait;
mod why;

pub use accept_plan::{AcceptPlan, AcceptPlanInput, AcceptedPlan, MOST_BYTES as LONGEST_PLAN};
pub use cancel::{Cancel, CancelInput};
pub use edit::{Edit, EditInput};
pub use events::{EventPage, Events, EventsInput};
pub use list::{List, ListInput, Listing};
pub use logs::{Logs, LogsInput, Turns};
pub use pause::{Pause, PauseInput};
pub use plan::Plan;
pub use resume::{Resume, ResumeInput};
pub use retry::{Retry, RetryInput};
pub use show::{Show, TaskInput};
pub use submit::{Submit, SubmitInput};
pub use tell::{Tell, TellInput};
pub use verify_history::{ChainView, VerifyHistory};
pub use wait::{Wait, WaitInput};
pub use why::{Why, WhyView};

use schemars::Schema;

use crate::error::AppError;
use crate::operation::{Entry, View, entry, schema_of};
use crate::views::{EventView, StatusView, TurnView};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[
    entry::<AcceptPlan>(),
    entry::<Cancel>(),
    entry::<Edit>(),
    entry::<Events>(),
    entry::<List>(),
    entry::<Logs>(),
    entry::<Pause>(),
    entry::<Plan>(),
    entry::<Resume>(),
    entry::<Retry>(),
    entry::<Show>(),
    entry::<Submit>(),
    entry::<Tell>(),
    entry::<VerifyHistory>(),
    entry::<Wait>(),
    entry::<Why>(),
];

/// Kinds of documents that only streams and errors have, with their schemas.
pub const STREAMED: &[(&str, fn() -> Schema)] = &[
    ("error", schema_of::<AppError>),
    (EventView::KIND, schema_of::<EventView>),
    (StatusView::KIND, schema_of::<StatusView>),
    (TurnView::KIND, schema_of::<TurnView>),
];
