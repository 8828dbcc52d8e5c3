//! The report of a task: everything that is stored about it, gathered once, as JSON or Markdown.
//! Called by `operations/report.rs`. It is made from events and files alone; what an agent claims is quoted, never believed.

mod checks;
mod facts;
mod history;
pub mod markdown;
mod notices;
mod page;
mod sessions;

pub use checks::{Checks, checks};
pub use facts::{LimitRow, TaskReport, gather, limits};
pub use history::{RefusedPlan, refused_plans};
pub use notices::{NoticeRow, notices, undelivered};
pub use page::page;
pub use sessions::{SavedWork, SessionRow, rows};
