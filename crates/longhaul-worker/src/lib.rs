//! Claims tasks and carries out what is due. Run by `longhaul worker`; the front ends use [`change`] and the hand-over types.
//!
//! All it knows of a task it learnt from the store and from the keeper's files; it writes state only through `decide` and commit.

mod bell;
mod change;
mod claim;
mod clock;
mod dispatcher;
mod effects;
pub mod git;
mod handover;
mod home;
mod prompt;
mod task_dir;
mod watch;
mod worker;

pub use change::{ChangeError, Changed, change};
pub use clock::{mint_session, mint_task, now, random};
pub use handover::{Answer, Handover, RefusalKind, Request, redact_intake};
pub use home::{Home, HomeError};
pub use task_dir::{STATE_DIR, TaskDir};
pub use worker::{Context, Options, WorkerError, run};
