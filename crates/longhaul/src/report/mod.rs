//! The report of a task: everything that is stored about it, gathered once and told as Markdown or JSON.
//! Called by `commands/report.rs`. It is made from events and files alone; what an agent said of itself is quoted, never believed.

mod checks;
mod facts;
mod history;
pub(crate) mod markdown;
mod notices;
mod page;
mod sessions;

pub(crate) use checks::{Checks, checks};
pub(crate) use facts::{LimitRow, gather, limits};
pub(crate) use history::refused_plans;
pub(crate) use notices::{notices, undelivered};
pub(crate) use page::page;
