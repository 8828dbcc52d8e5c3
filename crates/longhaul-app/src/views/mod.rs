//! What front ends show, one file per view. The command line prints these as text or JSON; servers send the same JSON.
//! A view is made from stored data and never read back.

mod event;
mod plan;
mod show;
mod task;

pub use event::{ActorView, EventView};
pub use plan::{PlanAnswer, PlanView, StepView};
pub use show::{Attempts, Choices, ConversationView, OwnerView, ShowView, WorkspaceView};
pub(crate) use task::usd;
pub use task::{Progress, TaskPage, TaskView, WaitView};
