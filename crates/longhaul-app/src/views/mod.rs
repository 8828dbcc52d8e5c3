//! What front ends show, one file per view. The command line prints these as text or JSON; servers send the same JSON.
//! A view is made from stored data and never read back.

mod event;
mod outcome;
mod status;
mod task;
mod turn;

pub use event::{ActorView, EventView};
pub use outcome::Outcome;
pub use status::{StatusKind, StatusView};
pub use task::{Progress, TaskView, WaitView};
pub use turn::{TurnRole, TurnView};
