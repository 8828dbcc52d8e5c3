//! One task: its states, what may arrive, what happened, and what is due.
//!
//! The hub in longhaul-worker and every front end go through [`decide`], [`Task::apply`] and [`due`], and through nothing else.
//! `decide` never changes anything, `apply` never decides, and neither does any I/O.

mod account;
mod actor;
mod agent_limits;
mod apply;
mod budget;
mod choices;
mod commit_message;
mod conversation;
mod decide;
mod due;
mod event;
mod evidence;
mod family;
mod fold;
mod follow_up;
mod history;
mod hours;
mod input;
mod narrate;
mod notice;
mod notify;
mod patience;
mod permit;
mod reasons;
mod record;
mod refusal;
mod rights;
mod run_status;
mod runner;
mod session;
mod settings;
mod state;
mod submission;
mod tracked;
mod verdict;
mod workspace;

#[cfg(test)]
mod tests;

pub use account::{AccountChange, AccountLimit, account_changes};
pub use actor::{Actor, Channel, Scope};
pub use agent_limits::{AgentLimit, Unavailable, Until};
pub use apply::IllegalEvent;
pub use budget::{Amount, Limit};
pub use choices::{ChecksIn, Context, OnLimit, Sandbox};
pub use commit_message::{Trailer, commit_message};
pub use conversation::{Conversation, Opening};
pub use decide::{decide, submit};
pub use due::{Alarm, Effect, due};
pub use event::{Event, Role};
pub use evidence::{Basis, CheckOutput, CheckRole, Checkout, Evidence, FileEffects, FileHash, Round, RoundOutcome};
pub use family::Family;
pub use follow_up::{
    Author, Destination, FollowUp, FollowUpAction, FollowUpResult, LandOrder, Landing, Merge, Merging, PullRequest,
    Signing, short,
};
pub use history::{SessionRecord, sessions};
pub use hours::{BadHours, Hours};
pub use input::{Command, Input, Observation, PlanFiles, ReleasedBy, Said, StopMode, TaskListFile};
pub use narrate::narrate;
pub use notice::{notice, tells_why};
pub use notify::{Notify, Occasion, Target};
pub use patience::Patience;
pub use permit::{Action, Need, permit, permit_with};
pub use reasons::{Cause, HelpReason, Reached, Wait};
pub use record::{Accepted, Restore, Tally, Task};
pub use refusal::Refusal;
pub use rights::{Right, Rights, UnknownRight};
pub use run_status::RunStatus;
pub use runner::{Resume, RunnerOptions};
pub use session::{
    Delivered, Ended, Exit, Failure, Gap, Offset, Outcome, Purpose, ReadTo, SessionRun, StopSignal, StopStep,
    StoppedBy, Usage,
};
pub use settings::Setting;
pub use state::{Phase, Stage, State, Then, WokenBy, state_phrase};
pub use submission::{Conduct, Criterion, Driver, InputFile, Submission};
pub use tracked::{
    Checkpoint, FailedItem, HelpAnswer, HelpRequest, Links, MOST_REFERENCES, Reference, ReferenceKind, Report, RunCall,
    Tracked,
};
pub use verdict::{CheckChange, CheckEdit, Doubt, NameList, Remarks, ResultKind, Verdict};
pub use workspace::{GitPlace, Place, Saved, Workspace};
