//! The steps of a task: read from `task_list.md`, compared with the last accepted revision, written back.
//!
//! Called by `decide` for every look at the file and by screens for progress. The file is input and view only; nothing here
//! reads or writes one, and zero steps is never "all done".

mod change;
mod merge;
mod parse;
mod render;
mod steps;

#[cfg(test)]
mod tests;

pub use change::{PlanChange, PlanDifference};
pub use merge::{Merge, Refused, merge};
pub use parse::{BadPlan, Reason, parse};
pub use render::render;
pub use steps::{Plan, Step};
