//! The demo agent: a small agent program inside this binary, reached by a hidden verb.
//!
//! It plans and works in the current directory like a real agent, speaks the JSONL dialect that the `demo` adapter reads, resumes
//! conversations by id, and misbehaves on request (`DEMO_FAULT`). It never touches Longhaul's store and knows nothing of it.

mod arguments;
mod dialect;
mod faults;
mod files;
mod fix;
mod git;
mod ledger;
mod memory;
mod misbehave;
mod plan;
mod prompt;
mod session;
mod settings;
mod task_list;
mod todo_app;
mod work;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the demo agent with the arguments after its verb: 0 done, 1 failed, 2 refused its command line, settings or prompt.
pub(crate) fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    ExitCode::from(session::run_as_program(args))
}
