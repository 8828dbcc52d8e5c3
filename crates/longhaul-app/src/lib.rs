//! Operations and views: everything a front end can ask for, in one place for the command line and for servers.
//!
//! Front ends pass in who calls and how processes are started; answers come back as values. Nothing here prints, exits, or starts a
//! process, and every change of a task goes through `decide` and a commit.

mod agent_launch;
mod agent_readiness;
mod agent_status;
mod allowed_paths;
pub mod api_keys;
mod app;
mod caller;
mod change;
mod changed_files;
pub mod checkouts;
mod child;
mod choices;
mod clock;
pub mod completion;
pub mod config;
mod copied_files;
mod damage;
pub mod describe;
pub mod directory_wait;
mod error;
pub mod feed;
mod floors;
pub mod follow;
mod follow_up;
mod git_failure;
mod handover;
mod hold;
mod home;
mod hosted;
mod intake;
pub mod locations;
pub mod lookup;
pub mod meter;
pub mod operation;
pub mod operations;
pub mod ownership;
mod processes;
mod project;
mod prompt;
pub mod prompt_files;
pub mod report;
mod request_key;
pub mod send_command;
mod session;
mod slot_wait;
mod stop;
pub mod submit;
mod system_programs;
pub mod tag;
pub mod takeover;
mod task_dir;
pub mod text;
mod trust;
mod unknown_fields;
mod until;
pub mod usual_span;
pub mod views;

pub use agent_launch::{as_seen, passed, spec_of, writable};
pub use agent_status::agent_variables;
pub use app::{App, Call};
pub use caller::{Caller, Visibility, task_of};
pub use change::{ChangeError, Terms, change, commit_input};
pub use choices::{Choice, Choices, Missing};
pub use clock::{Clock, mint_lease, mint_session, mint_task, mint_worker, now, since_boot, time_of};
pub use copied_files::copy as copy_ignored_files;
pub use error::{AppError, ErrorKind, ErrorView};
pub use floors::{check as check_floors, free_disk, free_memory};
pub use follow_up::ended as ended_follow_up;
pub use git_failure::unfit;
pub use handover::{
    Answer, Declined, Greeting, Handover, Offer, RefusalKind, Request, Taken, is_attended, offer, sockets,
};
pub use hold::{
    Free, Hold, HoldError, Interface, NoInterface, ReleaseError, in_conversation, interface_of, listed_holds, marker,
    release, release_if_gone,
};
pub use home::{Home, HomeError, WORKER_LOGS};
pub use hosted::Hosted;
pub use intake::{blocking, mode_warnings, needs_env, redact_intake};
pub use longhaul_store::Tenant;
pub use processes::{Asked, BootService, NewWorker, Processes, Reply, System};
pub use project::Project;
pub use prompt::{BadTemplate, TEMPLATES, check_template, pointer, prompt};
pub use session::history::sessions_of;
pub use session::turns::cut;
pub use system_programs::{desktop_program, sleep_inhibitor};
pub use task_dir::{ShellLock, TaskDir, task_dir_of};
pub use trust::fingerprint;
pub(crate) use until::until;
