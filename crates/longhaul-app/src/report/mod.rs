//! The report of a task: everything that is stored about it, gathered once, as JSON or Markdown.
//! Called by `operations/report.rs`. It is made from events and files alone; what an agent claims is quoted, never believed.

mod checks;
mod facts;
mod history;
pub mod markdown;
mod notices;
mod page;
mod sessions;

pub use checks::Checks;
pub(crate) use checks::checks;
pub use facts::{LimitRow, TaskReport};
pub(crate) use facts::{gather, limits};
pub use history::RefusedPlan;
pub(crate) use history::refused_plans;
pub(crate) use notices::notices;
pub use notices::{NoticeRow, undelivered};
pub use page::page;
pub use sessions::{SavedWork, SessionRow};
pub(crate) use sessions::{rows, session_error, session_outcome};
