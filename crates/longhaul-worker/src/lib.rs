//! Claims tasks and carries out what is due. Run by `longhaul worker`; the front ends use [`change`] and the hand-over types.
//!
//! All it knows of a task it learnt from the store and from the keeper's files; it writes state only through `decide` and commit.

mod change;
pub mod checkouts;
mod child;
mod claim;
mod clock;
mod dispatcher;
mod effects;
mod environments;
mod exit_watch;
mod file_watcher;
mod floors;
mod handover;
mod hold;
mod home;
mod intake;
mod notify;
mod prompt;
mod runner_worker;
mod task_dir;
mod turns;
mod watch;
mod work_place;
mod worker;

pub use change::{ChangeError, Changed, change};
pub use clock::{mint_session, mint_task, now};
pub use effects::sleep_inhibitor;
pub use floors::{free_disk, free_memory};
pub use handover::{Answer, Handover, RefusalKind, Request, is_attended, offer, sockets};
pub use hold::{
    Hold, HoldError, Interface, NoInterface, ReleaseError, in_conversation, interface_of, release, release_if_gone,
};
pub use home::{Home, HomeError};
pub use intake::{mode_warnings, needs_env, redact_intake};
pub use notify::desktop_program;
pub use prompt::{BadTemplate, TEMPLATES, check_template};
pub use runner_worker::{RunnerError, RunnerProcess, TakenUp};
pub use task_dir::{ShellLock, TaskDir};
pub use worker::{Context, Options, Watcher, WorkerError, run};
