//! The demo agent: a small agent program inside the binary, reached by a hidden verb.
//!
//! It plans and works in the current directory like a real agent, prints the JSONL format that the `demo` adapter reads, and resumes
//! conversations by id. It never touches Longhaul's store. It is a library because tests need an agent that misbehaves:
//! `tests/demo_agent_with_faults` is built around this one and is never installed.

mod arguments;
mod dialect;
mod files;
mod git;
mod memory;
mod plan;
mod prompt;
mod session;
mod settings;
mod task_list;
mod todo_app;
mod work;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

pub use arguments::Arguments;
pub use prompt::{Prompt, Role};
pub use session::{Outcome, Request, Session};
pub use settings::Settings;

/// Runs the demo agent with the arguments after its verb: 0 done, 1 failed, 2 refused its command line, settings or prompt.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let request = match Request::read(args) {
        Ok(request) => request,
        Err(refusal) => return complain(2, &*refusal),
    };
    match Session::begin(request, &mut io::stdout().lock()).and_then(|session| session.map_or(Ok(1), Session::play)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => complain(1, &*error),
    }
}

/// Reports an error on standard error and gives the exit code.
pub fn complain(code: u8, error: &dyn Error) -> ExitCode {
    // Without standard error there is nowhere to report it.
    drop(writeln!(io::stderr(), "demo-agent: {error}"));
    ExitCode::from(code)
}
