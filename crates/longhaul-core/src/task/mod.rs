//! One task: its states, what may arrive, what happened, and what is due.
//!
//! The hub in longhaul-worker and every front end go through [`decide`], [`Task::apply`] and [`due`], and through nothing else.
//! `decide` never changes anything, `apply` never decides, and neither does any I/O.

mod account;
mod actor;
mod apply;
mod choices;
mod conversation;
mod count;
mod decide;
mod due;
mod event;
mod evidence;
mod family;
mod history;
mod hours;
mod input;
mod limits;
mod narrate;
mod notice;
mod notify;
mod policy;
mod quota;
mod reasons;
mod refusal;
mod runner;
mod session;
mod settings;
mod state;
mod submission;
mod verdict;
mod whole;
mod workspace;

#[cfg(test)]
mod tests;

pub use account::{AccountChange, AccountLimit, account_changes};
pub use actor::{Actor, Scope};
pub use apply::IllegalEvent;
pub use choices::{ChecksIn, Context, OnLimit, Sandbox};
pub use conversation::{Conversation, Opening};
pub use decide::{decide, submit};
pub use due::{Alarm, Effect, due};
pub use event::Event;
pub use evidence::{Basis, CheckRole, Checkout, Evidence, FileEffects, FileSight, OutputSight, Round, RoundOutcome};
pub use family::Family;
pub use history::{SessionRecord, sessions};
pub use hours::{BadHours, Hours};
pub use input::{Command, Haste, Input, ListSight, Observation, PlanSight, ReleasedBy, Said};
pub use limits::{Amount, Limit};
pub use narrate::narrate;
pub use notice::{notice, tells_why};
pub use notify::{Notify, Occasion, Target};
pub use policy::Policy;
pub use quota::{AgentLimit, Unavailable};
pub use reasons::{Cause, HelpReason, Reached, Wait, WokenBy};
pub use refusal::Refusal;
pub use runner::{Resume, RunnerRun};
pub use session::{
    Delivered, Ended, Exit, Failure, Gap, Offset, Outcome, Purpose, ReadTo, SessionRun, StoppedBy, Usage,
};
pub use settings::Setting;
pub use state::{BackTo, Phase, State, Then};
pub use submission::{Criterion, Driver, InputFile, Submission};
pub use verdict::{CheckChange, CheckEdit, Doubt, NameList, Remarks, ResultKind, Verdict};
pub use whole::{Accepted, Restore, Tally, Task};
pub use workspace::{GitPlace, Place, Saved, Workspace};
