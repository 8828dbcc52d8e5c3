//! What front ends show, one file per view. The command line prints these as text or JSON; servers send the same JSON.
//! A view is made from stored data and never read back.

mod task;

pub use task::{Progress, TaskView, WaitView};
