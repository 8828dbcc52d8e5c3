//! One task: its states, what may arrive, what happened, and what is due.
//!
//! The hub in longhaul-worker and every front end go through [`decide`], [`Task::apply`] and [`due`], and through nothing else.
//! `decide` never changes anything, `apply` never decides, and neither does any I/O.

mod actor;
mod apply;
mod decide;
mod due;
mod event;
mod history;
mod input;
mod narrate;
mod policy;
mod refusal;
mod session;
mod state;
mod submission;

#[cfg(test)]
mod tests;

pub use actor::{Actor, Scope};
pub use apply::{Accepted, IllegalEvent, Restore, Tally, Task};
pub use decide::{decide, submit};
pub use due::{Effect, due};
pub use event::Event;
pub use history::{SessionRecord, sessions};
pub use input::{Command, Haste, Input, ListSight, Observation, PlanSight, Said};
pub use narrate::narrate;
pub use policy::Policy;
pub use refusal::Refusal;
pub use session::{Ended, Exit, Failure, Gap, Offset, Outcome, Purpose, ReadTo, SessionRun, StoppedBy, Usage};
pub use state::{BackTo, Cause, HelpReason, Phase, State, Then, Verdict, Wait};
pub use submission::{Driver, Submission};
