//! What front ends show, one file per view. The command line prints these as text or JSON; servers send the same JSON.
//! A view is made from stored data and never read back.

mod event;
mod finding;
mod follow_up;
mod outcome;
mod page;
mod plan;
mod run;
mod show;
mod status;
mod sweep;
mod task;
mod turn;

pub use event::{ActorView, EventFacts, EventView};
pub use finding::{Finding, Verdict};
pub use follow_up::FollowUpView;
pub(crate) use follow_up::person;
pub use outcome::Outcome;
pub(crate) use page::Page;
pub use page::PageInput;
pub use plan::{PlanAnswer, PlanView, StepView};
pub use run::{AnswerView, FailedView, ReferenceView, RunView};
pub use show::{Attempts, Choices, ConversationView, OwnerView, ShowView, WorkspaceView};
pub use status::{StatusKind, StatusView};
pub use sweep::{KeptTask, LeftAlone, Orphan, RemovedTask, Sweep};
pub use task::{FollowedUp, Progress, TaskView, WaitView};
pub(crate) use task::{TaskPage, usd, words_of};
pub use turn::{TurnRole, TurnView};
