//! What front ends show, one file per view. The command line prints these as text or JSON; servers send the same JSON.
//! A view is made from stored data and never read back.

mod finding;
mod sweep;
mod task;

pub use finding::{Finding, Verdict};
pub use sweep::{KeptTask, LeftAlone, Orphan, RemovedTask, Sweep};
pub(crate) use task::usd;
pub use task::{Progress, TaskView, WaitView};
