//! The table of operations: everything a front end can ask for, one file each. Servers make their tools and routes from it.
//! A new operation is one file here and one line in the table.

mod cancel;
mod edit;
mod list;
mod pause;
mod resume;
mod retry;
mod submit;
mod tell;
#[cfg(test)]
mod tests;

pub use cancel::{Cancel, CancelInput};
pub use edit::{Edit, EditInput};
pub use list::{List, ListInput, Listing};
pub use pause::{Pause, PauseInput};
pub use resume::{Resume, ResumeInput};
pub use retry::{Retry, RetryInput};
pub use submit::{Submit, SubmitInput};
pub use tell::{Tell, TellInput};

use crate::operation::{Entry, entry};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[
    entry::<Cancel>(),
    entry::<Edit>(),
    entry::<List>(),
    entry::<Pause>(),
    entry::<Resume>(),
    entry::<Retry>(),
    entry::<Submit>(),
    entry::<Tell>(),
];
