//! Claims tasks and carries out what is due. Run by `longhaul worker` and `run-session`; front ends use `longhaul-app`.
//!
//! All it knows of a task it learnt from the store and from the keeper's files; it writes state only through `decide` and commit.
#![deny(clippy::wildcard_enum_match_arm)]

mod claim;
mod dispatcher;
mod effects;
mod environments;
mod exit_watch;
mod file_watcher;
mod holds;
mod notify;
mod or_never;
mod reception;
mod runner_worker;
mod turns;
mod watch;
mod work_place;
mod worker;

pub use notify::send_test;
pub use runner_worker::{RunnerError, RunnerProcess, TakenUp};
pub use worker::{Context, Options, Watcher, WorkerError, run};
